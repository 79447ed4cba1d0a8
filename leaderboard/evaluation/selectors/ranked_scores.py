"""Scores that are ranked, and the settled one that later crowds rate again: the anchor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.db.models import Count, Exists, F, FloatField, Q, QuerySet
from django.db.models.functions import Cast

from crowd.hits.models import Assignment, Campaign
from crowd.workers.models.qualification_test import QualificationTest
from leaderboard.evaluation.models.human_evaluation import (
    AnchorItem,
    HumanEvaluation,
    Score,
    Subject,
)
from leaderboard.evaluation.selectors.system_ratings import FIRST_SLOT
from leaderboard.submissions.models import CONTRASTIVE, Prediction, Submission
from leaderboard.submissions.selectors import in_state, is_published, one_each, public
from leaderboard.tasks.models import Task
from quality.bans.selectors import all_ratings_of

if TYPE_CHECKING:
    import pandas as pd


# Whether a score is made from enough of the planned instances.
#
# Staff can stop an evaluation early. Its score is shown with its progress and ranked only
# if staff decide so (`HumanEvaluation.ranks_partial`). A score that lost ratings of
# excluded workers stays ranked and is provisional until they are collected again.
State = Campaign.State
_VERB = {State.STOPPED: "stopped at", State.COMPLETE: "ended at"}


@dataclass(frozen=True)
class Partial:
    """A score from too few instances: `n` of the planned `of`."""

    n: int
    of: int
    # the campaign's: the reason for its end, or still asking
    state: str

    def __str__(self) -> str:
        count = f"{self.n:,} of {self.of:,}"
        verb = _VERB.get(State(self.state))
        return f"{verb} {count}" if verb else f"{count} so far"


def whole_share() -> float:
    """Return the share of its instances that a score needs to be ranked."""
    return float(settings.GENIE["WHOLE_SHARE"])


def is_whole(n: int, of: int) -> bool:
    return n >= whole_share() * of


def is_ranked(
    n: int, of: int, *, ranks_partial: bool, provisional: bool, entry: str
) -> bool:
    enough = ranks_partial or provisional or is_whole(n, of)
    return enough and entry != CONTRASTIVE


def ranked() -> Q:
    """Select the scores that are ranked, of systems that are not contrastive.

    They are made from enough instances, staff decided it, or they are provisional: a
    score from too few instances is provisional only if it lost ratings.
    """
    enough = whole() | Q(evaluation__ranks_partial=True) | Q(provisional=True)
    return enough & ~Q(submission__entry=CONTRASTIVE)


def whole() -> Q:
    # the cast keeps the product a fraction: databases would compare integers otherwise
    return Q(n__gte=Cast(F("evaluation__n_instances"), FloatField()) * whole_share())


def partial_of(n: int, of: int, state: str) -> Partial | None:
    return None if is_whole(n, of) else Partial(n, of, state)


def partial_of_score(score: Score) -> Partial | None:
    """Return a partial score's description; prefetch `evaluation__campaigns` for many."""
    evaluation = score.evaluation
    if is_whole(score.n, evaluation.n_instances):
        return None
    campaign = evaluation.about(score.submission_id).campaign
    return Partial(score.n, evaluation.n_instances, campaign.state)


# Anchors: which settled system can be one, and its ratings in another campaign.


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
        known[key] = _find_anchor(task, simulated, None)
    anchor = known[key]
    if anchor is not None and anchor.submission.pk == without:
        return _find_anchor(task, simulated, without)
    return anchor


@contextmanager
def remember_anchors() -> Iterator[None]:
    """Cache each task's anchor within the block, for lists with many costs."""
    token = _REMEMBERED.set({})
    try:
        yield
    finally:
        _REMEMBERED.reset(token)


