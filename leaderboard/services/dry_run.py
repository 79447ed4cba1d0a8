"""Check a file as handing it in would, and keep nothing of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import IO, Any, BinaryIO, cast

from django.conf import settings

from genie.lib.errors import GenieError
from genie.lib.seeds import seed_from
from leaderboard.models import Instance, Task
from leaderboard.preflight import preflight
from leaderboard.readers.predictions import read_predictions


@dataclass(frozen=True)
class Examined:
    """What handing the file in would say."""

    valid: bool
    format: str
    n_predictions: int
    n_instances: int
    errors: list[dict[str, Any]]
    warnings: list[dict[str, Any]]


def examine(task: Task, file: IO[bytes], file_name: str) -> Examined:
    """Read a file of predictions against a task; nothing is stored or counted.

    The pre-flight compares with the references and sources, but not with others'
    submissions: that is done once something is handed in.
    """
    file.seek(0)
    if not file.read(1):
        raise GenieError(
            "The file is empty; send one prediction for each instance.",
            code="empty-file",
        )
    file.seek(0)
    rows = list(
        Instance.objects.filter(task=task)
        .order_by("position")
        .values_list("instance_id", "references", "fields")
    )
    result = read_predictions(
        cast("BinaryIO", file),
        filename=file_name,
        instance_ids=[row[0] for row in rows],
        max_bytes=settings.GENIE["MAX_UPLOAD_BYTES"],
        max_chars_per_prediction=settings.GENIE["MAX_PREDICTION_CHARS"],
    )
    errors = [asdict(problem) for problem in result.problems]
    return Examined(
        valid=not errors,
        format=result.format or "",
        n_predictions=len(result.predictions),
        n_instances=len(rows),
        errors=errors,
        warnings=[] if errors else _warnings(task, rows, result.predictions),
    )


def _warnings(
    task: Task, rows: list[tuple[str, Any, Any]], predictions: dict[str, str]
) -> list[dict[str, Any]]:
    found = preflight(
        [predictions[key] for key, _, _ in rows],
        [list(references) for _, references, _ in rows],
        [str(fields.get(task.source_field, "")) for _, _, fields in rows],
        target_language=task.target_language,
        source_language=task.source_language,
        earlier=[],
        seed=seed_from("preflight", task.slug),
    )
    return [asdict(warning) for warning in found]
