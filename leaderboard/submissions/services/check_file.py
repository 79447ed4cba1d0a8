"""Check a file as a submission would be, and store no data."""

from dataclasses import asdict, dataclass
from typing import IO, Any

from django.conf import settings
from django.utils.translation import gettext

from genie.lib.bounded import LimitExceeded, Limits, call_bounded
from genie.lib.errors import GenieError
from genie.lib.seeds import seed_from
from leaderboard.submissions.preflight import PreflightWarning, preflight
from leaderboard.submissions.readers import PredictionFile, Problem, read_predictions
from leaderboard.tasks.models import Instance, Task

# Everyone may have a file checked, hence the limits on its unpacked size and cost. With
# the work of the web process, a check stays below one second and 100 MB.
MOST_BYTES = 8 << 20
LIMITS = Limits(cpu_seconds=0.6, memory_bytes=72 << 20)
# The pre-flight takes a second for about 5 MB of text.
_MOST_COMPARED_CHARACTERS = 2_000_000
_TOO_DEAR = Problem(
    "check-too-costly",
    "Checking this file takes more time or memory than a check is allowed. If it is a "
    "prediction file, submit it for a full check.",
)


@dataclass(frozen=True)
class Examined:
    valid: bool
    format: str
    n_predictions: int
    n_instances: int
    errors: list[dict[str, Any]]
    warnings: list[dict[str, Any]]


def most_bytes() -> int:
    """Return the limit on the unpacked size of a checked file."""
    return min(MOST_BYTES, int(settings.GENIE["MAX_UPLOAD_BYTES"]))


def read(task: Task, file: IO[bytes], file_name: str) -> PredictionFile:
    """Read a file as `validate` would, at a bounded cost."""
    ids = task.instances.order_by("position").values_list("instance_id", flat=True)
    try:
        return call_bounded(
            read_predictions,
            file,
            LIMITS,
            with_packages=True,
            filename=file_name,
            instance_ids=list(ids),
            max_bytes=most_bytes(),
            max_chars_per_prediction=settings.GENIE["MAX_PREDICTION_CHARS"],
            conversations=task.holds_conversations,
        )
    except LimitExceeded:
        return PredictionFile({}, [_TOO_DEAR])


def examine(task: Task, file: IO[bytes], file_name: str) -> Examined:
    """Check a file of predictions against a task; no data is stored or counted.

    The pre-flight compares with references and sources, but not with other submissions,
    unlike that of a submission.
    """
    file.seek(0)
    if not file.read(1):
        raise GenieError(
            gettext("The file is empty; upload one prediction for each instance."),
            code="empty-file",
        )
    result = read(task, file, file_name)
    return Examined(
        valid=result.ok,
        format=result.format,
        n_predictions=len(result.predictions),
        n_instances=task.n_instances,
        errors=[asdict(problem) for problem in result.problems],
        warnings=warnings_of(task, result),
    )


def warnings_of(task: Task, checked: PredictionFile) -> list[dict[str, Any]]:
    if not checked.ok:
        return []
    predictions = checked.predictions
    n_characters = sum(len(text) for text in predictions.values())
    if n_characters > _MOST_COMPARED_CHARACTERS:
        left_out = PreflightWarning(
            "pre-flight-left-out",
            f"The predictions have more than {_MOST_COMPARED_CHARACTERS:,} characters "
            "in total. They are compared with the references and sources after you "
            "submit.",
            {"characters": n_characters},
        )
        return [asdict(left_out)]
    rows = list(
        Instance.objects.filter(task=task)
        .order_by("position")
        .values_list("instance_id", "references", "fields")
    )
    warnings = preflight(
        [predictions[key] for key, _, _ in rows],
        [list(references) for _, references, _ in rows],
        [str(fields.get(task.source_field, "")) for _, _, fields in rows],
        target_language=task.target_language,
        source_language=task.source_language,
        earlier=[],
        seed=seed_from("preflight", task.slug),
    )
    return [asdict(warning) for warning in warnings]
