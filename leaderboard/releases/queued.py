"""Releases made by jobs: requested, made, canceled, retried, kept for a while."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.files import File, locks
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from genie.lib import jobs
from genie.lib.formats import available
from genie.lib.queue.pieces import Later
from genie.lib.runner import LostRace, Runner
from leaderboard.releases.bundle import Notes
from leaderboard.releases.make import make, pack
from leaderboard.releases.models import Release
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    from django.db.models import QuerySet

State = Release.State
UNDER_WAY = (State.WAITING, State.RUNNING)
RUNNER = Runner(
    Release,
    "leaderboard.jobs.make_release",
    states=UNDER_WAY,
    failed=State.FAILED,
    pauses=[],
)
# After this time the rest is left to the next job: the queue ends a job after ten
# minutes, and others wait for their turn. The longest step, packing, begins before
# that.
PIECE_SECONDS = 120
# Archives kept per task, the newest ones; the rows of older ones stay.
KEPT = 3
# Interval of progress updates in the database, in seconds.
_TELL_EVERY = 2.0


@transaction.atomic
def request(task: Task, by: int | None = None) -> Release:
    """Queue a release, unless one is under way."""
    Task.objects.select_for_update().get(pk=task.pk)
    if row := Release.objects.filter(task=task, state__in=UNDER_WAY).first():
        return row
    row = Release.objects.create(task=task, requested_by_id=by)
    jobs.enqueue(RUNNER.job, pk=row.pk)
    return row


def cancel(row: Release) -> bool:
    """Cancel a release; a running job stops within seconds."""
    return _turn(row.pk, UNDER_WAY, State.CANCELLED, finished_at=timezone.now())


@transaction.atomic
def retry(row: Release) -> bool:
    # a new round: a process that has not noticed its cancellation yet writes into a
    # folder that is ignored, and its attempt is over
    again = {"round": F("round") + 1, "n_starts": F("n_starts") + 1}
    ended = Release.objects.filter(pk=row.pk, state__in=[State.FAILED, State.CANCELLED])
    if not RUNNER.retry(ended, n_done=0, finished_at=None, **again):
        return False
    jobs.enqueue(RUNNER.job, pk=row.pk)
    return True


def remove(row: Release) -> bool:
    """Delete an archive; its row and checksum stay."""
    if not _turn(row.pk, [State.DONE], State.REMOVED, file=""):
        return False
    transaction.on_commit(partial(row.file.delete, save=False))
    return True


def work(pk: int) -> None:
    row = Release.objects.select_related("task").filter(pk=pk).first()
    if row is None:  # deleted with its task
        return
    folder = _folder() / f"{pk}-{row.round}"
    going_on = Release.objects.filter(pk=pk, round=row.round, state__in=UNDER_WAY)
    with _alone(folder) as alone:
        if not alone:  # a duplicate job leaves it to the running process
            return
        done = RUNNER.run(pk, partial(_make, folder))
        failed = Release.objects.filter(pk=pk, state=State.FAILED, finished_at=None)
        if failed.update(finished_at=timezone.now()):
            _sweep_archives(row, row.n_starts + 1)
        # not if its process is killed: the next one continues from there
        if not going_on.exists():
            shutil.rmtree(folder, ignore_errors=True)
    if done and going_on.exists():
        jobs.enqueue(RUNNER.job, pk=pk)


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Lock the folder, and yield whether that worked; the lock ends with the process."""
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("wb") as file:
        yield locks.lock(file, locks.LOCK_EX | locks.LOCK_NB)


def _make(folder: Path, mine: QuerySet[Release]) -> None:
    mine.update(state=State.RUNNING)
    row = mine.select_related("task").get()
    notes = Notes(folder / "notes.json")
    begun, told = time.monotonic(), 0.0

    def tell(done: int, of: int) -> None:
        nonlocal told
        now = time.monotonic()
        if now - begun > PIECE_SECONDS:
            raise Later
        if now - told < _TELL_EVERY:
            return
        told = now
        came_further = {"n_attempts": 0} if notes.n_saved else {}
        if not mine.update(n_done=done, n_all=of, **came_further):
            raise LostRace

    made = make(
        row.task, folder / row.task.slug, parquet=available(), tell=tell, notes=notes
    )
    _sweep_archives(row, row.n_starts - 1)
    archive = folder / "archive.zip"
    pack([made.folder], archive)
    with archive.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        row.file.save(_archive(row, row.n_starts), File(file), save=False)
    kept = mine.update(
        state=State.DONE,
        n_done=F("n_all"),
        file=row.file.name,
        sha256=digest,
        n_bytes=archive.stat().st_size,
        finished_at=timezone.now(),
    )
    if not kept:
        row.file.delete(save=False)
        raise LostRace
    done = Release.objects.filter(task=row.task, state=State.DONE)
    # not by key: an old one may have been retried just now
    for old in done.order_by("-finished_at", "-pk")[KEPT:]:
        remove(old)


def _turn(
    pk: int, old: tuple[str, ...] | list[str], new: str, **fields: object
) -> bool:
    rows = Release.objects.filter(pk=pk, state__in=old)
    return bool(rows.update(state=new, **fields))


def _folder() -> Path:
    """Return a folder on disk, because /tmp may be in memory."""
    folder: Path = settings.VAR_DIR / "releases"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _archive(row: Release, attempt: int) -> str:
    return f"{row.task.slug}-{row.pk}-{attempt}.zip"


def _sweep_archives(row: Release, until: int) -> None:
    """Delete archives of attempts that were killed before they could record them."""
    for attempt in range(1, until + 1):
        name = _archive(row, attempt)
        row.file.storage.delete(row.file.field.generate_filename(row, name))


def sweep_folders() -> None:
    """Delete abandoned files: of rounds that are over, here or on other machines."""
    there = [
        *_folder().iterdir()
    ]  # before the rows, which are older than their folders
    rows = Release.objects.filter(state__in=UNDER_WAY).values_list("pk", "round")
    going_on = {f"{pk}-{number}" for pk, number in rows}
    for left in there:
        if left.is_dir() and left.name not in going_on:
            with _alone(left) as alone:
                if alone:
                    shutil.rmtree(left, ignore_errors=True)
