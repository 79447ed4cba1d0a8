"""Anchors: which settled system can be one, and its ratings in another campaign."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import QuerySet

from leaderboard.evaluation.models.anchor import AnchorItem
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.evaluation.selectors.coverage import ranked
from leaderboard.evaluation.selectors.system_ratings import FIRST_SLOT
from leaderboard.submissions.models import Prediction, Submission
from leaderboard.submissions.selectors import public
from leaderboard.tasks.models import Task
from quality.bans.selectors import clean_ratings_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Anchor:
    """A settled system and its rated outputs in the order of the sample."""

    submission: Submission
    # deferred: a price needs none of the texts
    outputs: QuerySet[Prediction]
    # outputs per campaign
    n: int


# the cache while a list is made; None: no caching
_REMEMBERED: ContextVar[dict[tuple[int, bool], Anchor | None] | None] = ContextVar(
    "remembered anchors", default=None
)


def anchor_for(evaluation: HumanEvaluation) -> Anchor | None:
    return anchor_of(
        evaluation.task,
        simulated=evaluation.simulated,
        without=evaluation.submission.pk,
    )


def anchor_of(
    task: Task, *, simulated: bool = False, without: int | None = None
) -> Anchor | None:
    """Return the board's first settled public system with today's settings.

    Always the first one, so that all later crowds are linked to the same ratings.
    """
    known, key = _REMEMBERED.get(), (task.pk, simulated)
    known = {} if known is None else known
    if key not in known:
        known[key] = _found(task, simulated, None)
    anchor = known[key]
    if anchor is not None and anchor.submission.pk == without:
        return _found(task, simulated, without)
    return anchor


@contextmanager
def remembered() -> Iterator[None]:
    """Cache each task's anchor within the block, for lists with many costs."""
    token = _REMEMBERED.set({})
    try:
        yield
    finally:
        _REMEMBERED.reset(token)


def _found(task: Task, simulated: bool, without: int | None) -> Anchor | None:
    human = task.human
    n = human.n_anchor_items(task.sample_size)
    if not n or not human.criteria:
        return None
    settled = Score.objects.filter(
        public("submission__"),
        ranked(),
        submission__task=task,
        submission__state=Submission.State.PUBLISHED,
        submission__simulated=simulated,
        superseded_at=None,
        provisional=False,
        criterion=next(iter(human.criteria)),
        evaluation__strategy=HumanEvaluation.Strategy.SINGLE,
        evaluation__final_at__isnull=False,
        evaluation__design=human.design,
        evaluation__campaigns__campaign__hit_type__scale=human.scale,
    ).exclude(submission=without)
    rows = settled.select_related("submission", "evaluation")
    first = rows.order_by("submission__published_at", "submission_id").first()
    if first is None:
        return None
    outputs = (
        Prediction.objects.filter(
            submission=first.submission_id,
            instance__sample_rank__lt=task.sample_size,
            instance__in=first.evaluation.judged_items.values("instance"),
        )
        .select_related("instance")
        .order_by("instance__sample_rank")
    )
    n = min(n, outputs.count())
    return Anchor(first.submission, outputs, n) if n else None


def anchor_ratings(evaluation: HumanEvaluation) -> pd.DataFrame:
    """Return columns criterion, instance (its position), worker, value in stable order."""
    import pandas as pd

    rows = AnchorItem.objects.filter(evaluation=evaluation).order_by("pk")
    shown = pd.DataFrame.from_records(
        list(rows.values_list("item_id", "instance__position", "slot")),
        columns=["item", "instance", "own_slot"],
    )
    ratings = clean_ratings_of([c.pk for c in evaluation.campaigns_in_order])
    ratings = ratings.merge(shown, on="item", how="inner")
    ratings = ratings[
        (ratings["slot"] == "") | (ratings["slot"] == ratings["own_slot"])
    ]
    # a preference for the first output is one against the second
    second = (ratings["slot"] == "") & ~ratings["own_slot"].isin(["", FIRST_SLOT])
    value = ratings["value"].where(~second, 1 - ratings["value"])
    columns = ["criterion", "instance", "worker", "value"]
    return ratings.assign(value=value)[columns].sort_values(
        columns[:3], kind="stable", ignore_index=True
    )
