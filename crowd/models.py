"""All models of the app in one place, as Django wants them; product code imports from the wings."""

from crowd.elsewhere.models.external import (
    ExternalCampaign,
    ExternalSession,
    OutwardCall,
    SessionWork,
)
from crowd.elsewhere.models.panel import PanelSource, PlatformNotice
from crowd.hit_templates.models import BroughtTemplate
from crowd.hits.models.assignment import Answer, Assignment, Signals
from crowd.hits.models.campaign import (
    HIT,
    Campaign,
    DrawnOrder,
    HITType,
    Input,
    Item,
    Reservation,
    RewardChange,
    WorkRecord,
)
from crowd.messages.models import Message
from crowd.money.models import (
    Budget,
    Commitment,
    ExchangeRate,
    LedgerEntry,
    PaymentDetails,
    Payout,
    PayoutRun,
    PayoutTerms,
)
from crowd.requester.models.account import (
    AccessKey,
    Requester,
    RequesterAssignment,
    RequesterBonus,
    RequesterEntry,
    RequesterHIT,
    RequesterHITType,
    WorkerAlias,
    new_entity_id,
)
from crowd.requester.models.qualification import (
    Qualification,
    QualificationRequest,
    QualificationType,
)
from crowd.requester.models.records import (
    PolicyDetail,
    RequesterBatch,
    RequesterEvent,
    RequesterLayout,
    RequestToken,
    WorkerRecord,
)
from crowd.workers.models.qualification_attempt import (
    AttemptAnswer,
    QualificationGrant,
    TestAttempt,
)
from crowd.workers.models.qualification_test import (
    QualificationQuestion,
    QualificationTest,
)
from crowd.workers.models.requirement import Requirement
from crowd.workers.models.worker import (
    Consent,
    ConsentVersion,
    Exclusion,
    Invitation,
    Pause,
    Profile,
    Worker,
)

__all__ = [
    "HIT",
    "AccessKey",
    "Answer",
    "Assignment",
    "AttemptAnswer",
    "BroughtTemplate",
    "Budget",
    "Campaign",
    "Commitment",
    "Consent",
    "ConsentVersion",
    "DrawnOrder",
    "ExchangeRate",
    "Exclusion",
    "ExternalCampaign",
    "ExternalSession",
    "HITType",
    "Input",
    "Invitation",
    "Item",
    "LedgerEntry",
    "Message",
    "OutwardCall",
    "PanelSource",
    "Pause",
    "PaymentDetails",
    "Payout",
    "PayoutRun",
    "PayoutTerms",
    "PlatformNotice",
    "PolicyDetail",
    "Profile",
    "Qualification",
    "QualificationGrant",
    "QualificationQuestion",
    "QualificationRequest",
    "QualificationTest",
    "QualificationType",
    "RequestToken",
    "Requester",
    "RequesterAssignment",
    "RequesterBatch",
    "RequesterBonus",
    "RequesterEntry",
    "RequesterEvent",
    "RequesterHIT",
    "RequesterHITType",
    "RequesterLayout",
    "Requirement",
    "Reservation",
    "RewardChange",
    "SessionWork",
    "Signals",
    "TestAttempt",
    "WorkRecord",
    "Worker",
    "WorkerAlias",
    "WorkerRecord",
    "new_entity_id",
]
