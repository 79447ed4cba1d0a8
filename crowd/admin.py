from crowd.campaigns.admin.campaign import CampaignAdmin, HITTypeAdmin
from crowd.campaigns.admin.work import AssignmentAdmin, HITAdmin
from crowd.elsewhere.admin import (
    ExternalCampaignAdmin,
    ExternalSessionAdmin,
    OutwardCallAdmin,
    PanelSourceAdmin,
)
from crowd.messages.admin import MessageAdmin
from crowd.money.admin.money import (
    BudgetAdmin,
    CommitmentAdmin,
    ExchangeRateAdmin,
    LedgerEntryAdmin,
)
from crowd.money.admin.payouts import PayoutAdmin, PayoutRunAdmin, PayoutTermsAdmin
from crowd.requester.admin.accounts import AccessKeyAdmin, RequesterAdmin
from crowd.requester.admin.batches import RequesterBatchAdmin
from crowd.requester.admin.work import (
    RequesterAssignmentAdmin,
    RequesterBonusAdmin,
    RequesterEventAdmin,
    WorkerRecordAdmin,
)
from crowd.workers.admin.invitation import InvitationAdmin
from crowd.workers.admin.people import RequirementAdmin, WorkerAdmin
from crowd.workers.admin.qualification_grants import (
    QualificationGrantAdmin,
    TestAttemptAdmin,
)
from crowd.workers.admin.qualification_tests import QualificationTestAdmin

__all__ = [
    "AccessKeyAdmin",
    "AssignmentAdmin",
    "BudgetAdmin",
    "CampaignAdmin",
    "CommitmentAdmin",
    "ExchangeRateAdmin",
    "ExternalCampaignAdmin",
    "ExternalSessionAdmin",
    "HITAdmin",
    "HITTypeAdmin",
    "InvitationAdmin",
    "LedgerEntryAdmin",
    "MessageAdmin",
    "OutwardCallAdmin",
    "PanelSourceAdmin",
    "PayoutAdmin",
    "PayoutRunAdmin",
    "PayoutTermsAdmin",
    "QualificationGrantAdmin",
    "QualificationTestAdmin",
    "RequesterAdmin",
    "RequesterAssignmentAdmin",
    "RequesterBatchAdmin",
    "RequesterBonusAdmin",
    "RequesterEventAdmin",
    "RequirementAdmin",
    "TestAttemptAdmin",
    "WorkerAdmin",
    "WorkerRecordAdmin",
]
