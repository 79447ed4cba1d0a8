"""The scores that count on a board, their ratings and their units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.db.models import Q, QuerySet

from leaderboard.designs.unit import Unit
from leaderboard.evaluation.models.board_fit import BoardFit
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.evaluation.selectors.ratings_beside import ratings_beside
from leaderboard.evaluation.selectors.system_ratings import (
    dated_ratings_of,
    nobodies_apart,
    unit_for,
)
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import public
from leaderboard.tasks.models import Task
from quality.bans.selectors import weight_of

if TYPE_CHECKING:
    import pandas as pd


def board_scores(task: Task, of: Submission | None = None) -> QuerySet[Score]:
    """Select current scores of the public board and of the system `of`."""
    shown = _shown()
    if of is not None:
        shown |= Q(submission=of)
    current = Score.objects.filter(submission__task=task, superseded_at=None)
    # a system without a score on the ranking criterion is not on the board
    ranking = _ranking(task)
    on_board = current.filter(criterion=ranking).order_by().values("submission")
    return current.filter(shown, submission__in=on_board).order_by("pk")


def scores_of_boards(*columns: str) -> dict[Task, list[tuple[Any, ...]]]:
    """Return columns of public boards' scores by submission and criterion.

    Two queries for all tasks.
    """
    rows: dict[int, list[tuple[Any, ...]]] = {}
    current = Score.objects.filter(_shown(), superseded_at=None)
    for task, *row in current.order_by("submission_id", "criterion").values_list(
        "submission__task_id", "criterion", "submission_id", *columns
    ):
        rows.setdefault(task, []).append(tuple(row))
    boards = {}
    for task in Task.objects.filter(pk__in=rows).order_by("pk"):
        ranking, own = _ranking(task), rows[task.pk]
        on_board = {
            submission for criterion, submission, *_ in own if criterion == ranking
        }
        boards[task] = [tuple(row[2:]) for row in own if row[1] in on_board]
    return {task: rows for task, rows in boards.items() if rows}


def _shown() -> Q:
    return public("submission__") & Q(submission__published_at__isnull=False)


def _ranking(task: Task) -> str:
    return next(iter(task.human.criteria), "overall")


def current_fit(task: Task, of: Submission | None = None) -> BoardFit | None:
    return BoardFit.objects.filter(task=task, of=of, superseded_at=None).first()


def evaluations_of(scores: Iterable[Score]) -> list[HumanEvaluation]:
    return list({score.evaluation_id: score.evaluation for score in scores}.values())


def board_ratings(evaluations: Sequence[HumanEvaluation]) -> pd.DataFrame:
    """Return the counting ratings with days, and with the ratings that designs derive."""
    import pandas as pd

    ratings = dated_ratings_of([evaluation.pk for evaluation in evaluations])
    ratings = nobodies_apart(ratings, evaluations)
    parts = [ratings]
    for evaluation in evaluations:
        own = ratings[ratings["evaluation"] == evaluation.pk]
        beside = ratings_beside(evaluation, own)
        if len(beside):
            parts.append(beside)
    return pd.concat(parts, ignore_index=True)


def weighed(ratings: pd.DataFrame, weights: Mapping[str, float]) -> pd.DataFrame:
    """Add a `weight` column if some worker's weight is not 1."""
    if not weights:
        return ratings
    items = ratings["item"].tolist() if "item" in ratings else [None] * len(ratings)
    pairs = zip(ratings["worker"].tolist(), items, strict=True)
    own = [weight_of(weights, worker, item) for worker, item in pairs]
    return ratings.assign(weight=own)


def units_of(scores: Sequence[Score]) -> dict[tuple[int, str], Unit]:
    campaign_of = {
        (evaluation.pk, criterion): campaign
        for evaluation in evaluations_of(scores)
        for campaign in evaluation.campaigns_in_order
        for criterion in (
            *campaign.hit_type.criteria,
            *campaign.hit_type.form.get("checkboxes", ()),
        )
    }
    units = {}
    for score in scores:
        evaluation = score.evaluation
        campaign = campaign_of.get((evaluation.pk, score.criterion))
        units[score.submission_id, score.criterion] = unit_for(
            evaluation.design, campaign or evaluation.campaign, score.criterion
        )
    return units
