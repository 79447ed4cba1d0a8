"""The ratings of a release, in batches of systems, each checked against its scores."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from crowd.hits.models import Rating
from genie.lib.errors import GenieError
from leaderboard.designs.base import all_designs
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.evaluation.selectors.board_ratings import current_fit
from leaderboard.evaluation.selectors.ranked_scores import anchor_ratings
from leaderboard.evaluation.selectors.system_ratings import (
    OF_ONE,
    all_system_ratings_of,
    campaigns_of,
    digest,
    launched_evaluations,
    own_rows,
    ratings_beside,
)
from leaderboard.evaluation.services import refit
from leaderboard.releases.bundle import Record, in_batches
from leaderboard.releases.pseudonyms import Pseudonyms
from leaderboard.releases.published_numbers import EXCLUDED
from leaderboard.submissions.models import Submission
from leaderboard.tasks.models import Task
from quality.bans.selectors import weight_of

if TYPE_CHECKING:
    import pandas as pd

JUDGMENTS = (
    "submission",
    "criterion",
    "instance",
    "worker",
    "value",
    "counts",
    "why_not",
    "slot",
    "answered",
    "on",
    "weight",
    # marked errors, if any: on the row of the first criterion asked
    "marks",
)
ANCHORS = (
    # the system that the campaign is about
    "campaign",
    *("submission", "criterion", "instance", "worker", "value", "on", "weight"),
)
_OF_MARKS = ("spans", "removed", "prefilled_by")
# Outputs in memory at a time, more only if one system has more.
OUTPUTS_AT_ONCE = 2_000
_FROM_RATINGS = (
    *("submission", "criterion", "instance", "worker", "item"),
    *("value", "why_not", "slot", "answered", "on"),
)


def judgments(task: Task, pks: Sequence[int], names: Pseudonyms) -> Iterator[Record]:
    """Yield every rating with its pseudonym; their order does not identify workers.

    Raises GenieError ``scored-again`` if ratings are not those of the published score.
    """
    ids = task_ids(task)
    weights = getattr(current_fit(task), "weights", {})
    criteria = set(task.human.criteria)
    design = all_designs().get(task.human.design)
    marks_errors = design is not None and design.marks_errors
    for some in in_batches(pks, max(1, OUTPUTS_AT_ONCE // max(1, task.sample_size))):
        ratings = _ratings(some)
        _check_current(criteria, some, ratings)
        records = _records(some, ratings, ids, names, weights)
        yield from _with_marks(records, _marks(some) if marks_errors else None)


def anchors(task: Task, pks: Sequence[int], names: Pseudonyms) -> Iterator[Record]:
    """Yield the ratings of anchors that count on the board."""
    ids, weights = task_ids(task), getattr(current_fit(task), "weights", {})
    linked = Submission.objects.filter(human_evaluation__anchor_items__isnull=False)
    for campaign, evaluation in evaluations_of(
        linked.filter(pk__in=pks).values_list("pk", flat=True)
    ).items():
        found = anchor_ratings(evaluation)
        records = [
            {
                "campaign": campaign,
                "submission": row["submission"],
                "criterion": row["criterion"],
                "instance": ids[row["instance"]],
                "worker": names.pseudonym_of(row["worker"]),
                "value": row["value"],
                "on": row["on"],
                "weight": weight_of(weights, row["worker"], row["item"]),
            }
            for row in found[found["submission"].isin(pks)].to_dict("records")
        ]
        order = itemgetter("submission", "criterion", "instance", "worker")
        yield from sorted(records, key=order)


def _with_marks(
    records: Iterator[tuple[tuple[int, int, str], Record]],
    marks: Mapping[tuple[int, int, str], Record] | None,
) -> Iterator[Record]:
    for key, record in records:
        yield record if marks is None else {**record, "marks": marks.get(key)}


def _marks(pks: Sequence[int]) -> dict[tuple[int, int, str], Record]:
    campaigns = [
        campaign
        for evaluation in evaluations_of(pks).values()
        for campaign in campaigns_of(evaluation)
    ]
    rows = Rating.objects.filter(
        item__campaign__in=campaigns, detail__has_key="spans"
    ).values_list("item_id", "assignment__worker_id", "criterion", "detail")
    return {
        (item, worker, criterion): {
            name: said for name, said in (detail or {}).items() if name in _OF_MARKS
        }
        for item, worker, criterion, detail in rows
    }


def evaluations_of(pks: Collection[int]) -> dict[int, HumanEvaluation]:
    return {
        evaluation.submission.pk: evaluation for evaluation in launched_evaluations(pks)
    }


def task_ids(task: Task) -> dict[int, str]:
    rows = task.instances.values_list("position", "instance_id")
    return dict(rows.order_by("position"))


def _ratings(pks: Sequence[int]) -> pd.DataFrame:
    import pandas as pd

    evaluations = list(evaluations_of(pks).values())
    ratings = own_rows(
        all_system_ratings_of({evaluation.pk for evaluation in evaluations}),
        evaluations,
    )
    marks = [
        ratings_beside(evaluation, ratings[ratings["submission"] == evaluation.system])
        for evaluation in evaluations
    ]
    marks = [marked for marked in marks if len(marked)]
    return pd.concat([ratings, *marks], ignore_index=True)


def _records(
    pks: Sequence[int],
    ratings: pd.DataFrame,
    ids: Mapping[int, str],
    names: Pseudonyms,
    weights: Mapping[str, float],
) -> Iterator[tuple[tuple[int, int, str], Record]]:
    index_of = {pk: i for i, pk in enumerate(pks)}
    keyed = []
    # by columns: a dict for each row would take most of the time
    for row in zip(*(ratings[name].tolist() for name in _FROM_RATINGS), strict=True):
        submission, criterion, instance, person, item, value, why_not, slot, *rest = row
        answered, on = rest
        worker = names.pseudonym_of(int(person))
        record = {
            "submission": int(submission),
            "criterion": criterion,
            "instance": ids[int(instance)],
            "worker": worker,
            "value": float(value),
            "counts": not why_not,
            "why_not": why_not,
            "slot": slot,
            "answered": float(answered),
            "on": on,
            "weight": weight_of(weights, person, item) * (not why_not),
        }
        # instances by their positions in the task
        order = (index_of[submission], criterion, instance, worker, slot)
        keyed.append((order, (int(item), int(person), criterion), record))
    keyed.sort(key=itemgetter(0))
    for _, key, record in keyed:
        yield key, record


def check_settled(task: Task) -> None:
    if task.pk in refit.due() or refit.holds(task):
        raise scored_again()


def _check_current(
    criteria: set[str], pks: Sequence[int], ratings: pd.DataFrame
) -> None:
    """Refuse scores that are about to be computed again: no release has their ratings."""
    by = ["submission", "criterion"]
    # the digest stored with a score must be that of the published ratings
    groups = ratings[ratings["why_not"] == ""].groupby(by, sort=False)
    now = {name: digest(group, OF_ONE) for name, group in groups}
    left_out = ratings[ratings["why_not"] == EXCLUDED]
    excluded = left_out.groupby(by, sort=False)["worker"].nunique().to_dict()
    scores = list(Score.objects.filter(submission__in=pks, superseded_at=None))
    then = {
        (score.submission_id, score.criterion): score.ratings_sha256 for score in scores
    }
    if now != then or any(
        score.n_excluded_workers
        != excluded.get((score.submission_id, score.criterion), 0)
        for score in scores
        if score.criterion in criteria
    ):
        raise scored_again()


def scored_again() -> GenieError:
    return GenieError(
        "Some systems are about to be rescored, because the ratings that "
        "count have changed. Create the release in a few minutes; published "
        "scores change at most once a day, so it may take until tomorrow.",
        code="scored-again",
    )
