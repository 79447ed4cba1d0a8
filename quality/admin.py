"""Admin pages for workers' quality: test questions, verdicts, bans."""

from quality.appeals.admin import AppealAdmin
from quality.bans.admin import BanAdmin, HeldExclusionAdmin
from quality.detection.admin.retired import RetiredQuestionAdmin
from quality.detection.admin.verdict import DetectorFitAdmin, VerdictAdmin
from quality.detection.admin.workers import GradeAdmin

__all__ = [
    "AppealAdmin",
    "BanAdmin",
    "DetectorFitAdmin",
    "GradeAdmin",
    "HeldExclusionAdmin",
    "RetiredQuestionAdmin",
    "VerdictAdmin",
]
