"""All models of the app in one place, as Django expects."""

from quality.appeals.models import Appeal
from quality.bans.models import Ban, HeldExclusion
from quality.detection.models import DetectorFit, Standing, Verdict
from quality.test_questions.models import (
    DrawnTests,
    Grade,
    RetiredQuestion,
    TestCheck,
    TestQuestion,
)

__all__ = [
    "Appeal",
    "Ban",
    "DetectorFit",
    "DrawnTests",
    "Grade",
    "HeldExclusion",
    "RetiredQuestion",
    "Standing",
    "TestCheck",
    "TestQuestion",
    "Verdict",
]
