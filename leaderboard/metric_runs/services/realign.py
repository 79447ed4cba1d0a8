"""Match misaligned predictions to the instances that they seem to belong to."""

import json
from itertools import islice

from leaderboard.metric_runs.services import measure
from leaderboard.submissions.models.submission import Submission
from leaderboard.submissions.preflight import realign
from leaderboard.tasks.models import Instance

State = Submission.State
N_OTHERS = 5


def proposal(submission: Submission) -> bytes | None:
    """Return a JSON file of realigned predictions, or None if they need no realignment."""
    if not any(w["code"] == "misaligned-ids" for w in submission.warnings):
        return None
    batch = measure.batch_of(submission)
    others = (
        Submission.objects.filter(
            task_id=submission.task_id, visibility=Submission.Visibility.PUBLIC
        )
        .exclude(pk=submission.pk)
        .exclude(state__in=[State.RECEIVED, State.INVALID, State.WITHDRAWN])
        .order_by("-pk")
    )
    # a submission that failed early lacks some or all texts
    aligned = islice(
        (
            outputs
            for other in others[: 4 * N_OTHERS]
            if not _misaligned(other)
            and len(outputs := measure.texts_of(other.pk)) == len(batch.predictions)
        ),
        N_OTHERS,
    )
    result = realign(
        list(batch.predictions),
        [list(references) for references in batch.references],
        list(aligned),
    )
    ids = Instance.objects.filter(task_id=submission.task_id).order_by("position")
    texts = {
        instance_id: batch.predictions[int(index)]
        for instance_id, index in zip(
            ids.values_list("instance_id", flat=True), result.order, strict=True
        )
    }
    return json.dumps(texts, ensure_ascii=False, indent=1).encode()


def _misaligned(submission: Submission) -> bool:
    return any(w["code"] == "misaligned-ids" for w in submission.warnings)
