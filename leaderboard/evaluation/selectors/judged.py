"""Licensed judges' forecasts of people's ratings, while their licenses are valid."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from django.db.models import Exists, OuterRef, QuerySet

from leaderboard.evaluation.ranking import RULES
from leaderboard.evaluation.selectors.board_ratings import board_scores, current_fit
from leaderboard.judges.models import JudgedEstimate, JudgeLicence
from leaderboard.stats.judges.together import Forecast
from leaderboard.tasks.models import Task

Rows = list[JudgedEstimate]
#: The rule of boards that only show judges' help beside people's ratings.
BY_PEOPLE = "Ranks are by people’s ratings alone; judges do not change them."
BY_JUDGES = (
    "Ranks are of people’s mean ratings with the help of licensed judges, which are "
    "programs, because the task says so."
)
NO_LICENCE = (
    "The task asks for ranks with judges’ help, but no licence stands, or none that can "
    "rank all of these systems: ranks are by people’s ratings alone."
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
    rule = RULES[task.human.ranks]
    return f"{rule} {who_ranks(task)}" if task.configuration.judges.rank else rule


def _ranking(task: Task) -> str:
    return next(iter(task.human.criteria), "overall")


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
