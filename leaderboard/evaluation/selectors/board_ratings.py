"""The scores that count on a board, their ratings and their units."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db.models import Exists, OuterRef, Q, QuerySet

from leaderboard.designs.base import Unit
from leaderboard.evaluation.estimates import RULES
from leaderboard.evaluation.models.board_fit import (
    BoardFit,
    JudgedEstimate,
    JudgeLicence,
)
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.evaluation.selectors.system_ratings import (
    dated_ratings_of,
    nobodies_apart,
    own_rows,
    ratings_beside,
    unit_for,
)
from leaderboard.stats.judges.together import Forecast
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import public
from leaderboard.tasks.models import Task
from quality.bans.selectors import weight_of

if TYPE_CHECKING:
    import pandas as pd


def board_scores(task: Task, of: Submission | None = None) -> QuerySet[Score]:
    """Select current scores of the public board and of the system `of`."""
    shown = _is_shown()
    if of is not None:
        shown |= Q(submission=of)
    current = Score.objects.filter(submission__task=task, superseded_at=None)
    # a system without a score on the ranking criterion is not on the board
    on_board = current.filter(criterion=_ranking(task)).order_by().values("submission")
    return current.filter(shown, submission__in=on_board).order_by("pk")


def scores_of_boards(*columns: str) -> dict[Task, list[tuple[Any, ...]]]:
    """Return columns of public boards' scores by submission and criterion.

    Two queries for all tasks.
    """
    rows: dict[int, list[tuple[Any, ...]]] = {}
    current = Score.objects.filter(_is_shown(), superseded_at=None)
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


def _is_shown() -> Q:
    return public("submission__") & Q(submission__published_at__isnull=False)


def _ranking(task: Task) -> str:
    return next(iter(task.human.criteria), "overall")


def current_fit(task: Task, of: Submission | None = None) -> BoardFit | None:
    return BoardFit.objects.filter(task=task, of=of, superseded_at=None).first()


def evaluations_of(scores: Iterable[Score]) -> list[HumanEvaluation]:
    """Return the evaluation of each system, with its own campaigns only."""
    own = {score.submission_id: score.evaluation for score in scores}
    return [evaluation.about(system) for system, evaluation in own.items()]


def board_ratings(
    evaluations: Sequence[HumanEvaluation], *, also: int = 0
) -> pd.DataFrame:
    """Return the counting ratings with days, and with the ratings that designs derive."""
    import pandas as pd

    ratings = dated_ratings_of({evaluation.pk for evaluation in evaluations}, also=also)
    ratings = nobodies_apart(own_rows(ratings, evaluations), evaluations)
    parts = [ratings]
    for evaluation in evaluations:
        own = ratings[ratings["submission"] == evaluation.system]
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
        (evaluation.system, criterion): campaign
        for evaluation in evaluations_of(scores)
        for campaign in evaluation.campaigns_in_order
        for criterion in (
            *campaign.hit_type.criteria,
            *campaign.hit_type.form.get("checkboxes", ()),
        )
    }
    units = {}
    for score in scores:
        key = score.submission_id, score.criterion
        evaluation = score.evaluation
        campaign = campaign_of.get(key) or evaluation.about(key[0]).campaign
        units[key] = unit_for(evaluation.design, campaign, score.criterion)
    return units


# Licensed judges' forecasts of people's ratings, while their licenses are valid.
Rows = list[JudgedEstimate]
#: The rule of boards that only show judges' help beside people's ratings.
BY_PEOPLE = "Ranks use people’s ratings alone; judges do not change them."
BY_JUDGES = (
    "As the task requires, ranks use people’s mean ratings with the help of licensed "
    "judges, which are programs."
)
NO_LICENCE = (
    "The task asks for ranks with judges’ help, but no licensed judge can rank all of "
    "these systems. Ranks use people’s ratings alone."
)


def standing_licences(task: Task) -> QuerySet[JudgeLicence]:
    """Select valid licenses: the newest row of each judge and criterion counts."""
    rows = JudgeLicence.objects.filter(run__task=task)
    newer = rows.filter(
        run__judge=OuterRef("run__judge"),
        criterion=OuterRef("criterion"),
        pk__gt=OuterRef("pk"),
    )
    standing = rows.filter(~Exists(newer), state=JudgeLicence.State.LICENSED)
    return standing.select_related("run__judge").order_by("pk")


def ranking_rows(task: Task, submissions: Collection[int] | None = None) -> Rows:
    """Return the estimates that help to rank a board; none unless the task allows it."""
    if not task.configuration.judges.rank:
        return []
    rows = JudgedEstimate.objects.filter(submission__task=task).exclude(foretold={})
    if submissions is not None:
        rows = rows.filter(submission__in=submissions)
    stored = list(rows.order_by("submission", "criterion"))
    if not stored:
        return []
    standing = set(standing_licences(task).values_list("criterion", "run__judge"))
    return [
        row
        for row in stored
        if all((row.criterion, judge) in standing for judge in row.judges)
    ]


def is_judged(task: Task) -> bool:
    if not task.configuration.judges.rank:
        return False
    fit = current_fit(task)
    return bool(fit and fit.criteria.get(_ranking(task), {}).get("judged"))


def has_lapsed(task: Task) -> bool:
    if not is_judged(task):
        return False
    main = _ranking(task)
    kept = JudgedEstimate.objects.filter(submission__task=task, criterion=main)
    n_standing = sum(row.criterion == main for row in ranking_rows(task))
    # if the license for one system has lapsed, all ranks are affected
    return not n_standing or n_standing < kept.exclude(foretold={}).count()


def who_ranks(task: Task) -> str:
    if not task.configuration.judges.rank:
        return BY_PEOPLE
    return BY_JUDGES if is_judged(task) and not has_lapsed(task) else NO_LICENCE


def rank_rule(task: Task) -> str:
    rule = f"{RULES[task.human.ranks]} {population_of(task)}"
    return f"{rule} {who_ranks(task)}" if task.configuration.judges.rank else rule


def population_of(task: Task) -> str:
    """Return the sentence that names the raters that a board's results are about."""
    sentence = f"Results are about {task.human.population.label}."
    if task.imported and task.human.raters is None:
        sentence += " This was assumed, because the import did not declare it."
    return sentence


def public_forecasts(task: Task) -> dict[str, dict[str, Any]] | None:
    if not is_judged(task):
        return None
    shown = board_scores(task).values_list("submission_id", flat=True)
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for row in ranking_rows(task, set(shown)):
        found[row.criterion][str(row.submission_id)] = row.foretold
    return dict(found)


def forecasts_of(rows: Rows) -> dict[str, dict[str, Forecast]]:
    found: dict[str, dict[str, Forecast]] = defaultdict(dict)
    for row in rows:
        found[row.criterion][str(row.submission_id)] = forecast(row.foretold)
    return dict(found)


def forecast(foretold: Mapping[str, Any]) -> Forecast:
    return Forecast(
        np.array(foretold["positions"], dtype=np.int64),
        np.array(foretold["values"], dtype=np.float64),
    )
