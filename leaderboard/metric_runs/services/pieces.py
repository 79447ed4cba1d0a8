"""One piece of a metric's run: compute it, store it, combine a submission's pieces."""

import logging
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import F

from genie.lib.errors import GenieError
from genie.lib.logs import one_line
from leaderboard.metric_runs.models import MetricPiece, MetricRun
from leaderboard.metric_runs.selectors import Chosen, chosen_of
from leaderboard.metric_runs.services.measure import write_result
from leaderboard.metric_runs.services.runs import queue_next
from leaderboard.metrics.base import Batch, MetricOutput
from leaderboard.submissions.models.submission import Prediction, Submission
from leaderboard.submissions.selectors.visibility import ON_BOARD
from leaderboard.tasks.models import Instance

logger = logging.getLogger(__name__)

PieceState = MetricPiece.State
RunState = MetricRun.State
# Failures with an error, and starts that never finished.
MAX_ATTEMPTS, MAX_STARTS = 3, 5
_CUT_OFF = "Its process was killed at every attempt: not enough memory or time."


def compute(pk: int) -> None:
    """Compute one waiting piece, and queue the run's next ones."""
    piece = (
        MetricPiece.objects.select_related("run__task", "submission__task")
        .filter(pk=pk, state=PieceState.WAITING, run__state=RunState.RUNNING)
        .first()
    )
    if piece is None:
        return
    if piece.submission.state not in ON_BOARD:  # withdrawn in the meantime
        piece.run.pieces.filter(submission_id=piece.submission_id).delete()
    elif _begun(piece):
        _attempt(piece)
    queue_next(piece.run)


def _begun(piece: MetricPiece) -> bool:
    """Count the attempt before it is made, so that one that kills its process counts, too."""
    waiting = MetricPiece.objects.filter(pk=piece.pk, state=PieceState.WAITING)
    if waiting.filter(n_attempts__lt=MAX_STARTS).update(n_attempts=F("n_attempts") + 1):
        return True
    waiting.update(state=PieceState.FAILED, failure=_CUT_OFF)
    return False


def _attempt(piece: MetricPiece) -> None:
    choice = _current(piece.run)
    if choice is None:
        return  # the next catch-up stops the run
    try:
        output = choice.metric.compute(batch_of_piece(piece))
    except GenieError as error:
        _note_failure(piece, error.message, permanent=error.permanent)
    except Exception as error:  # noqa: BLE001 - libraries of metrics may raise anything
        sentence = f"{type(error).__name__}: {one_line(error, 300)}"
        _note_failure(piece, sentence, permanent=False)
    else:
        _keep(piece, choice, output)


def _current(run: MetricRun) -> Chosen | None:
    for choice in chosen_of(run.task):
        if (choice.slug, choice.identity) == (run.metric, run.identity):
            return choice
    return None


def _note_failure(piece: MetricPiece, sentence: str, *, permanent: bool) -> None:
    logger.warning("Metric %s, %s: %s", piece.run.metric, piece, sentence)
    waiting = MetricPiece.objects.filter(pk=piece.pk, state=PieceState.WAITING)
    waiting.update(failure=sentence)
    if permanent:
        waiting.update(state=PieceState.FAILED)
    else:
        waiting.filter(n_attempts__gte=MAX_ATTEMPTS).update(state=PieceState.FAILED)


def _keep(piece: MetricPiece, choice: Chosen, output: MetricOutput) -> None:
    with transaction.atomic():
        # The lock on the run's row makes the last of two pieces see the other one.
        MetricRun.objects.select_for_update().get(pk=piece.run_id)
        written = MetricPiece.objects.filter(
            pk=piece.pk, state=PieceState.WAITING
        ).update(state=PieceState.DONE, failure="", output=_as_json(output))
        if written:
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
    """Return the number of references per instance in the whole task."""
    # Of the task, not the piece: the signature must not depend on the pieces.
    rows = Instance.objects.filter(task_id=submission.task_id).order_by()
    lists = rows.values_list("references", flat=True).iterator(chunk_size=1_000)
    counts = {len(references) for references in lists}
    return str(counts.pop()) if len(counts) == 1 else "var"


def _as_json(output: MetricOutput) -> dict[str, Any]:
    return {
        "overall": output.overall,
        "per_instance": output.per_instance.tolist(),
        "signature": output.signature,
        "details": output.details,
    }


def _from_json(stored: dict[str, Any]) -> MetricOutput:
    each = np.array(stored["per_instance"], dtype=np.float64)
    return MetricOutput(stored["overall"], each, stored["signature"], stored["details"])
