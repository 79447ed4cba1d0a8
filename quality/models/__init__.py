from __future__ import annotations

from quality.models.appeal import Appeal
from quality.models.judgement import Ban, DetectorFit, Verdict
from quality.models.test_question import Grade, Placement

__all__ = ["Appeal", "Ban", "DetectorFit", "Grade", "Placement", "Verdict"]
