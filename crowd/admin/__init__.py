"""Staff's view of the crowd: campaigns, work, people, money."""

from __future__ import annotations

from crowd.admin.campaign import CampaignAdmin, HITTypeAdmin
from crowd.admin.elsewhere import (
    ExternalCampaignAdmin,
    ExternalSessionAdmin,
    OutwardCallAdmin,
)
from crowd.admin.messages import MessageAdmin
from crowd.admin.money import BudgetAdmin, CommitmentAdmin, LedgerEntryAdmin
from crowd.admin.panels import PanelSourceAdmin
from crowd.admin.people import InvitationAdmin, WorkerAdmin
from crowd.admin.qualification_grants import (
    QualificationGrantAdmin,
    TestAttemptAdmin,
)
from crowd.admin.qualification_tests import QualificationTestAdmin
from crowd.admin.requester_batches import RequesterBatchAdmin
from crowd.admin.requester_work import (
    RequesterAssignmentAdmin,
    RequesterBonusAdmin,
    RequesterEventAdmin,
)
from crowd.admin.requesters import AccessKeyAdmin, RequesterAdmin
from crowd.admin.requirements import RequirementAdmin
from crowd.admin.work import AssignmentAdmin, HITAdmin
from crowd.admin.worker_records import WorkerRecordAdmin

__all__ = [
    "AccessKeyAdmin",
    "AssignmentAdmin",
    "BudgetAdmin",
    "CampaignAdmin",
    "CommitmentAdmin",
    "ExternalCampaignAdmin",
    "ExternalSessionAdmin",
    "HITAdmin",
    "HITTypeAdmin",
    "InvitationAdmin",
    "LedgerEntryAdmin",
    "MessageAdmin",
    "OutwardCallAdmin",
    "PanelSourceAdmin",
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
