"""The price of a study of several systems, and its start after a person's approval."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from crowd.workers.services import invitations
from genie.lib import jobs
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.designs.base import all_designs
from leaderboard.evaluation import decide
from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.models.human_evaluation import (
    EvaluatedSystem,
    HumanEvaluation,
    JointEvaluation,
)
from leaderboard.evaluation.run import advance
from leaderboard.evaluation.services import comparison, joint
from leaderboard.evaluation.services.request import join
from leaderboard.studio.models import Draft
from leaderboard.studio.services import make
from leaderboard.submissions import states
from leaderboard.submissions.models import Submission
from leaderboard.tasks.config.differences import JOINT
from leaderboard.tasks.models import Task

MOST_LINKS = 200
Subject = Submission | Comparison | JointEvaluation
Strategy = Comparison.Strategy
WAITING = states.State.REQUESTED


@dataclass(frozen=True)
class Plan:
    """The requests to approve; the sums are over all that wait."""

    subjects: list[Subject]
    cents: int
    n_hits: int

    @property
    def waiting(self) -> list[Subject]:
        return [one for one in self.subjects if _evaluation(one).state == WAITING]


def plan(task: Task, submissions: Sequence[Submission]) -> Plan:
    """Return the price of an evaluation; of several systems at a time once requested."""
    subjects: list[Subject] = (
        requests_of(task, submissions) if task.side_by_side else [*submissions]
    )
    asked = dict.fromkeys(map(_evaluation, subjects))
    quotes = [decide.quote(one) for one in asked if one.state == WAITING]
    return Plan(
        subjects,
        sum(quote.total_cents for quote in quotes),
        sum(quote.n_assignments for quote in quotes),
    )


def approve(
    planned: Plan, *, by: Account, at_most_cents: int, despite: str = ""
) -> int:
    """Approve all that waits, to be sent out now; return the number approved.

    Raises ``too-expensive`` if it costs more than the limit, before any approval; and
    the errors of `decide.approve`.
    """
    waiting = planned.waiting
    n = len(waiting)
    if singles := [one for one in waiting if isinstance(one, Submission)]:
        join(singles)
        waiting = [*singles[:1]]
        singles[0].refresh_from_db()
    asked = [_evaluation(one) for one in waiting]
    decide.measure_together(*asked)
    decide.prepare(*asked)
    # All of them or none: half an evaluation compares nothing.
    with transaction.atomic():
        _approve(asked, by=by, at_most_cents=at_most_cents, despite=despite)
    return n


def join_study(pk: int) -> None:
    """Make one request of a study's systems, once the last of them is measured."""
    for draft in Draft.objects.filter(task__submissions=pk).order_by("pk"):
        systems = make.systems_of(draft)
        measured = all(one.human_evaluation for one in systems)
        if draft.task and measured and pk in {one.pk for one in systems}:
            join(systems)
            request(draft.task, systems, by=draft.owner)


def _approve(
    asked: Sequence[HumanEvaluation], *, by: Account, at_most_cents: int, despite: str
) -> None:
    costs = [decide.quote(one).total_cents for one in asked]
    if (cents := sum(costs)) > at_most_cents:
        raise GenieError(
            f"This costs up to ${cents / 100:,.2f}, more than "
            f"${at_most_cents / 100:,.2f}, so it was not approved.",
            code="too-expensive",
        )
    # A system may join meanwhile: then the price is another one.
    for evaluation, cost in zip(asked, costs, strict=True):
        decide.approve(
            evaluation, by=by, start_now=True, despite=despite, cost_cents=cost
        )


def send_out() -> None:
    """Run the queue in this process until the approved work is sent out."""
    advance()
    jobs.drain()


def invite(
    task: Task, *, by: Account, names: str = "", places: int = 1, days: int = 30
) -> None:
    """Create a link for each name or number, or one for all.

    `names` has a name on each line or after each comma, or is the number of links.
    """
    people = [one.strip()[:60] for one in re.split(r"[\n,]", names) if one.strip()]
    if len(people) == 1 and people[0].isdecimal():
        people = [str(n + 1) for n in range(min(int(people[0]), MOST_LINKS))]
    people = people[:MOST_LINKS] or ["" if places > 1 else "1"]
    invitations.invite_raters(
        by, people, pool=task.slug, places=1 if people[0] else places, days=days
    )


def requests_of(task: Task, submissions: Sequence[Submission]) -> list[Subject]:
    """Return the joint evaluations or comparisons of these systems alone."""
    others = EvaluatedSystem.objects.filter(evaluation__task=task)
    others = others.exclude(submission__in=submissions)
    rows: QuerySet[Any] = (
        JointEvaluation.objects.prefetch_related("systems__submission")
        if task.table == JOINT
        else Comparison.objects.select_related("a", "b")
    )
    rows = rows.filter(task=task).exclude(state=states.State.WITHDRAWN)
    return [*rows.exclude(pk__in=others.values("evaluation")).order_by("pk")]


def question_of_pairs(task: Task, criterion: str = "") -> comparison.Question:
    """Return the question of a pair: every input of the sample, as often as wanted.

    If two ratings are wanted and differ, a third one decides.
    """
    n = task.human.ratings_per_instance
    few = {1: Strategy.ONE, 2: Strategy.MAX_THREE}
    return comparison.Question(
        criterion=criterion or next(iter(comparison.criteria_of(task))),
        strategy=few.get(n, Strategy.MAJORITY),
        n_workers=1 if n in few else n,
        max_pairs=task.sample_size,
    )


@transaction.atomic
def request(task: Task, submissions: Sequence[Submission], *, by: Account) -> None:
    """Request every comparison, or one joint evaluation, unless that was done."""
    # Two requests at once: the second one finds the rows of the first.
    Task.objects.select_for_update().get(pk=task.pk)
    if not task.side_by_side or requests_of(task, submissions):
        return
    if task.table == JOINT:
        joint.request(
            submissions,
            by=by,
            n_workers=task.human.ratings_per_instance,
            per_page=all_designs()[task.asked.design].n_shown(len(submissions)),
        )
        return
    for criterion in comparison.criteria_of(task):
        asked = question_of_pairs(task, criterion)
        comparison.request_all_pairs(submissions, asked, by=by)


def _evaluation(subject: Subject) -> HumanEvaluation:
    return decide.require_evaluation(subject, "not-measured")
