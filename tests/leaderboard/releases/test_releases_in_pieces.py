"""A long release is made piece by piece, by processes that may be killed at any time."""

import io
import zipfile
from itertools import count

import pytest
from django.conf import settings

from crowd.models import Campaign
from genie.lib import jobs
from genie.lib.formats import available
from genie.lib.queue.pieces import Later
from leaderboard.models import Release
from leaderboard.releases import bundle, queued
from leaderboard.releases.make import make, pack
from tests.leaderboard.releases.test_releases_are_made_and_rebuilt import (
    genies_detector,  # noqa: F401
    rebuilt,
    task,  # noqa: F401
)

SAID_WHEN = {
    "manifest.json", "README.md", "croissant.json", bundle.CHECKSUMS, bundle.LOG
}  # fmt: skip


@pytest.mark.parametrize("judging", [False, True], ids=["ended", "being judged"])
def test_its_bytes_are_those_of_one_made_at_once(
    task,  # noqa: F811
    tmp_path,
    monkeypatch,
    judging,
):
    if judging:  # instances are numbered then, in a pass of its own
        Campaign.objects.filter(pool=task.slug).update(state="RUNNING")
    whole = make(task, tmp_path / task.slug, key=b"key")
    pieces = count(1)

    def one_system(task, folder, *, tell, notes, **_given):
        piece, told = next(pieces), count(1)

        def stop(done, of):
            tell(done, of)
            n = next(told)
            if done < of and piece % 2 and n == 1:
                raise Later
            if done < of and n == 2:
                # what the second system has by now is written, and not noted
                raise KeyboardInterrupt

        return make(task, folder, key=b"key", tell=stop, notes=notes)

    monkeypatch.setattr(queued, "make", one_system)
    monkeypatch.setattr("leaderboard.releases.bundle.NOTED_EVERY", 0)
    row = queued.request(task)
    while row.state in queued.UNDER_WAY:
        try:
            queued.work(row.pk)
        except KeyboardInterrupt:
            assert (queued._folder() / f"{row.pk}-0" / "notes.json").is_file()
        row.refresh_from_db()

    assert (row.state, row.failure, row.n_done) == ("DONE", "", row.n_all)
    assert row.n_starts == next(pieces) - 1 > 3
    assert not list(queued._folder().iterdir())
    pack([whole.folder], tmp_path / "whole.zip")
    with zipfile.ZipFile(tmp_path / "whole.zip") as then, row.file.open() as stored:
        now = zipfile.ZipFile(io.BytesIO(stored.read()))
        assert now.namelist() == then.namelist()
        for name in {*now.namelist()} - {f"{task.slug}/{n}" for n in SAID_WHEN}:
            assert now.read(name) == then.read(name), name
    numbered = b'"judged-' in (whole.folder / "judgments.jsonl").read_bytes()
    assert numbered == judging


def test_the_next_piece_is_queued_and_does_the_rest(task, monkeypatch):  # noqa: F811
    monkeypatch.setattr(queued, "PIECE_SECONDS", -1)
    row = queued.request(task)
    jobs.drain(lambda: Release.objects.get().n_starts)
    row.refresh_from_db()
    assert (row.state, row.n_starts, row.n_attempts) == ("RUNNING", 1, 0)
    assert (queued.RUNNER.job, (("pk", row.pk),)) in jobs.queued_jobs()
    with queued._alone(queued._folder() / f"{row.pk}-0"):
        queued.work(row.pk)  # the job comes twice: one process is at it already
    row.refresh_from_db()
    assert row.n_starts == 1
    elsewhere = queued._folder() / f"{row.pk}-7"
    elsewhere.mkdir()
    somebodys = queued._folder() / ".nfs0001"
    somebodys.touch()
    queued.sweep_folders()
    somebodys.unlink()
    assert [one.name for one in queued._folder().iterdir()] == [f"{row.pk}-0"]
    monkeypatch.undo()
    queued.work(row.pk)
    row.refresh_from_db()
    assert (row.state, row.n_starts) == ("DONE", 2)


def test_one_that_kills_its_process_at_the_same_place_is_given_up(
    task,  # noqa: F811
    monkeypatch,
):
    def kill(*_given):
        raise KeyboardInterrupt

    row = queued.request(task)
    monkeypatch.setattr(queued, "_TELL_EVERY", 0)  # however fast it is
    monkeypatch.setattr("leaderboard.releases.make.bundle.write_checksums", kill)
    # the first came as far as that, which counts as a beginning
    for _ in range(1 + 3):
        with pytest.raises(KeyboardInterrupt):
            queued.work(row.pk)
    queued.work(row.pk)
    assert Release.objects.get().state == "FAILED"
    assert not list((settings.VAR_DIR / "releases").iterdir())


@pytest.mark.skipif(not available(), reason="the extra [parquet] is not installed")
def test_its_parquet_is_rebuilt_alone(task, tmp_path):  # noqa: F811
    folder = make(task, tmp_path / "r", parquet=True).folder
    said = rebuilt(folder)
    assert rebuilt(folder, parquet=True) == said
    # one table without its JSONL is not taken for an empty one
    (folder / "judgments.jsonl").unlink()
    assert rebuilt(folder).splitlines()[1:] == said.splitlines()[1:]
    for path in folder.iterdir():
        if path.suffix in {".jsonl", ".csv"}:
            path.unlink()
    n = sum(1 for _ in folder.iterdir()) - 1
    assert rebuilt(folder).splitlines()[1:] == said.splitlines()[1:]
    assert rebuilt(folder).startswith(f"{n} files match")
