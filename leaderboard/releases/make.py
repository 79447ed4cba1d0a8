"""Create a release of one task: a folder that can be checked and recomputed."""

import hashlib
import json
import secrets
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from genie.history import log
from genie.history.models import LogEntry, LogHead
from genie.history.shown import open_entries
from genie.lib.errors import GenieError
from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.board_ratings import (
    board_scores,
    current_fit,
    is_judged,
    public_forecasts,
)
from leaderboard.evaluation.selectors.ranked_scores import sample_is_public, whole_share
from leaderboard.evaluation.selectors.system_ratings import unnamed_workers
from leaderboard.evaluation.services.fit_pieces import estimates_seed
from leaderboard.releases import FORMAT, bundle, croissant
from leaderboard.releases.bundle import CHECKSUMS, LOG, Notes, Record, in_batches
from leaderboard.releases.card import card
from leaderboard.releases.gathering.judgments import check_settled, scored_again
from leaderboard.releases.gathering.tables import Tables, Tell
from leaderboard.releases.parquet import write_parquet
from leaderboard.releases.pseudonyms import Pseudonyms
from leaderboard.tasks.license import may_be_copied
from leaderboard.tasks.models import Task
from leaderboard.tasks.selectors import note_of

# The public log in a release: a head, and where the release's scores are in its tree.
_AT_ONCE = 500
# Number of earlier releases whose heads can be checked to be prefixes of this one's.
_EARLIER = 200


def write(folder: Path, task: Task) -> None:
    """Write the head of the log on the first line, then one entry per line."""
    log.number()
    head = log.head()
    with (folder / LOG).open("w", encoding="utf-8", newline="\n") as lines:
        for record in [_first(head), *_entries(task, head.size)]:
            lines.write(f"{json.dumps(record, ensure_ascii=False)}\n")


def log_release(folder: Path, task: Task) -> None:
    """Log the release by a hash that covers all of its files."""
    digest = hashlib.sha256((folder / CHECKSUMS).read_bytes()).hexdigest()
    with (folder / LOG).open(encoding="utf-8") as lines:
        size = json.loads(lines.readline())["size"]
    data = {"task": task.slug, "checksums_sha256": digest, "log_size": size}
    said = LogEntry.objects.filter(kind=log.Kind.RELEASE, about=task.pk)
    # an earlier process may have ended before this was logged
    if all(
        json.loads(text) != data
        for text in said.exclude(data="").values_list("data", flat=True)
    ):
        log.append(log.Kind.RELEASE, data, about=task.pk)


def _first(head: LogHead) -> Record:
    newest = LogEntry.objects.filter(kind=log.Kind.RELEASE).exclude(data="")
    said = newest.order_by("-pk").values_list("data", flat=True)[:_EARLIER]
    sizes = {json.loads(text)["log_size"] for text in said}
    return {
        "size": head.size,
        "root": head.root,
        "at": f"{head.at:%Y-%m-%dT%H:%M:%SZ}",
        "earlier": [
            {
                "size": one.size,
                "root": one.root,
                "consistency": log.consistency(one.size, head.size),
            }
            for one in LogHead.objects.filter(size__in=sizes, size__lte=head.size)
        ],
    }


def _entries(task: Task, size: int) -> Iterator[Record]:
    scores = board_scores(task).values_list("pk", flat=True)
    results = HumanEvaluation.objects.filter(task=task, submissions=None)
    yield from _entries_of(log.Kind.SCORE, list(scores), size)
    pks = results.order_by("pk").values_list("pk", flat=True)
    yield from _entries_of(log.Kind.RESULT, list(pks), size)


def _entries_of(kind: log.Kind, pks: Sequence[int], size: int) -> Iterator[Record]:
    for some in in_batches(pks, _AT_ONCE):
        rows = LogEntry.objects.filter(kind=kind, about__in=some, number__lt=size)
        # a score that was filled in later has several entries: the last one has its
        # number
        last = {row.about: row for row in rows.order_by("number")}
        shown = [one for one in open_entries(list(last.values())) if one["data"]]
        shown.sort(key=lambda one: int(one["number"]))
        paths = log.inclusion([one["number"] for one in shown], size)
        for one, path in zip(shown, paths, strict=True):
            sent = {name: one[name] for name in ("number", "body", "salt", "data")}
            yield {**sent, "inclusion": path}


@dataclass(frozen=True)
class Made:
    folder: Path
    counts: dict[str, int]
    texts: bool


