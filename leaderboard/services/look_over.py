"""Check a file of predictions against a task's instances, and keep nothing of it."""

from __future__ import annotations

from typing import BinaryIO

from django.conf import settings

from leaderboard.models import Task
from leaderboard.readers.predictions import PredictionFile, read_predictions

# Nobody needs an account to have a file checked; so large it may be, unpacked.
MOST_BYTES = 20 << 20


def look_over(task: Task, stream: BinaryIO, filename: str) -> PredictionFile:
    """Read a file as the walk's first step would."""
    ids = task.instances.order_by("position").values_list("instance_id", flat=True)
    return read_predictions(
        stream,
        filename=filename,
        instance_ids=list(ids),
        max_bytes=min(MOST_BYTES, settings.GENIE["MAX_UPLOAD_BYTES"]),
        max_chars_per_prediction=settings.GENIE["MAX_PREDICTION_CHARS"],
    )
