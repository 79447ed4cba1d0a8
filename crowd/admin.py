from crowd.campaigns.admin.campaign import (
    AssignmentAdmin,
    CampaignAdmin,
    HITAdmin,
    HITTypeAdmin,
)
from crowd.elsewhere.admin import (
    ExternalCampaignAdmin,
    ExternalSessionAdmin,
    OutwardCallAdmin,
    PanelSourceAdmin,
)
from crowd.messages.admin import MessageAdmin
from crowd.money.admin import (
    BudgetAdmin,
    CommitmentAdmin,
    ExchangeRateAdmin,
    LedgerEntryAdmin,
    PayoutAdmin,
    PayoutRunAdmin,
    PayoutTermsAdmin,
)
from crowd.requester.admin import (
    AccessKeyAdmin,
    RequesterAdmin,
    RequesterAssignmentAdmin,
    RequesterBatchAdmin,
    RequesterBonusAdmin,
    RequesterEventAdmin,
    WorkerRecordAdmin,
)
from crowd.workers.admin.people import InvitationAdmin, RequirementAdmin, WorkerAdmin
from crowd.workers.admin.qualification_tests import (
    QualificationGrantAdmin,
    QualificationTestAdmin,
    TestAttemptAdmin,
)

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
