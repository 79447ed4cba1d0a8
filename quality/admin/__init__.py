"""Staff's view of workers' quality: test questions, verdicts, bans."""

from __future__ import annotations

from quality.admin.appeal import AppealAdmin
from quality.admin.ban import BanAdmin
from quality.admin.fits import DetectorFitAdmin
from quality.admin.held import HeldExclusionAdmin
from quality.admin.verdict import VerdictAdmin
from quality.admin.workers import GradeAdmin

__all__ = [
    "AppealAdmin",
    "BanAdmin",
    "DetectorFitAdmin",
    "GradeAdmin",
    "HeldExclusionAdmin",
    "VerdictAdmin",
]
