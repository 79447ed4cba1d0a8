"""Metrics in the background: find missing results, cut the work into pieces, queue them.

A metric that a task adds, or changes, is computed for all its submissions; heavy metrics
are always computed this way. A run keeps only a few pieces in the queue at a time, so
that other work is not delayed, and each finished piece queues the next one.
"""

import json
from collections.abc import Iterable

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from genie.lib import jobs
from genie.lib.serving.unmoved import is_unmoved, looked_in_vain, stamps
from leaderboard.metric_runs.models import MetricPiece, MetricResult, MetricRun
from leaderboard.metric_runs.selectors import Chosen, chosen_of
from leaderboard.submissions.models.submission import Submission, SubmissionEvent
from leaderboard.submissions.selectors.visibility import ON_BOARD
from leaderboard.tasks.models import Task

RunState = MetricRun.State
PieceState = MetricPiece.State
JOB = "leaderboard.jobs.measure_piece"
# Number of one run's pieces in the queue at a time.
IN_QUEUE = 4
OBSOLETE = "The task asks for other settings now."


def catch_up_all() -> int:
    """Catch up every task with changes; return the number of queued pieces."""
    running = MetricRun.objects.filter(state=RunState.RUNNING).order_by()
    busy = set(running.values_list("task", flat=True))
    moved = stamps(
        (Submission.objects.filter(state__in=ON_BOARD), "task", "pk"),
        (SubmissionEvent.objects.all(), "submission__task", "pk"),
        (MetricResult.objects.all(), "submission__task", "pk"),
    )
    n = 0
    for task in Task.objects.order_by("pk"):
        name = f"metrics-of-{task.pk}-{task.created_at.timestamp()}"
        asked = [task.config, task.release_sha256]
        stamp = (json.dumps(asked, sort_keys=True), moved.get(task.pk))
        if task.pk in busy or not is_unmoved(name, stamp):
            n += catch_up(task)
            looked_in_vain(name, stamp)
    return n


def catch_up(task: Task) -> int:
    """Find submissions without a current result, create pieces, queue the next few."""
    chosen = chosen_of(task)
    _end_obsolete(task, chosen)
    for choice in chosen:
        if choice.absent:
            _note_absent(task, choice)
        else:
            _readopt(task, choice)
            _plan(task, choice)
    running = MetricRun.objects.filter(task=task, state=RunState.RUNNING)
    return sum(queue_next(run) for run in running.order_by("pk"))


def queue_next(run: MetricRun) -> int:
    """Queue the first waiting pieces; end the run if there are none left."""
    waiting = run.pieces.filter(state=PieceState.WAITING).order_by(
        "n_attempts", "first", "pk"
    )
    pks = list(waiting.values_list("pk", flat=True)[:IN_QUEUE])
    if not pks:
        _finish(run)
    return jobs.enqueue_missing((JOB, {"pk": pk}) for pk in pks)


def stop(run: MetricRun) -> bool:
    """Stop a run; finished pieces are kept."""
    return _turn(run, [RunState.RUNNING], RunState.STOPPED)


def resume(run: MetricRun) -> bool:
    """Continue a stopped run, and retry failed pieces."""
    states = [RunState.STOPPED, RunState.DONE]
    with transaction.atomic():
        failed = run.pieces.filter(state=PieceState.FAILED)
        n_failed = failed.update(state=PieceState.WAITING, n_attempts=0, failure="")
        if run.state == RunState.DONE and not n_failed:
            return False
        if not _turn(run, states, RunState.RUNNING, reason="", finished_at=None):
            return False
    queue_next(run)
    return True


def _turn(run: MetricRun, old: Iterable[str], new: str, **fields: object) -> bool:
    rows = MetricRun.objects.filter(pk=run.pk, state__in=old)
    return bool(rows.update(state=new, **fields))


def _finish(run: MetricRun) -> None:
    failed = run.pieces.filter(state=PieceState.FAILED).order_by("pk")
    first = failed.first()
    reason = f"{failed.count()} batches failed; {first.failure}" if first else ""
    _turn(
        run,
        [RunState.RUNNING],
        RunState.DONE,
        reason=reason,
        finished_at=timezone.now(),
    )


def _end_obsolete(task: Task, chosen: Iterable[Chosen]) -> None:
    current = {(choice.slug, choice.identity) for choice in chosen}
    for run in MetricRun.objects.filter(task=task).exclude(state=RunState.DONE):
        if (run.metric, run.identity) in current:
            continue
        if run.state == RunState.ABSENT:
            run.delete()
        elif _turn(run, [RunState.RUNNING], RunState.STOPPED, reason=OBSOLETE):
            run.pieces.all().delete()


def _note_absent(task: Task, choice: Chosen) -> None:
    MetricRun.objects.update_or_create(
        task=task,
        metric=choice.slug,
        identity="",
        defaults={"state": RunState.ABSENT, "reason": choice.absent},
    )


def _readopt(task: Task, choice: Chosen) -> None:
    """Make results the newest again if the task returns to their settings."""
    newer = MetricResult.objects.filter(
        submission=OuterRef("submission"), metric=choice.slug, pk__gt=OuterRef("pk")
    )
    old = MetricResult.objects.filter(
        Exists(newer),
        submission__task=task,
        metric=choice.slug,
        identity=choice.identity,
    )
    for result in old.order_by("pk"):
        # Pages show the newest row, so it is written again; its numbers keep their date.
        computed_at = result.computed_at
        with transaction.atomic():
            result.delete()
            result.pk = None
            result.save(force_insert=True)
            MetricResult.objects.filter(pk=result.pk).update(computed_at=computed_at)


def _plan(task: Task, choice: Chosen) -> None:
    missing = list(_missing(task, choice).order_by("pk").values_list("pk", flat=True))
    if not missing or not task.n_instances:
        return
    with transaction.atomic():
        run, _ = MetricRun.objects.get_or_create(
            task=task,
            metric=choice.slug,
            identity=choice.identity,
            defaults={"settings": choice.settings},
        )
        # Two processes planning at once would cut a submission into pieces twice.
        run = MetricRun.objects.select_for_update().get(pk=run.pk)
        planned = set(run.pieces.values_list("submission_id", flat=True))
        new = [pk for pk in missing if pk not in planned]
        if not new:
            return
        MetricPiece.objects.bulk_create(
            [
                piece
                for pk in new
                for piece in _pieces(run, pk, choice, task.n_instances)
            ],
            batch_size=2_000,
        )
        if run.state == RunState.DONE:
            _turn(run, [RunState.DONE], RunState.RUNNING, finished_at=None)
        elif run.state == RunState.STOPPED and run.reason == OBSOLETE:
            _turn(run, [RunState.STOPPED], RunState.RUNNING, reason="")


def _missing(task: Task, choice: Chosen) -> QuerySet[Submission]:
    current = MetricResult.objects.filter(
        submission=OuterRef("pk"), metric=choice.slug, identity=choice.identity
    )
    return Submission.objects.filter(~Exists(current), task=task, state__in=ON_BOARD)


def _pieces(run: MetricRun, pk: int, choice: Chosen, n: int) -> list[MetricPiece]:
    size = choice.metric.piece or n
    return [
        MetricPiece(run=run, submission_id=pk, first=first, end=min(first + size, n))
        for first in range(0, n, size)
    ]
