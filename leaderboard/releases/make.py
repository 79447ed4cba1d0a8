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
from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.evaluation.selectors.coverage import whole_share
from leaderboard.evaluation.selectors.sample_disclosure import sample_is_public
from leaderboard.evaluation.services.refit import estimates_seed
from leaderboard.releases import FORMAT, bundle
from leaderboard.releases.bundle import Record
from leaderboard.releases.card import card
from leaderboard.releases.gathering import comparisons, joint, results
from leaderboard.releases.licence import may_be_copied
from leaderboard.releases.masked_instances import withhold_instances
from leaderboard.releases.pseudonyms import Pseudonyms
from leaderboard.submissions.models.submission import Submission
from leaderboard.submissions.selectors.outputs import outputs_are_open
from leaderboard.tasks.models import Task

# Parts of a task's configuration that say nothing about how its numbers came about.
_INTERNAL = frozenset({"budget", "quota"})
# name: the columns, and the rows
Tables = dict[str, tuple[tuple[str, ...], list[Record]]]


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
    shows_sample = sample_is_public(task)
    # one key for the whole release: a worker has the same name in all its tables
    names = Pseudonyms(key)
    rows = results.ranked(task)
    questions, fits = results.detector_fits(task, names)
    together = _systems_together(task, names)
    others = _others([row.pk for row in rows], together)
    tables: Tables = {
        "systems": (results.SYSTEMS, results.systems(task, rows, others)),
        "scores": (results.SCORES, results.scores(task, rows)),
        "judgments": (results.JUDGMENTS, results.judgments(task, rows, names)),
        "metrics": (results.METRICS, results.metrics(rows)),
        "test_questions": (results.TEST_QUESTIONS, questions),
        **together,
        "instances": (
            results.INSTANCES,
            results.instances(task, texts=texts, shows_sample=shows_sample),
        ),
    }
    if not shows_sample:
        judged = ("judgments", "comparison_pairs", "joint_judgments")
        withhold_instances(
            (tables[name][1] for name in judged),
            {name: index for index, name in results.task_ids(task).items()},
        )
    if texts:
        # Test questions are made of outputs: until people have judged a system by
        # itself, nobody can look up what it said.
        compared = [s.pk for s in others if outputs_are_open(s)]
        pks = [*(row.pk for row in rows), *compared]
        tables["predictions"] = (results.PREDICTIONS, results.predictions(pks))
    for name, (columns, records) in tables.items():
        bundle.write_table(folder, name, columns, records)
    counts = {name: len(records) for name, (_, records) in tables.items()}
    manifest = _manifest(task, fits, counts, texts=texts, shows_sample=shows_sample)
    bundle.write_manifest(folder, manifest)
    (folder / bundle.CARD).write_text(card(task, manifest), "utf-8")
    bundle.write_checksums(folder)
    return Made(folder, counts, texts)


def _systems_together(task: Task, names: Pseudonyms) -> Tables:
    """Give what was asked about several systems together."""
    compared = comparisons.ended(task)
    judged = joint.scored(task)
    return {
        "comparisons": (
            comparisons.COMPARISONS,
            comparisons.comparisons(task, compared),
        ),
        "comparison_pairs": (comparisons.PAIRS, comparisons.pairs(compared)),
        "comparison_votes": (
            comparisons.VOTES,
            comparisons.votes(compared, names),
        ),
        "joint_evaluations": (
            joint.EVALUATIONS,
            joint.evaluations(judged),
        ),
        "joint_results": (joint.RESULTS, joint.results(judged)),
        "joint_pairs": (joint.PAIRS, joint.pairs(judged)),
        "joint_judgments": (
            joint.JUDGMENTS,
            joint.judgments(task, judged, names),
        ),
    }


def _others(ranked: Sequence[int], together: Tables) -> list[Submission]:
    """Find the systems that are spoken of and have no score of their own."""
    _, compared = together["comparisons"]
    _, judged = together["joint_judgments"]
    named = {row[side] for row in compared for side in ("a", "b")}
    named |= {row["submission"] for row in judged}
    submissions = Submission.objects.filter(pk__in=named - set(ranked))
    return list(submissions.select_related("team").order_by("pk"))


def archive(tasks: Sequence[Task]) -> IO[bytes]:
    """Make a release of each task and pack them; the file is gone once it is closed."""
    with tempfile.TemporaryDirectory() as name:
        folders = [make(task, Path(name) / task.slug).folder for task in tasks]
        file = tempfile.TemporaryFile()  # noqa: SIM115  # the reader closes it
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            for folder in folders:
                for path in sorted(folder.iterdir()):
                    packed.write(path, f"{folder.name}/{path.name}")
    file.seek(0)
    return file


def _prepare(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise GenieError(
            f"{folder} already exists; name a new or empty folder.",
            code="folder-taken",
        )
    folder.mkdir(parents=True, exist_ok=True)


def _manifest(
    task: Task, fits: Record, counts: dict[str, int], *, texts: bool, shows_sample: bool
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
        "whole_share": whole_share(),
        "estimate": task.human.estimate,
        "ranks": task.human.ranks,
        "estimates_seed": estimates_seed(task),
        "sample_seed": str(task.sample_seed) if shows_sample else None,
        "config": {
            name: part for name, part in task.config.items() if name not in _INTERNAL
        },
        "detectors": fits,
        "code_version": settings.VERSION,
        "made_at": f"{timezone.now():%Y-%m-%dT%H:%M:%SZ}",
        "counts": counts,
    }
