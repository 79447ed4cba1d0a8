"""Make a release of one task: a folder that anybody can check and compute again."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from django.conf import settings
from django.utils import timezone

from genie.lib.errors import GenieError
from leaderboard.models import Task
from leaderboard.releases import FORMAT, bundle, gather
from leaderboard.releases.bundle import Record
from leaderboard.releases.card import card
from leaderboard.releases.licence import may_be_copied
from leaderboard.releases.pseudonyms import Pseudonyms
from leaderboard.selectors.field import main_criterion
from leaderboard.selectors.sampled import sample_may_be_told


@dataclass(frozen=True)
class Made:
    """What a release holds."""

    folder: Path
    counts: dict[str, int]
    texts: bool


def make(
    task: Task, folder: Path, *, texts: bool | None = None, key: bytes | None = None
) -> Made:
    """Write the release into an empty or new folder.

    Parameters
    ----------
    task : Task
    folder : Path
    texts : bool, optional
        Whether inputs, references and predictions are in it; by default as the task's
        licence allows. Hidden references never are.
    key : bytes, optional
        Makes the workers' pseudonyms; by default a new one that is forgotten.
    """
    _prepare(folder)
    texts = may_be_copied(task.licence) if texts is None else texts
    draw = sample_may_be_told(task)
    names = Pseudonyms(key)
    rows = gather.ranked(task)
    questions, fits = gather.detector_fits(task, names)
    tables: dict[str, tuple[tuple[str, ...], list[Record]]] = {
        "systems": (gather.SYSTEMS, gather.systems(task, rows)),
        "scores": (gather.SCORES, gather.scores(task, rows)),
        "judgments": (gather.JUDGMENTS, gather.judgments(task, rows, names)),
        "metrics": (gather.METRICS, gather.metrics(rows)),
        "test_questions": (gather.TEST_QUESTIONS, questions),
        "instances": (gather.INSTANCES, gather.instances(task, texts=texts, draw=draw)),
    }
    if texts:
        tables["predictions"] = (gather.PREDICTIONS, gather.predictions(task, rows))
    for name, (columns, records) in tables.items():
        bundle.write_table(folder, name, columns, records)
    counts = {name: len(records) for name, (_, records) in tables.items()}
    manifest = _manifest(task, fits, counts, texts=texts, draw=draw)
    bundle.write_manifest(folder, manifest)
    (folder / bundle.CARD).write_text(card(task, manifest), "utf-8")
    bundle.write_checksums(folder)
    return Made(folder, counts, texts)


def archive(tasks: Sequence[Task]) -> IO[bytes]:
    """Make a release of each task and pack them; the file is gone once it is closed."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  # the reader closes it
    with (
        tempfile.TemporaryDirectory() as name,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed,
    ):
        for task in tasks:
            folder = make(task, Path(name) / task.slug).folder
            for path in sorted(folder.iterdir()):
                packed.write(path, f"{task.slug}/{path.name}")
    file.seek(0)
    return file


def _prepare(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise GenieError(
            f"{folder} is there already; name a new or an empty folder.",
            code="folder-taken",
        )
    folder.mkdir(parents=True, exist_ok=True)


def _manifest(
    task: Task, fits: Record, counts: dict[str, int], *, texts: bool, draw: bool
) -> Record:
    return {
        "format": FORMAT,
        "task": task.slug,
        "title": task.title,
        "licence": task.licence,
        "homepage": task.homepage,
        "citation": task.citation.strip(),
        "release_sha256": task.release_sha256,
        "release_files": task.release_files,
        "demo": task.demo,
        "source_language": task.source_language,
        "target_language": task.target_language,
        "source_field": task.source_field,
        "hidden_references": task.hidden_references,
        "texts": texts,
        "ranked_by": main_criterion(task),
        "sample_seed": str(task.sample_seed) if draw else None,
        "config": task.config,
        "detectors": fits,
        "code_version": settings.VERSION,
        "made_at": f"{timezone.now():%Y-%m-%dT%H:%M:%SZ}",
        "counts": counts,
    }
