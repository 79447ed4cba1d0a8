from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Q, QuerySet

from crowd.hits.selectors import campaign_progress, unit_cents
from genie.accounts.staff import staff_may
from genie.lib.errors import GenieError
from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.selectors.comparison_labels import (
    AnswerShare,
    answers_read,
    days_of,
    decide,
    known_labels,
    labels_from,
    n_workers_at_first,
    rule_of,
    share_of,
    votes_are_final,
    votes_shown,
)
from leaderboard.evaluation.selectors.joint import (
    agreed_to,
    criterion_results,
    joint_seen_by,
)
from leaderboard.evaluation.selectors.system_ratings import campaigns_of
from leaderboard.stats.stopping.outlook import Course, course_of, labels_needed
from leaderboard.stats.stopping.sequential import Decision
from leaderboard.stats.systems.estimates import Population
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import (
    ON_BOARD,
    Staff,
    in_state,
    inside,
    public,
    team_ids,
)
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    from leaderboard.evaluation.selectors.joint import Viewer

State = Comparison.State
# A comparison reads all of its votes: a board shows the pairs of four systems.
ON_BOARD_AT_MOST = 6
ENDED = frozenset({State.DECIDED, State.UNDECIDED, State.STOPPED})


@dataclass(frozen=True)
class Standing:
    """The state of a comparison.

    `now` is the result of the labels so far or, after a decision, the decision.
    `answers` is the share of answers for A with the interval for other workers; None
    before the first label. `n_asked` counts the pairs sent out. `needed` is the total
    number of labels needed if the present preference holds.
    """

    now: Decision
    answers: AnswerShare | None
    course: Course
    n_labels: int
    n_asked: int
    n_votes: int
    needed: int | None
    approved_cents: int
    spent_cents: int
    still_cents: int | None
    max_labels: int

    @property
    def beyond_budget(self) -> bool:
        return self.needed is not None and self.needed > self.max_labels

    @property
    def unspent_cents(self) -> int:
        """Approved but unspent cents; 0 before an approval."""
        return max(0, self.approved_cents - self.spent_cents)

    @property
    def still(self) -> int | None:
        """Labels still needed at the present rate."""
        return None if self.needed is None else max(0, self.needed - self.n_labels)


def comparisons_seen_by(
    viewer: Viewer, task: Task | None = None
) -> QuerySet[Comparison]:
    rows = Comparison.objects.select_related("task", "a", "b", "within", "result")
    if task is not None:
        rows = rows.filter(task=task)
    may_see = Q(public("a__") | inside(viewer, "a__")) & Q(
        public("b__") | inside(viewer, "b__")
    )
    agreed = agreed_to(viewer, Staff.SEE_COMPARISONS)
    return rows.filter(may_see & agreed).order_by("-pk")


def concerns(viewer: Viewer, comparison: Comparison) -> bool:
    """Check whether costs may be shown: to staff, the author and the teams."""
    if viewer is None or not viewer.is_authenticated:
        return False
    teams = team_ids(viewer)
    return (
        staff_may(viewer, Staff.SEE_COMPARISONS, comparison.task.slug)
        or comparison.requested_by_id == viewer.pk
        or comparison.a.team_id in teams
        or comparison.b.team_id in teams
    )


def standing_of(comparison: Comparison) -> Standing:
    """Compute the standing from labels that count now or, after the end, counted then."""
    rule = rule_of(comparison)
    votes = votes_shown(comparison)
    is_over = comparison.is_over
    last = votes_are_final(comparison.state)
    label_or_none = labels_from(comparison, votes, last=last)
    known = known_labels(label_or_none, [pair.workers for pair in votes])
    labels, _ = known
    now = _decision_of(comparison) or decide(rule, *known)
    spent = unit = 0
    for campaign in campaigns_of(comparison):
        spent = campaign_progress(campaign).spent_cents
        unit = unit_cents(campaign)
    needed = None
    if not is_over and labels:
        needed = labels_needed(rule, *known)
    workers_per_pair = n_workers_at_first(comparison.strategy, comparison.n_workers)
    return Standing(
        now=now,
        answers=share_of(
            answers_read(votes, label_or_none, now.n, days_of(comparison)),
            Population(comparison.task.human.population),
        ),
        course=course_of(rule, *known),
        n_labels=len(labels),
        n_asked=len(votes),
        n_votes=sum(len(pair.values) for pair in votes),
        needed=needed,
        approved_cents=comparison.approved_cents or 0,
        spent_cents=spent,
        still_cents=None
        if needed is None
        else max(0, needed - len(labels)) * workers_per_pair * unit,
        max_labels=comparison.n_instances,
    )


