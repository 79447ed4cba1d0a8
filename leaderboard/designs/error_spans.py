from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from leaderboard.designs.base import Beside, OneOutput
from leaderboard.designs.unit import Unit

# What a marked error takes off, by its severity.
WEIGHTS = {"minor": 1.0, "major": 5.0}
# The criterion under which the marks themselves are scored; no question of a task can
# have this name.
SPANS = "spans"
# A sum of penalties is not cut off: the lower end, the weight of a text that is no
# translation at all, is only where the histogram stops counting one by one.
SPANS_UNIT = Unit(-25.0, 0.0, percent=False)
_TAKEN = " and ".join(f"{-w:g} for each {name}" for name, w in WEIGHTS.items())
_EXPLAINED = f"Marked errors: {_TAKEN} one; 0 is an output without errors."


class ErrorSpans(OneOutput):
    """Minor and major errors marked in the prediction, then a score from 0 to 100.

    References
    ----------
    Kocmi et al. (2024), Error Span Annotation: A Balanced Approach for Human Evaluation
    of Machine Translation, WMT.
    """

    slug = "error-spans"
    scales = ("slider-100",)
    marks_errors = True
    beside = {SPANS: Beside(_EXPLAINED, SPANS_UNIT)}

    @classmethod
    def values_beside(cls, detail: Mapping[str, Any]) -> dict[str, float]:
        """Score the marks, where there are any or were looked for."""
        return {SPANS: span_score(detail["spans"])} if "spans" in detail else {}


def span_score(spans: Iterable[Mapping[str, Any]]) -> float:
    """Score a text by its marked errors: 0 without any, lower with each.

    Parameters
    ----------
    spans : iterable of mappings
        Each with its severity, minor or major.

    Returns
    -------
    float
        Minus 1 for each minor and minus 5 for each major error, summed; at most 0.

    Examples
    --------
    >>> span_score([{"severity": "minor"}, {"severity": "major"}])
    -6.0
    >>> span_score([])
    0.0

    References
    ----------
    Freitag et al. (2021), Experts, Errors, and Context: A Large-Scale Study of Human
    Evaluation for Machine Translation, TACL: the weights of MQM's severities. Kocmi et al.
    (2024), Error Span Annotation, WMT, reads marked spans with the same weights.
    """
    return 0.0 - sum(WEIGHTS[str(span["severity"])] for span in spans)
