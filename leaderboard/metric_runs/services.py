import json
from collections.abc import Iterable
from dataclasses import asdict
from itertools import islice
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from genie.lib import jobs
from genie.lib.runner import Runner
from genie.lib.seeds import seed_from
from genie.lib.serving.caches import is_unmoved, looked_in_vain, stamps
from genie.lib.unguessable import seed_for
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.services.request import create_request
from leaderboard.metric_runs.models import MetricPiece, MetricResult, MetricRun
from leaderboard.metric_runs.selectors import Chosen, chosen_of
from leaderboard.metrics.base import Batch, Metric, MetricOutput
from leaderboard.submissions.models import Prediction, Submission, SubmissionEvent
from leaderboard.submissions.preflight import preflight, realign
from leaderboard.submissions.selectors import ON_BOARD, in_state
from leaderboard.submissions.services import lifecycle
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services.configuration import commitment_key

# Compute a submission's light metrics and the warnings of the pre-flight check.
State = Submission.State
# Number of latest submissions that are searched for near-duplicates.
N_EARLIER = 20


def run(pk: int) -> None:
    """Move from VALID to MEASURED; all computing is done before the first write.

    Heavy metrics do not delay a submission: they follow piece by piece (`metric_runs`).
    """
    submission = Submission.objects.select_related("task").get(pk=pk)
    if submission.state != State.VALID:
        return
    batch = batch_of(submission)
    chosen = chosen_of(submission.task)
    outputs = [
        (choice, choice.metric.compute(batch))
        for choice in chosen
        if choice.light and not choice.absent and _applies(choice.metric, batch)
    ]
    warnings = warnings_for(submission, batch)
    with transaction.atomic():
        moved = lifecycle.move(
            pk,
            State.VALID,
            State.MEASURED,
            _sentence(len(outputs), len(warnings)),
            warnings=warnings,
        )
        # Another process measured it first: discard these results.
        if not moved:
            return
        Submission.objects.filter(pk=pk).update(
            human_evaluation=create_request(
                [submission],
                HumanEvaluation,
                by=submission.owner_id,
                design=submission.task.human.design,
                n_instances=submission.task.sample_size,
                seed=seed_for("campaign", commitment_key(pk)),
            )
        )
        for choice, output in outputs:
            write_result(submission, choice, output)
        if any(not choice.light and not choice.absent for choice in chosen):
            jobs.enqueue("leaderboard.jobs.catch_up_metrics", task=submission.task_id)


def _applies(metric: Metric, batch: Batch) -> bool:
    has_sources = any(source.strip() for source in batch.sources)
    return (any(batch.references) or not metric.needs_references) and (
        has_sources or not metric.needs_sources
    )


def batch_of(submission: Submission) -> Batch:
    """Return predictions, references and sources in the order of the instances' positions."""
    source = submission.task.source_field
    instances = list(
        Instance.objects.filter(task_id=submission.task_id)
        .order_by("position")
        .values_list("pk", "references", "fields")
    )
    return Batch(
        predictions=texts_of(submission.pk),
        references=[references for _, references, _ in instances],
        sources=[str(fields.get(source, "")) for _, _, fields in instances],
        target_language=submission.task.target_language,
        source_language=submission.task.source_language,
        conversations=submission.task.holds_conversations,
    )


def texts_of(submission_pk: int) -> list[str]:
    """Return a submission's predictions in the order of the instances' positions."""
    return list(
        Prediction.objects.filter(submission_id=submission_pk)
        .order_by("instance__position")
        .values_list("text", flat=True)
    )


def warnings_for(submission: Submission, batch: Batch) -> list[dict[str, Any]]:
    task = submission.task
    earlier = (
        Submission.objects.filter(task=task, pk__lt=submission.pk)
        .exclude(own_state__in=[State.RECEIVED, State.INVALID, State.WITHDRAWN])
        .order_by("-pk")[:N_EARLIER]
    )
    warnings = preflight(
        list(batch.predictions),
        [list(references) for references in batch.references],
        list(batch.sources),
        target_language=task.target_language,
        source_language=task.source_language,
        earlier=[
            (_name_for(submission, other), texts_of(other.pk)) for other in earlier
        ],
        seed=seed_from("preflight", task.slug),
    )
    return [asdict(warning) for warning in warnings]


def _name_for(submission: Submission, other: Submission) -> str:
    hidden = (
        other.visibility == Submission.Visibility.PRIVATE or other.anonymous_now
    ) and other.team_id != submission.team_id
    return "an earlier submission" if hidden else other.system_name


