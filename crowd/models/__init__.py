from __future__ import annotations

from crowd.models.assignment import Answer, Assignment
from crowd.models.campaign import HIT, Campaign, HITType, Input, Item
from crowd.models.external import (
    ExternalCampaign,
    ExternalSession,
    OutwardCall,
    SessionWork,
)
from crowd.models.message import Message
from crowd.models.money import Budget, Commitment, LedgerEntry
from crowd.models.panel import PanelSource, PlatformNotice
from crowd.models.qualification_attempt import (
    AttemptAnswer,
    QualificationGrant,
    TestAttempt,
)
from crowd.models.qualification_requirement import Requirement
from crowd.models.qualification_test import QualificationQuestion, QualificationTest
from crowd.models.requester import (
    AccessKey,
    Requester,
    RequesterAssignment,
    RequesterBonus,
    RequesterEntry,
    RequesterEvent,
    RequesterHIT,
    RequesterHITType,
    RequestToken,
    WorkerAlias,
    new_entity_id,
)
from crowd.models.requester_people import RequesterBatch, WorkerRecord
from crowd.models.requester_qualification import (
    Qualification,
    QualificationRequest,
    QualificationType,
)
from crowd.models.reservation import Reservation
from crowd.models.worker import Consent, Exclusion, Invitation, Worker

__all__ = [
    "HIT",
    "AccessKey",
    "Answer",
    "Assignment",
    "AttemptAnswer",
    "Budget",
    "Campaign",
    "Commitment",
    "Consent",
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
    "PlatformNotice",
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
    "Requirement",
    "Reservation",
    "SessionWork",
    "TestAttempt",
    "Worker",
    "WorkerAlias",
    "WorkerRecord",
    "new_entity_id",
]
