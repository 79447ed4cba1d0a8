"""Admin pages for workers' quality: test questions, verdicts, bans."""

from quality.appeals.admin import AppealAdmin
from quality.bans.admin import BanAdmin, HeldExclusionAdmin
from quality.detection.admin import (
    DetectorFitAdmin,
    GradeAdmin,
    RetiredQuestionAdmin,
    VerdictAdmin,
)

__all__ = [
    "AppealAdmin",
    "BanAdmin",
    "DetectorFitAdmin",
    "GradeAdmin",
    "HeldExclusionAdmin",
    "RetiredQuestionAdmin",
    "VerdictAdmin",
]