def write_result(submission: Submission, choice: Chosen, output: MetricOutput) -> None:
    """Store a result; older ones with different settings are kept, the newest is shown."""
    MetricResult.objects.update_or_create(
        submission=submission,
        metric=choice.slug,
        signature=output.signature,
        defaults={
            "identity": choice.identity,
            "value": output.overall,
            "per_instance": np.round(output.per_instance, 6).tolist(),
            "details": output.details,
        },
    )


def _sentence(n_metrics: int, n_warnings: int) -> str:
    noticed = (
        "no pre-flight warnings"
        if n_warnings == 0
        else f"{n_warnings} pre-flight warning{'s' if n_warnings > 1 else ''}"
    )
    return f"{n_metrics} automatic metrics computed; {noticed}."


# Match misaligned predictions to the instances that they seem to belong to.
N_OTHERS = 5


def proposal(submission: Submission) -> bytes | None:
    """Return a JSON file of realigned predictions, or None if they need no realignment."""
    if not any(w["code"] == "misaligned-ids" for w in submission.warnings):
        return None
    batch = batch_of(submission)
    others = (
        Submission.objects.filter(
            task_id=submission.task_id, visibility=Submission.Visibility.PUBLIC
        )
        .exclude(pk=submission.pk)
        .exclude(own_state__in=[State.RECEIVED, State.INVALID, State.WITHDRAWN])
        .order_by("-pk")
    )
    # a submission that failed early lacks some or all texts
    aligned = islice(
        (
            outputs
            for other in others[: 4 * N_OTHERS]
            if all(one["code"] != "misaligned-ids" for one in other.warnings)
            and len(outputs := texts_of(other.pk)) == len(batch.predictions)
        ),
        N_OTHERS,
    )
    order = realign(
        list(batch.predictions),
        [list(references) for references in batch.references],
        list(aligned),
    )
    ids = Instance.objects.filter(task_id=submission.task_id).order_by("position")
    texts = {
        instance_id: batch.predictions[index]
        for instance_id, index in zip(
            ids.values_list("instance_id", flat=True), order, strict=True
        )
    }
    return json.dumps(texts, ensure_ascii=False, indent=1).encode()


# Metrics in the background: find missing results, cut the work into pieces, queue them.
#
# A metric that a task adds, or changes, is computed for all its submissions; heavy metrics
# are always computed this way. A run keeps only a few pieces in the queue at a time, so
# that other work is not delayed, and each finished piece queues the next one.
RunState = MetricRun.State
PieceState = MetricPiece.State


class _PieceRunner(Runner):
    def due(self) -> list[int]:
        running = MetricRun.objects.filter(state=RunState.RUNNING).order_by("pk")
        return [pk for run in running for pk in _next(run)]


RUNNER = _PieceRunner(
    MetricPiece,
    "leaderboard.jobs.measure_piece",
    states=[PieceState.WAITING],
    failed=PieceState.FAILED,
)
# Number of one run's pieces in the queue at a time.
IN_QUEUE = 4
OBSOLETE = "The task's settings have changed."


def catch_up_all() -> None:
    """Catch up every task with changes."""
    moved = stamps(
        (Submission.objects.filter(in_state(*ON_BOARD)), "task", "pk"),
        (SubmissionEvent.objects.all(), "submission__task", "pk"),
        (MetricResult.objects.all(), "submission__task", "pk"),
    )
    for task in Task.objects.order_by("pk"):
        name = f"metrics-of-{task.pk}-{task.created_at.timestamp()}"
        asked = [task.config, task.release_sha256]
        stamp = (json.dumps(asked, sort_keys=True), moved.get(task.pk))
        if not is_unmoved(name, stamp):
            catch_up(task)
            looked_in_vain(name, stamp)


def catch_up(task: Task) -> int:
    """Find submissions without a current result, create pieces, queue the next few."""
    chosen = chosen_of(task)
    _end_obsolete(task, chosen)
    for choice in chosen:
        if choice.absent:
            MetricRun.objects.update_or_create(
                task=task,
                metric=choice.slug,
                identity="",
                defaults={"state": RunState.ABSENT, "reason": choice.absent},
            )
        else:
            _readopt(task, choice)
            _plan(task, choice)
    running = MetricRun.objects.filter(task=task, state=RunState.RUNNING)
    return sum(queue_next(run) for run in running.order_by("pk"))


def queue_next(run: MetricRun) -> int:
    return jobs.enqueue_missing((RUNNER.job, {"pk": pk}) for pk in _next(run))


def _next(run: MetricRun) -> list[int]:
    waiting = run.pieces.filter(state=PieceState.WAITING).order_by(
        "n_attempts", "first", "pk"
    )
    pks = list(waiting.values_list("pk", flat=True)[:IN_QUEUE])
    if not pks:
        _finish(run)
    return pks


def stop(run: MetricRun) -> bool:
    """Stop a run; finished pieces are kept."""
    return _turn(run, [RunState.RUNNING], RunState.STOPPED)


