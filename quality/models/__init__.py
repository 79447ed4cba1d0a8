from __future__ import annotations

from quality.models.appeal import Appeal
from quality.models.held import HeldExclusion
from quality.models.judgement import Ban, DetectorFit, Verdict
from quality.models.test_question import Grade, Placement

__all__ = [
    "Appeal",
    "Ban",
    "DetectorFit",
    "Grade",
    "HeldExclusion",
    "Placement",
    "Verdict",
]