def make(
    task: Task,
    folder: Path,
    *,
    texts: bool | None = None,
    key: bytes | None = None,
    parquet: bool = False,
    tell: Tell = lambda done, of: None,
    notes: Notes | None = None,
) -> Made:
    """Write the release into an empty or new folder, row by row.

    Parameters
    ----------
    texts : bool, optional
        Whether inputs, references and predictions are included; by default as the task's
        license allows. Hidden references never are.
    key : bytes, optional
        For the workers' pseudonyms; by default a new one that is not stored.
    parquet : bool, optional
        Whether each table is also written as Parquet.
    tell : callable, optional
        Called after each system of each long table, and before long steps; may raise
        `Later` to leave the rest to another job.
    notes : Notes, optional
        The progress of earlier jobs. With the same notes and folder, an interrupted
        release is continued.
    """
    notes = notes or Notes()
    if "state" not in notes.kept:
        check_settled(task)
    if not notes.begun:
        _prepare(folder)
    # one key for the whole release: a worker has the same pseudonym in all its tables
    made_with = notes.once("key", lambda: (key or secrets.token_bytes(32)).hex())
    names = Pseudonyms(
        bytes.fromhex(made_with), unnamed_workers() if task.imported else ()
    )
    wanted = may_be_copied(task.licence) if texts is None else texts
    texts = notes.once("texts", lambda: wanted)
    state_then = notes.once("state", partial(_state_now, task))
    tables = Tables(task, folder, names, tell, notes, texts=texts)
    shows_sample = state_then[-1]
    if not shows_sample:
        tables.number_instances()
    fits = notes.once("fits", tables.write_test_questions)
    tables.write_systems_together()
    tables.write_systems()
    tables.write_texts(shows_sample=shows_sample)
    tables.write_judges(shows_sample=shows_sample)
    if _state_now(task) != state_then:
        raise scored_again()

    def describe() -> None:
        counts = tables.counts
        manifest = _manifest(task, fits, counts, texts=texts, shows_sample=shows_sample)
        bundle.write_manifest(folder, manifest)
        text = card(task, manifest, parquet=parquet)
        (folder / bundle.CARD).write_text(text, "utf-8")

    notes.once("described", describe)
    if parquet:
        tables.tell_all()
        notes.once("parquet", partial(write_parquet, folder, tables.columns.items()))
    tables.tell_all()
    notes.once("log", partial(write, folder, task))
    notes.once("croissant", partial(croissant.write, folder))
    notes.once("checksums", partial(bundle.write_checksums, folder))
    notes.once("logged", partial(log_release, folder, task))
    return Made(folder, tables.counts, texts)


def _state_now(task: Task) -> list[Any]:
    """Return the state that must not change during the work.

    These are the scores of the board, which are never overwritten, the fit that has
    their weights, and whether it is public which instances are rated.
    """
    scores = list(board_scores(task).values_list("pk", flat=True))
    return [scores, getattr(current_fit(task), "pk", None), sample_is_public(task)]


def pack(folders: Sequence[Path], archive: Path) -> None:
    # the lowest level: several times as fast, for archives hardly larger
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for folder in folders:
            for path in sorted(folder.iterdir()):
                packed.write(path, f"{folder.name}/{path.name}")


def _prepare(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise GenieError(
            f"{folder} already exists. Choose a new or empty folder.",
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
        # the source of imported ratings, and missing details
        "imported": note_of(task) or None,
        "source_language": task.source_language,
        "target_language": task.target_language,
        "source_field": task.source_field,
        "hidden_references": task.hidden_references,
        "texts": texts,
        "ranked_by": main_criterion(task),
        "whole_share": whole_share(),
        # earlier releases did not rank scores that had lost ratings
        "ranks_provisional": True,
        "estimate": task.human.estimate,
        "ranks": task.human.ranks,
        "raters": task.human.population,
        "estimates_seed": estimates_seed(task),
        # if judges help to rank; their predictions would identify the drawn instances
        "ranked_with_judges": is_judged(task),
        "forecasts": public_forecasts(task) if shows_sample else None,
        "sample_seed": str(task.sample_seed) if shows_sample else None,
        "config": task.public_config,
        "detectors": fits,
        "code_version": settings.VERSION,
        "made_at": f"{timezone.now():%Y-%m-%dT%H:%M:%SZ}",
        "counts": counts,
    }
