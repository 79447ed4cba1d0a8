"""All models of the app in one place, as Django expects."""

from quality.appeals.models import Appeal
from quality.bans.models import HeldExclusion
from quality.detection.models import (
    Ban,
    DetectorFit,
    RetiredQuestion,
    Standing,
    Verdict,
)
from quality.test_questions.models import Grade, TestQuestion

__all__ = [
    "Appeal",
    "Ban",
    "DetectorFit",
    "Grade",
    "HeldExclusion",
    "RetiredQuestion",
    "Standing",
    "TestQuestion",
    "Verdict",
]
