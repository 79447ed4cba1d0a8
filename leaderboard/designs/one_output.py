"""Designs whose pages show one output at a time."""

from collections.abc import Mapping, Sequence
from typing import Any

from crowd.hit_templates.form import WEIGHTS, span_score
from leaderboard.designs.base import (
    Beside,
    OneOutput,
    Shown,
    TaskView,
    Unit,
    with_standard,
)


class Binary(OneOutput):
    """One prediction at a time, good or not (Genie, section 4)."""

    slug = "binary"
    scales = ("binary",)
    label = "Yes or no"


class DirectAssessment(OneOutput):
    """One prediction at a time on five steps of agreement (Genie, figure 4 a-c)."""

    slug = "direct-assessment"
    scales = ("likert-5",)
    label = "Agreement with a statement, in five steps"


class Likert6(OneOutput):
    """One prediction at a time on six steps without a middle (RankME, section 3)."""

    slug = "likert-6"
    scales = ("likert-6",)
    label = "Six steps without a middle"


class Slider(OneOutput):
    """One prediction at a time on a line from 0 to 100 (WMT's DA, DA+SQM)."""

    slug = "slider"
    scales = ("slider-100", "sqm")
    label = "A slider from 0 to 100"


class Number(OneOutput):
    """One output at a time, on a scale of imported ratings."""

    slug = "number"
    # any range of these families, such as number_1_7
    scales = ("number", "sum", "z", "preferred")


class PlainMagnitude(OneOutput):
    """How many times as good as a reference output that is worth 100 (RankME, 3)."""

    slug = "plain-magnitude"
    scales = ("magnitude",)
    label = "How many times as good as a reference"
    hit_template = "magnitude-judgement"
    needs_reference = True

    def data(
        self, task: TaskView, shown: Shown, outputs: Sequence[str]
    ) -> dict[str, Any]:
        return with_standard(task, shown, super().data(task, shown, outputs))


# The criterion of the score of the marks; no question of a task can have this name.
SPANS = "spans"
# A sum of penalties is not truncated: the lower end, the weight of a text that is no
# translation at all, is only the last bin of the histogram.
SPANS_UNIT = Unit(-25.0, 0.0, percent=False)
_TAKEN = " and ".join(
    f"{-WEIGHTS[name]:g} for each {name}" for name in ("minor", "major")
)
_EXPLAINED = (
    f"Marked errors: {_TAKEN} one, or the task's weights. An output without errors "
    "scores 0."
)


class ErrorSpans(OneOutput):
    """Errors marked in the prediction, then a score from 0 to 100.

    References
    ----------
    Kocmi et al. (2024), Error Span Annotation: A Balanced Approach for Human Evaluation
    of Machine Translation, WMT.
    """

    slug = "error-spans"
    scales = ("slider-100", "sqm")
    label = "Errors marked in the text, then a slider from 0 to 100"
    hit_template = "error-span-translation"
    marks_errors = True
    beside = {SPANS: Beside(_EXPLAINED, SPANS_UNIT)}

    @classmethod
    def values_beside(cls, detail: Mapping[str, Any]) -> dict[str, float]:
        """Score the marks, if there are any or they were looked for."""
        return {SPANS: span_score(detail["spans"])} if "spans" in detail else {}


class MQM(OneOutput):
    """Errors marked by severity and category, from which the score is computed.

    It has no other question; the task or its HIT template has the weights of errors.

    References
    ----------
    Freitag et al. (2021), Experts, Errors, and Context: A Large-Scale Study of Human
    Evaluation for Machine Translation, TACL.
    """

    slug = "mqm"
    scales = ("mqm",)
    label = "Errors marked by severity and category"
    hit_template = "mqm-translation"
    marks_errors = True
