"""Releases made by jobs: requested, made, canceled, retried, kept for a while."""

from __future__ import annotations

import hashlib
import logging
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
from genie.lib.errors import GenieError
from genie.lib.formats import available
from genie.lib.logs import one_line
from genie.lib.queue.pieces import Later
from leaderboard.releases.make import make, pack
from leaderboard.releases.models import Release
from leaderboard.releases.pieces import Notes
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    from django.db.models import QuerySet

logger = logging.getLogger(__name__)

State = Release.State
JOB = "leaderboard.jobs.make_release"
UNDER_WAY = (State.WAITING, State.RUNNING)
# How often a process may be killed without any progress.
MAX_ATTEMPTS = 3
# After this time the rest is left to the next job: the queue ends a job after ten
# minutes, and others wait for their turn. The longest step, packing, begins before
# that.
PIECE_SECONDS = 120
# Archives kept per task, the newest ones; the rows of older ones stay.
KEPT = 3
# Interval of progress updates in the database, in seconds.
_TELL_EVERY = 2.0
_CUT_OFF = (
    "Its process was killed at every attempt: not enough memory, disk or time. The "
    "command `release` has no time limit."
)


class _NotWanted(Exception):
    """The release was canceled, or another process works on it."""


@transaction.atomic
def request(task: Task, by: int | None = None) -> Release:
    """Queue a release, unless one is under way."""
    Task.objects.select_for_update().get(pk=task.pk)
    if row := Release.objects.filter(task=task, state__in=UNDER_WAY).first():
        return row
    row = Release.objects.create(task=task, requested_by_id=by)
    jobs.enqueue(JOB, pk=row.pk)
    return row


def cancel(row: Release) -> bool:
    """Cancel a release; a running job stops within seconds."""
    return _turn(row.pk, UNDER_WAY, State.CANCELLED, finished_at=timezone.now())


@transaction.atomic
def retry(row: Release) -> bool:
    # a new round: a process that has not noticed its cancellation yet writes into a
    # folder that is ignored
    again = {"round": F("round") + 1, "n_attempts": F("n_attempts") + 1}
    anew = {"n_stalled": 0, "n_done": 0, "failure": "", "finished_at": None}
    ended = (State.FAILED, State.CANCELLED)
    if not _turn(row.pk, ended, State.WAITING, **again, **anew):
        return False
    jobs.enqueue(JOB, pk=row.pk)
    return True


def remove(row: Release) -> bool:
    """Delete an archive; its row and checksum stay."""
    if not _turn(row.pk, [State.DONE], State.REMOVED, file=""):
        return False
    transaction.on_commit(partial(row.file.delete, save=False))
    return True


def queue_missing() -> int:
    """Queue waiting releases without a job: an external queue may have lost it."""
    _sweep()
    pks = Release.objects.filter(state__in=UNDER_WAY).values_list("pk", flat=True)
    return jobs.enqueue_missing((JOB, {"pk": pk}) for pk in pks)


def work(pk: int) -> None:
    row = Release.objects.select_related("task").filter(pk=pk).first()
    if row is None:  # deleted with its task
        return
    folder = _folder() / f"{pk}-{row.round}"
    with _alone(folder) as alone:
        # a duplicate job leaves it to the running process
        over = not alone or _work(row, folder)
    if not over:
        with transaction.atomic():
            if _mine(row).update(n_stalled=0):
                jobs.enqueue(JOB, pk=pk)


def _work(row: Release, folder: Path) -> bool:
    waiting = Release.objects.filter(
        pk=row.pk, state__in=UNDER_WAY, n_attempts=row.n_attempts
    )
    begun = waiting.filter(n_stalled__lt=MAX_ATTEMPTS).update(
        state=State.RUNNING,
        n_attempts=F("n_attempts") + 1,
        n_stalled=F("n_stalled") + 1,
    )
    try:
        if begun:
            row.n_attempts += 1
            _make(row, folder)
        elif waiting.update(
            state=State.FAILED, failure=_CUT_OFF, finished_at=timezone.now()
        ):
            _sweep_archives(row, row.n_attempts)
    except Later:
        return False
    except _NotWanted:
        logger.info("%s is not wanted any more", row)
    except GenieError as error:
        _fail(row, error.message)
    except Exception as error:
        logger.exception("%s failed", row)
        _fail(row, f"{type(error).__name__}: {one_line(error, 300)}")
    # not if its process is killed: the next one continues from there
    shutil.rmtree(folder, ignore_errors=True)
    return True


def _mine(row: Release) -> QuerySet[Release]:
    return Release.objects.filter(
        pk=row.pk, state=State.RUNNING, n_attempts=row.n_attempts
    )


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Lock the folder, and yield whether that worked; the lock ends with the process."""
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("wb") as file:
        yield locks.lock(file, locks.LOCK_EX | locks.LOCK_NB)


def _make(row: Release, folder: Path) -> None:
    mine = _mine(row)
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
        came_further = {"n_stalled": 0} if notes.n_saved else {}
        if not mine.update(n_done=done, n_all=of, **came_further):
            raise _NotWanted

    made = make(
        row.task,
        folder / row.task.slug,
        parquet=available(),
        tell=tell,
        notes=notes,
    )
    _sweep_archives(row, row.n_attempts - 1)
    archive = folder / "archive.zip"
    pack([made.folder], archive)
    with archive.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        row.file.save(_archive(row, row.n_attempts), File(file), save=False)
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
        raise _NotWanted
    done = Release.objects.filter(task=row.task, state=State.DONE)
    # not by key: an old one may have been retried just now
    for old in done.order_by("-finished_at", "-pk")[KEPT:]:
        remove(old)


def _fail(row: Release, sentence: str) -> None:
    _turn(
        row.pk,
        [State.RUNNING],
        State.FAILED,
        failure=sentence,
        finished_at=timezone.now(),
    )


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


def _sweep() -> None:
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