def _find_anchor(task: Task, simulated: bool, without: int | None) -> Anchor | None:
    human = task.human
    n = human.n_anchor_items(task.sample_size)
    if not n or not human.criteria:
        return None
    settled = Score.objects.filter(
        public("submission__"),
        ranked(),
        is_published("submission__"),
        submission__task=task,
        submission__simulated=simulated,
        superseded_at=None,
        provisional=False,
        criterion=next(iter(human.criteria)),
        # not `of_systems`: as a subquery, SQLite looks up each pair with a submission
        evaluation__kind=HumanEvaluation.Kind.RATINGS,
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
            instance__in=first.evaluation.subjects.values("instance"),
        )
        .select_related("instance")
        .order_by("instance__sample_rank")
    )
    n = min(n, outputs.count())
    return Anchor(first.submission, outputs, n) if n else None


def anchor_ratings(evaluation: HumanEvaluation) -> pd.DataFrame:
    """Return the anchors' counting ratings in stable order; instances are positions."""
    import pandas as pd

    rows = AnchorItem.objects.filter(evaluation=evaluation).order_by("pk")
    shown = pd.DataFrame.from_records(
        list(rows.values_list("item_id", "instance__position", "slot", "submission")),
        columns=["item", "instance", "own_slot", "submission"],
    )
    ratings = all_ratings_of([c.pk for c in evaluation.campaigns_in_order])
    ratings = ratings[ratings["why_not"] == ""].merge(shown, on="item", how="inner")
    ratings = ratings[
        (ratings["slot"] == "") | (ratings["slot"] == ratings["own_slot"])
    ]
    # a preference for the first output is one against the second
    second = (ratings["slot"] == "") & ~ratings["own_slot"].isin(["", FIRST_SLOT])
    value = ratings["value"].where(~second, 1 - ratings["value"])
    columns = ["criterion", "instance", "worker", "value", "submission", "item", "on"]
    return ratings.assign(value=value)[columns].sort_values(
        columns[:3], kind="stable", ignore_index=True
    )


COUNTED = (Assignment.State.SUBMITTED, Assignment.State.APPROVED)


def n_judged(submissions: Iterable[int] | QuerySet[Submission]) -> dict[int, int]:
    """Count instances with a counting rating, without test questions; one query."""
    return dict(judged_counts(submissions))


def judged_counts(
    submissions: Iterable[int] | QuerySet[Submission],
) -> QuerySet[Subject, tuple[int, int]]:
    rows = _rated_subjects(submissions).order_by()
    counted = rows.values_list("item__campaign__asked__submission")
    return counted.annotate(n=Count("instance_id", distinct=True))


def any_judged(submissions: Iterable[int] | QuerySet[Submission]) -> bool:
    return _rated_subjects(submissions).exists()


def _rated_subjects(
    submissions: Iterable[int] | QuerySet[Submission],
) -> QuerySet[Subject]:
    return Subject.objects.filter(
        item__campaign__asked__submission__in=submissions,
        item__ratings__assignment__state__in=COUNTED,
        # a replaced answer has been asked for again: counting both would exceed the
        # sample
        item__ratings__assignment__replaced_at=None,
    )


def to_approve() -> QuerySet[Submission]:
    """Return a submission of each request to rate outputs one at a time."""
    waiting = one_each(Submission.objects.filter(in_state(Submission.State.MEASURED)))
    tasks = Task.objects.filter(pk__in=waiting.order_by().values("task"))
    return waiting.exclude(task__in=[task.pk for task in tasks if task.side_by_side])


# Whether the random sample of a task's instances may be disclosed.
OVER = (Campaign.State.COMPLETE, Campaign.State.STOPPED)
ABOUT_TO_ASK = (Submission.State.APPROVED, Submission.State.ANNOTATING)


def sample_is_public(task: Task) -> bool:
    """Check that no worker is asked about the task, now or shortly.

    Test questions are made from the instances outside of the sample, in the order of
    the draw. With the seed, readers could recompute that order and recognize them in
    campaigns and in qualification tests.
    """
    open_campaigns = Campaign.objects.filter(pool=task.slug).exclude(state__in=OVER)
    tests = QualificationTest.objects.filter(pool=task.slug).exclude(
        state=QualificationTest.State.RETIRED
    )
    soon = Submission.objects.filter(in_state(*ABOUT_TO_ASK), task=task)
    asked = Exists(open_campaigns) | Exists(tests) | Exists(soon)
    return not Task.objects.filter(asked, pk=task.pk).exists()
