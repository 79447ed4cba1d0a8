"""A release in which anything was changed is refused in words, whatever its checksums say."""

import shutil

import hypothesis
import pytest
from django.core.management import CommandError, call_command
from hypothesis import strategies as st

from genie.lib.errors import GenieError
from leaderboard.releases import bundle
from leaderboard.releases.make import make
from leaderboard.releases.rebuilding.rebuild import rebuild
from tests.fuzz.changes import changed, examples
from tests.fuzz.readers import zipped
from tests.kept import kept
from tests.leaderboard.releases.test_releases_are_made_and_rebuilt import board_of


@pytest.mark.django_db
@pytest.mark.slow
def test_changed_releases_are_rebuilt_or_refused(tmp_path, team, submitter, settings):
    settings.GENIE = {**settings.GENIE, "DETECTOR": "rate-guarded-2"}
    task = kept("a released board", lambda: board_of(team, submitter))
    whole = make(task, tmp_path / "release").folder
    names = sorted(path.name for path in whole.glob("*.json*"))
    refusals = set()

    @examples(12)
    @hypothesis.given(st.data())
    def run(data):
        name = data.draw(st.sampled_from(names))
        folder = tmp_path / "changed"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(whole, folder)
        (folder / name).write_bytes(data.draw(changed((whole / name).read_bytes())))
        bundle.write_checksums(folder)  # whoever changes a file can do that as well
        try:
            rebuild(folder)
        except GenieError as refusal:
            refusals.add(refusal.code)

    run()
    assert refusals


@pytest.mark.parametrize("manifest", [b"[]", b"[" * 3_000, b'{"format": [1]}', b"\xff"])
def test_a_manifest_that_is_none_is_refused(tmp_path, manifest):
    (tmp_path / bundle.MANIFEST).write_bytes(manifest)
    bundle.write_checksums(tmp_path)
    with pytest.raises(GenieError):
        rebuild(tmp_path)


@pytest.mark.parametrize("checksums", [b"one-word\n", b"\xff  a\n", b"a  ../../b\n"])
def test_checksums_that_are_none_are_refused(tmp_path, checksums):
    (tmp_path / bundle.CHECKSUMS).write_bytes(checksums)
    with pytest.raises(GenieError, match="has been changed"):
        rebuild(tmp_path)


@pytest.mark.parametrize("at", [-60, 40])
def test_a_damaged_archive_is_refused(tmp_path, at):
    packed = bytearray(zipped({"a/release.json": bytes(range(256)) * 9}))
    packed[at] ^= 255
    (tmp_path / "r.zip").write_bytes(packed)
    with pytest.raises(CommandError):
        call_command("rebuild", tmp_path / "r.zip")
