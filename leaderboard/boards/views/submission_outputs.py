"""The outputs of a submission: searched, sorted, and beside another system's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.utils.safestring import SafeString

from leaderboard.boards.charts.word_difference import difference
from leaderboard.boards.selectors.evidence import MetricLine
from leaderboard.boards.selectors.output_sorting import (
    Arranged,
    arranged,
    choices,
    read_wish,
)
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.metric_runs.selectors.labels import metric_words
from leaderboard.submissions.models.submission import Submission
from leaderboard.submissions.selectors.outputs import (
    Output,
    output,
    outputs_page,
    predictions_at,
    rivals,
    texts_at,
)


@dataclass(frozen=True)
class Shown:
    """One output with its numbers, and the other system's text where one was chosen."""

    output: Output
    rating: float | None
    value: float | None
    other: str | None = None
    ours_marked: SafeString | None = None
    other_marked: SafeString | None = None


def outputs_context(
    request: HttpRequest,
    submission: Submission,
    evaluation: HumanEvaluation | None,
    metrics: Sequence[MetricLine],
) -> dict[str, Any]:
    """Give what the page shows of the outputs; ratings only with an evaluation."""
    orders = choices(metrics, judged=evaluation is not None)
    parameters = request.GET
    wish = read_wish(
        parameters.get("q", ""),
        parameters.get("by", ""),
        parameters.get("dir", ""),
        [key for key, _ in orders],
    )
    arrangement = arranged(submission, evaluation, wish)
    page = outputs_page(arrangement.positions, parameters.get("page"))
    others = rivals(submission, request.user)
    against = _against(others, parameters.get("against", ""))
    query = wish.query() | ({"against": str(against.pk)} if against else {})
    return {
        "page": page,
        "outputs": _shown(submission, list(page), arrangement, against),
        "wish": wish,
        "orders": orders,
        "others": others,
        "against": against,
        "metric": metric_words(arrangement.metric).label if arrangement.metric else "",
        "outputs_query": f"{urlencode(query)}&" if query else "",
    }


def _against(others: list[tuple[int, str]], typed: str) -> Submission | None:
    """Find the other system among those that may be read; numbers are no way in."""
    # compared as text: whatever an address holds, it names a listed system or nothing
    if typed not in {str(pk) for pk, _ in others}:
        return None
    return Submission.objects.filter(pk=int(typed)).first()


def _shown(
    submission: Submission,
    positions: list[int],
    arrangement: Arranged,
    against: Submission | None,
) -> list[Shown]:
    texts = texts_at(against, positions) if against else {}
    shown = []
    for prediction in predictions_at(submission, positions):
        ours = output(submission, prediction)
        other = texts.get(ours.position) if against else None
        shown.append(
            Shown(
                output=ours,
                rating=arrangement.ratings.get(ours.position),
                value=arrangement.values.get(ours.position),
                other=other,
                ours_marked=None if other is None else difference(ours.text, other),
                other_marked=None if other is None else difference(other, ours.text),
            )
        )
    return shown
