"""Tasks and outputs for a study, from this site or a folder, rolled back."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from genie.lib.errors import GenieError
from genie.lib.seeds import generator, seed_from
from leaderboard.demo import OPINIONS, systems_of
from leaderboard.evaluation.models.human_evaluation import ConfirmedOutput
from leaderboard.files import read_file
from leaderboard.submissions.models import Prediction, Submission, Team
from leaderboard.tasks import shipped
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.load import load_task

NAME = "separability-study"


@dataclass(frozen=True)
class Outputs:
    """A system's outputs by instance, and those that a reader has confirmed."""

    name: str
    texts: Mapping[str, str]
    right: frozenset[str] = field(default=frozenset())


@contextmanager
def task_with_systems(
    slug: str,
    *,
    source: Path | None,
    outputs: Path | None,
    confirmed: Path | None,
    published: bool,
) -> Iterator[tuple[Task, list[Submission]]]:
    """Yield a shipped task with systems; all of it is rolled back at the end.

    Outputs are read from a folder of JSON files (instance to text), or are those of the
    task's own systems. Those that a task's folder calls right count as confirmed by
    staff.
    """
    with transaction.atomic():
        try:
            known = Task.objects.filter(slug=slug).first()
            task = known or load_task(slug, source).task
            # A site's own draws are unpredictable; a study must be reproducible.
            if known is None:
                _draw_sample(task)
            # This site's data of the task must not be used.
            task.submissions.update(own_state=Submission.State.WITHDRAWN)
            yield (
                task,
                _handed_in(
                    task, _outputs(slug, outputs, confirmed), published=published
                ),
            )
        finally:
            transaction.set_rollback(True)


def _draw_sample(task: Task) -> None:
    rows = list(task.instances.order_by("position"))
    ranks = generator(seed_from(NAME, task.slug)).permutation(len(rows))
    for row, rank in zip(rows, ranks, strict=True):
        row.sample_rank = int(rank)
    type(rows[0]).objects.bulk_update(rows, ["sample_rank"], batch_size=500)


def _outputs(slug: str, folder: Path | None, confirmed: Path | None) -> list[Outputs]:
    right = _read_object(confirmed, list) if confirmed else {}
    if folder is not None:
        found = [
            Outputs(
                path.stem,
                _read_object(path, str),
                frozenset(right.get(path.stem, ())),
            )
            for path in sorted(folder.glob("*.json"))
        ]
        if not found:
            raise GenieError(
                f"{folder} has no JSON files of outputs.", code="no-outputs"
            )
        return found
    if not (shipped.folder(slug) / "systems" / "systems.toml").is_file():
        raise GenieError(
            f"{slug} has no outputs: name a folder with --outputs DIR.",
            code="no-outputs",
        )
    return [_of_demo(slug, system) for system in systems_of(slug)]


def _read_object(path: Path, kind: type) -> dict[str, Any]:
    try:
        content = json.loads(read_file(path))
        if all(isinstance(one, kind) for one in content.values()):
            return dict(content)
    except (ValueError, RecursionError, AttributeError):
        pass
    what = "texts" if kind is str else "lists"
    raise GenieError(f"{path} must be a JSON object of {what}.", code="bad-outputs")


def _of_demo(slug: str, system: Mapping[str, Any]) -> Outputs:
    path = shipped.folder(slug) / "systems" / system["file"]
    texts = json.loads(path.read_text("utf-8"))
    noted = {
        instance: opinion
        for opinion in OPINIONS
        for instance in system.get(opinion, ())
    }
    right = {key for key in texts if noted.get(key, system["usual"]) == "right"}
    return Outputs(system["name"], texts, frozenset(right))


def _handed_in(
    task: Task, systems: list[Outputs], *, published: bool
) -> list[Submission]:
    owner, _ = get_user_model().objects.get_or_create(username=NAME)
    team, _ = Team.objects.get_or_create(slug=NAME, defaults={"name": NAME})
    row_of = {row.instance_id: row for row in task.instances.all()}
    published_at = timezone.now() if published else None
    made = []
    for system in systems:
        if not set(system.texts) & set(row_of):
            continue
        submission = Submission.objects.create(
            task=task, team=team, owner=owner, system_name=system.name[:100],
            file_bytes=0, own_state=Submission.State.MEASURED,
            published_at=published_at,
        )  # fmt: skip
        Prediction.objects.bulk_create(
            [
                Prediction(submission=submission, instance=row_of[key], text=text)
                for key, text in system.texts.items()
                if key in row_of
            ],
            batch_size=500,
        )
        good = submission.predictions.filter(instance__instance_id__in=system.right)
        ConfirmedOutput.objects.bulk_create(
            [ConfirmedOutput(prediction=row, confirmed_by=owner) for row in good]
        )
        made.append(submission)
    return made