def resume(run: MetricRun) -> bool:
    """Continue a stopped run, and retry failed pieces."""
    states = [RunState.STOPPED, RunState.DONE]
    with transaction.atomic():
        n_failed = RUNNER.retry(run.pieces.filter(state=PieceState.FAILED))
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
    missing = list(
        _missing_submissions(task, choice).order_by("pk").values_list("pk", flat=True)
    )
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


def _missing_submissions(task: Task, choice: Chosen) -> QuerySet[Submission]:
    current = MetricResult.objects.filter(
        submission=OuterRef("pk"), metric=choice.slug, identity=choice.identity
    )
    return Submission.objects.filter(~Exists(current), in_state(*ON_BOARD), task=task)


def _pieces(run: MetricRun, pk: int, choice: Chosen, n: int) -> list[MetricPiece]:
    size = choice.metric.piece or n
    return [
        MetricPiece(run=run, submission_id=pk, first=first, end=min(first + size, n))
        for first in range(0, n, size)
    ]


# One piece of a metric's run: compute it, store it, combine a submission's pieces.
def compute(pk: int) -> None:
    """Compute a piece unless that is done, and queue the run's next ones."""
    piece = (
        MetricPiece.objects.select_related(
            "run__task", "submission__task", "submission__human_evaluation"
        )
        .filter(pk=pk, run__state=MetricRun.State.RUNNING)
        .first()
    )
    if piece is None:
        return
    if piece.submission.state not in ON_BOARD:  # withdrawn in the meantime
        piece.run.pieces.filter(submission_id=piece.submission_id).delete()
    else:
        RUNNER.run(pk, lambda row: _compute(row, piece))
    queue_next(piece.run)


def _compute(row: QuerySet[MetricPiece], piece: MetricPiece) -> None:
    choice = _current(piece.run)
    if choice is not None:  # otherwise the next catch-up stops the run
        _keep(row, piece, choice, choice.metric.compute(batch_of_piece(piece)))


def _current(run: MetricRun) -> Chosen | None:
    wanted = (run.metric, run.identity)
    found = (one for one in chosen_of(run.task) if (one.slug, one.identity) == wanted)
    return next(found, None)


def _keep(
    row: QuerySet[MetricPiece], piece: MetricPiece, choice: Chosen, output: MetricOutput
) -> None:
    with transaction.atomic():
        # The lock on the run's row makes the last of two pieces see the other one.
        MetricRun.objects.select_for_update().get(pk=piece.run_id)
        if row.update(
            state=PieceState.DONE,
            failure="",
            output={
                "overall": output.overall,
                "per_instance": output.per_instance.tolist(),
                "signature": output.signature,
                "details": output.details,
            },
        ):
            _put_together(piece, choice)


def _put_together(piece: MetricPiece, choice: Chosen) -> None:
    pieces = MetricPiece.objects.filter(
        run_id=piece.run_id, submission_id=piece.submission_id
    )
    if pieces.exclude(state=PieceState.DONE).exists():
        return
    outputs = [
        _from_json(row)
        for row in pieces.order_by("first").values_list("output", flat=True)
    ]
    write_result(piece.submission, choice, choice.metric.combine(outputs))
    # The result contains all of it now.
    pieces.update(output={})


def batch_of_piece(piece: MetricPiece) -> Batch:
    """Read only the piece's texts, so that memory does not grow with the task."""
    submission = piece.submission
    task = submission.task
    positions = {"position__gte": piece.first, "position__lt": piece.end}
    instances = list(
        Instance.objects.filter(task=task, **positions)
        .order_by("position")
        .values_list("references", "fields")
    )
    texts = Prediction.objects.filter(
        submission=submission,
        instance__position__gte=piece.first,
        instance__position__lt=piece.end,
    )
    return Batch(
        predictions=list(
            texts.order_by("instance__position").values_list("text", flat=True)
        ),
        references=[references for references, _ in instances],
        sources=[str(fields.get(task.source_field, "")) for _, fields in instances],
        target_language=task.target_language,
        source_language=task.source_language,
        references_each=_references_each(submission),
        conversations=task.holds_conversations,
    )


def _references_each(submission: Submission) -> str:
    # Of the task, not the piece: the signature must not depend on the pieces.
    rows = Instance.objects.filter(task_id=submission.task_id).order_by()
    lists = rows.values_list("references", flat=True).iterator(chunk_size=1_000)
    counts = {len(references) for references in lists}
    return str(counts.pop()) if len(counts) == 1 else "var"


def _from_json(stored: dict[str, Any]) -> MetricOutput:
    each = np.array(stored["per_instance"], dtype=np.float64)
    return MetricOutput(stored["overall"], each, stored["signature"], stored["details"])
