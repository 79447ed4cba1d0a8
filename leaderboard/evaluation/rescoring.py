"""When published scores are computed again: once to become final, then once a day.

A score is published as *provisional*. It becomes final when it is settled which ratings
count: the detector has checked all answers, staff have decided held exclusions and
appeals, and lost ratings have been collected again. Later changes of who counts, or
changes while staff decide, change the published scores of a task at most once a day,
all at once and each with a reason. A lifted ban takes effect at once.
"""

import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from functools import singledispatch
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from genie.lib import jobs
from leaderboard.evaluation import campaigns, machine
from leaderboard.evaluation.models.human_evaluation import (
    HumanEvaluation,
    JointEvaluation,
    Rescoring,
    Score,
)
from leaderboard.evaluation.selectors.unsettled import (
    lost_instances,
    outdated_evaluations,
    unsettled,
    why_changed,
    with_lost_ratings,
)
from leaderboard.evaluation.services import joint_results, refit, score
from leaderboard.submissions import states
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import is_published
from leaderboard.submissions.services import lifecycle
from leaderboard.tasks.models import Task
from quality.bans.models import Ban

logger = logging.getLogger(__name__)
JOB = "leaderboard.jobs.rescore_task"
PAUSE = timedelta(days=1)
FINAL = "The score is final."
State = states.State
# Writes one evaluation's new scores within the transaction of the task.
Write = Callable[[Any], bool]
# Results that visitors may have read.
_PUBLISHED = Submission.objects.filter(is_published())
_CAN_BE_READ = Q(pk__in=_PUBLISHED.order_by().values("human_evaluation")) | Q(
    pk__in=JointEvaluation.objects.exclude(scored_at=None)
)


def provisional() -> list[int]:
    rows = (
        machine.rows()
        .filter(state=State.SCORED, final_at=None)
        .filter(_CAN_BE_READ)
        .prefetch_related("campaigns")
        .order_by("pk")
    )
    return [row.pk for row in rows if not unsettled(row)]


def settle(evaluation: HumanEvaluation, *, just_published: bool = False) -> bool:
    """Make a published score final if no question is open; return whether it is."""
    if evaluation.final_at is not None:
        return True
    # The detector comes first: its result decides whether anything is open.
    campaigns.grade_and_judge(
        evaluation.task, evaluation.campaigns_in_order, complete=True
    )
    # Ratings that it excluded just now are collected again by another step.
    if unsettled(evaluation) or with_lost_ratings([evaluation.pk], unseen=timedelta()):
        return False
    is_outdated = evaluation.pk in outdated_evaluations([evaluation.pk])
    write = _compute_again(evaluation) if is_outdated else None
    with transaction.atomic():
        now = machine.lock(evaluation.pk)
        if not can_be_read(now) or now.final_at is not None:
            return now.final_at is not None
        if unsettled(now):
            return False
        if write is not None:
            write(now)
        if lost_instances(now).exists():
            return False
        # Within this transaction: readers of the new scores see that they are final.
        HumanEvaluation.objects.filter(pk=now.pk).update(final_at=timezone.now())
        Score._base_manager.filter(evaluation=now, superseded_at=None).update(
            provisional=False
        )
        scored = Submission.objects.filter(human_evaluation=now.pk).exists()
        if not just_published:
            machine.tell(now, FINAL)
    if scored:
        refit.refit_board(evaluation.task, hold=True)
    return True


def due() -> list[int]:
    """Return ids of tasks with an outdated published score that may change today."""
    tasks = (
        _published_rows(outdated_evaluations())
        .order_by("task")
        .values_list("task", flat=True)
    )
    return [task for task in tasks.distinct() if may_change(task, timezone.now())]


def may_change(task: int, now: datetime) -> bool:
    """Check for a day without changes; a taken-back exclusion need not wait."""
    last = Rescoring.objects.filter(task=task).order_by("-at").first()
    if last is None or (last.at + PAUSE <= now and last.on < now.date()):
        return True
    return Ban.objects.filter(
        pool__in=Task.objects.filter(pk=task).values("slug"), lifted_at__gt=last.at
    ).exists()


def enqueue_due() -> int:
    return jobs.enqueue_missing([(JOB, {"task": pk}) for pk in due()])


def rescore(task_pk: int) -> int:
    """Compute a task's outdated published scores again; return how many changed.

    All change in one transaction that also stores the row of the day: a killed job has
    changed nothing, and a second run finds the row.
    """
    if not may_change(task_pk, timezone.now()):
        return 0
    rows = list(
        _published_rows(outdated_evaluations()).filter(task=task_pk).order_by("pk")
    )
    writes = [
        (row.pk, _try_again(row))
        for row in rows
        if row.final_at is not None or unsettled(row)
    ]
    with transaction.atomic():
        # One at a time per task.
        Task.objects.select_for_update(of=("self",), no_key=True).get(pk=task_pk)
        now = timezone.now()
        if not may_change(task_pk, now):
            return 0
        n_changed = _write_all(writes)
        if n_changed:
            Rescoring.objects.update_or_create(
                task_id=task_pk,
                on=now.date(),
                defaults={"at": now, "n_changed": n_changed},
            )
    refit.refit_board(Task.objects.get(pk=task_pk), hold=True)
    return n_changed


def _write_all(writes: Iterable[tuple[int, Write | None]]) -> int:
    n_changed = 0
    for pk, write in writes:
        if write is None:
            continue
        evaluation = machine.lock(pk)
        if can_be_read(evaluation):
            n_changed += write(evaluation)
    return n_changed


def _try_again(evaluation: HumanEvaluation) -> Write | None:
    """Compute as `_compute_again`; None on failure, so that other systems do not wait."""
    try:
        return _compute_again(evaluation)
    except Exception:
        logger.exception("The scores of evaluation %s were not rescored", evaluation.pk)
        return None


def _compute_again(evaluation: HumanEvaluation) -> Write:
    """Compute the scores outside of a transaction; return a function that writes them."""
    # Before the ratings are read: a simultaneous exclusion is later than this, and the
    # scores count as outdated.
    read_at = timezone.now()
    before = evaluation.scored_at
    put = _recompute(evaluation.specific, before)

    def write(locked: HumanEvaluation) -> bool:
        # Another process has computed them meanwhile, perhaps from later ratings.
        if locked.scored_at != before:
            return False
        HumanEvaluation.objects.filter(pk=locked.pk).update(scored_at=read_at)
        return put(locked)

    return write


@singledispatch
def _recompute(evaluation: HumanEvaluation, before: datetime | None) -> Write:
    scores_of = {part.system: score.compute_scores(part) for part in evaluation.parts}

    def put(locked: HumanEvaluation) -> bool:
        any_changed = False
        for part in locked.parts:
            reason = why_changed(part, before or timezone.now())
            if score.write(part, scores_of.get(part.system, []), reason=reason):
                state = part.submission.state
                lifecycle.tell(part.submission.pk, state, f"Rescored: {reason}.")
                any_changed = True
        return any_changed

    return put


@_recompute.register
def _recompute_joint(evaluation: JointEvaluation, before: datetime | None) -> Write:
    results = joint_results.results_of(evaluation)

    def put(locked: JointEvaluation) -> bool:
        reason = why_changed(locked, before or timezone.now())
        return joint_results.write(locked, results, reason=reason)

    return put


def _published_rows(pks: Iterable[int]) -> QuerySet[HumanEvaluation]:
    return machine.rows().filter(_CAN_BE_READ, pk__in=list(pks), state=State.SCORED)


def can_be_read(evaluation: HumanEvaluation) -> bool:
    return _published_rows([evaluation.pk]).exists()
