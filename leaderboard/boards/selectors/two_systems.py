"""Comparison of two systems of a board: the difference, and outputs that show it."""

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.boards.selectors.output_sorting import ratings_of
from leaderboard.boards.selectors.pairs import Pair, matrix
from leaderboard.boards.selectors.rows import Row
from leaderboard.boards.selectors.standings import standings
from leaderboard.evaluation.selectors.board_ratings import current_fit
from leaderboard.evaluation.selectors.campaigns import evaluation_of
from leaderboard.evaluation.stored_fit import from_json
from leaderboard.stats.systems.estimates import Difference
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import (
    Output,
    output,
    outputs_are_open,
    predictions_at,
    texts_at,
)
from leaderboard.tasks.models import Task

# Number of outputs shown.
N_OUTPUTS = 5


@dataclass(frozen=True)
class Two:
    """Two scored systems, the better-looking one first.

    `pair` is None if the board's comparisons do not include both; `difference` is of
    this pair by itself.
    """

    a: Row
    b: Row
    pair: Pair | None
    difference: Difference | None


@dataclass(frozen=True)
class Apart:
    output: Output
    other: str
    rating: float
    other_rating: float


def read_two(typed: Sequence[str]) -> tuple[int, int] | None:
    """Read which two systems were selected; None for a different number."""
    # longer than any key, which a database would refuse
    keys = {int(text) for text in typed if text.isdecimal() and len(text) < 19}
    if len(keys) != 2 or len(typed) != len(keys):
        return None
    first, second = sorted(keys)
    return first, second


def two_of(task: Task, pks: tuple[int, int], *, cents_per_rating: float) -> Two | None:
    """Compare two public systems; None if one of them has no score."""
    board = standings(task)
    rows = [row for pk in pks if (row := board.row_of(pk)) and row.human]
    if len(rows) < 2:
        return None
    a, b = sorted(rows, key=lambda row: (-row.human.mean if row.human else 0, row.pk))
    found = matrix(task, [a.pk, b.pk], cents_per_rating=cents_per_rating)
    pair = found.pairs[0] if found else None
    return Two(a, b, pair, _difference(task, a.pk, b.pk))


def _difference(task: Task, a: int, b: int) -> Difference | None:
    fit = current_fit(task)
    stored = fit.criteria.get(main_criterion(task)) if fit else None
    shown = stored and from_json(stored)
    if not shown or not {str(a), str(b)} <= set(shown.systems):
        return None
    return shown.difference(str(a), str(b))


def apart_most(two: Two) -> list[Apart] | None:
    """Return the outputs whose ratings differ most; None if their texts are not available."""
    submissions = Submission.objects.select_related("task", "human_evaluation__task")
    of = {row.pk: row for row in submissions.filter(pk__in=(two.a.pk, two.b.pk))}
    a, b = of[two.a.pk], of[two.b.pk]
    evaluations = evaluation_of(a), evaluation_of(b)
    if not (outputs_are_open(a) and outputs_are_open(b)) or None in evaluations:
        return None
    ours, theirs = (ratings_of(one) for one in evaluations if one)
    both = {p for p in ours if p in theirs and ours[p] != theirs[p]}
    shared = both & _positions(a) & _positions(b)
    positions = sorted(shared, key=lambda p: (-abs(ours[p] - theirs[p]), p))[:N_OUTPUTS]
    if both and not positions:
        return None
    texts = texts_at(b, positions)
    return [
        Apart(output(a, one), texts[p], ours[p], theirs[p])
        for one, p in zip(predictions_at(a, positions), positions, strict=True)
    ]


def _positions(submission: Submission) -> set[int]:
    return set(submission.predictions.values_list("instance__position", flat=True))
