from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crowd.hit_templates.errors import WEIGHTS, span_score
from leaderboard.designs.base import Beside, OneOutput
from leaderboard.designs.unit import Unit

# The criterion under which the marks themselves are scored; no question of a task can
# have this name.
SPANS = "spans"
# A sum of penalties is not cut off: the lower end, the weight of a text that is no
# translation at all, is only where the histogram stops counting one by one.
SPANS_UNIT = Unit(-25.0, 0.0, percent=False)
_TAKEN = " and ".join(
    f"{-WEIGHTS[name]:g} for each {name}" for name in ("minor", "major")
)
_EXPLAINED = f"Marked errors: {_TAKEN} one, or what the task says; 0 is an output without errors."


class ErrorSpans(OneOutput):
    """Errors marked in the prediction, then a score from 0 to 100.

    References
    ----------
    Kocmi et al. (2024), Error Span Annotation: A Balanced Approach for Human Evaluation
    of Machine Translation, WMT.
    """

    slug = "error-spans"
    scales = ("slider-100", "sqm")
    marks_errors = True
    beside = {SPANS: Beside(_EXPLAINED, SPANS_UNIT)}

    @classmethod
    def values_beside(cls, detail: Mapping[str, Any]) -> dict[str, float]:
        """Score the marks, where there are any or were looked for."""
        return {SPANS: span_score(detail["spans"])} if "spans" in detail else {}