def _decision_of(comparison: Comparison) -> Decision | None:
    if comparison.state not in ENDED or comparison.result is None:
        return None
    return Decision(
        comparison.result.mean,
        comparison.result.low,
        comparison.result.high,
        side="A"
        if comparison.better == "A"
        else "B"
        if comparison.better == "B"
        else "undecided",
        n=comparison.n_labels,
        anytime_valid=rule_of(comparison).anytime_valid,
    )


def verdict(comparison: Comparison, standing: Standing) -> str:
    a, b = comparison.a.system_name, comparison.b.system_name
    sure = f"{100 * (1 - comparison.delta):.4g}%"
    n = standing.n_labels
    sentences = {
        State.REQUESTED: "Waiting for staff to approve the cost.",
        State.DECLINED: "Staff declined this comparison.",
        State.WITHDRAWN: "Withdrawn before any ratings.",
        State.APPROVED: "The first pairs are about to be posted.",
        State.ANNOTATING: f"Not decided yet; {n:,} labels so far.",
        State.STOPPED: f"Staff stopped this comparison after {n:,} labels.",
        State.UNDECIDED: f"Inconclusive after {comparison.n_labels:,} labels.",
    }
    if comparison.failure_permanent and not comparison.is_over:
        return f"A step failed after {n:,} labels; staff can see why."
    if comparison.state != State.DECIDED:
        return sentences[State(comparison.state)]
    n_workers = standing.answers.n_workers if standing.answers else 0
    crowd = f"{n_workers:,} worker{'' if n_workers == 1 else 's'}"
    given = "" if rule_of(comparison).over_workers else ", if labels are independent"
    better, other = (a, b) if comparison.better == "A" else (b, a)
    return (
        f"{better} is better than {other}, decided after {comparison.n_labels:,} "
        f"labels by {crowd} with at least {sure} confidence{given}."
        if standing.now.anytime_valid
        else f"{better} was found better than {other} after {comparison.n_labels:,} "
        f"labels by {crowd}, by a rule whose actual confidence is lower than the stated "
        f"{sure}."
    )


def why_ended_early(comparison: Comparison, standing: Standing) -> str:
    if not comparison.is_over:
        return ""
    unused = standing.max_labels - standing.n_asked
    lost = standing.n_asked - standing.n_labels
    unasked = {
        State.DECIDED: "the answer was clear without them",
        State.UNDECIDED: "the remaining budget did not pay for another pair",
        State.STOPPED: "staff stopped it first",
    }
    reasons = []
    if standing.max_labels < comparison.max_pairs:
        reasons.append(
            f"Up to {comparison.max_pairs:,} pairs were approved, but only "
            f"{standing.max_labels:,} could be asked: the systems share too few "
            "instances, and test questions need some of these."
        )
    if unused > 0 and comparison.state in unasked:
        reasons.append(
            f"{unused:,} of {standing.max_labels:,} pairs were not used: "
            f"{unasked[State(comparison.state)]}."
        )
    if lost > 0:
        reasons.append(
            f"{lost:,} of {standing.n_asked:,} pairs have no label: their ratings did "
            "not arrive or were excluded."
        )
    return " ".join(reasons)


def compared(task: Task, viewer: Viewer) -> dict[str, Any]:
    rows = comparisons_seen_by(viewer, task)
    asked = task.asked.criteria
    return {
        "joint": [
            (one, criterion_results(one, dict(asked)))
            for one in joint_seen_by(viewer, task)
        ],
        "shown": [
            (one, asked.get(one.criterion, ""), found, verdict(one, found))
            for one in rows.prefetch_related("campaigns")[:ON_BOARD_AT_MOST]
            for found in [standing_of(one)]
        ],
        "n": rows.count(),
    }


def seen_and_comparable(viewer: Viewer, pks: Iterable[int]) -> QuerySet[Submission]:
    rows = Submission.objects.filter(in_state(*ON_BOARD), pk__in=list(pks))
    rows = rows.filter(public() | inside(viewer))
    return rows.select_related("task", "human_evaluation")


def refuse_who_has_none(
    viewer: Viewer, systems: Sequence[Submission], permission: Staff
) -> None:
    """Let teams ask about their own systems, and staff with `permission` about all."""
    teams = team_ids(viewer)
    has_own = any(system.team_id in teams for system in systems)
    pool = systems[0].task.slug if systems else None
    if not has_own and not staff_may(viewer, permission, pool):
        raise GenieError(
            "At least one of the systems must belong to your team.", code="not-a-member"
        )


# Forms show this many systems at once; a search by name shows others.
LISTED = 20


def comparable(task: Task, viewer: Viewer) -> QuerySet[Submission]:
    rows = Submission.objects.filter(in_state(*ON_BOARD), task=task)
    rows = rows.filter(public() | inside(viewer))
    return rows.order_by("system_name", "pk")
