"""Read an uploaded bundle at a bounded cost; this module needs no Django."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from genie.lib.bounded import LimitExceeded, Limits, call_bounded
from genie.lib.errors import GenieError
from leaderboard.tasks.drafts.bundle import DATA, Bundle, unpack_bundle
from leaderboard.tasks.readers import Release, read_release

READER = "demo-jsonl"
# Limits of a web process for one archive; it is read in a child process.
LIMITS = Limits(cpu_seconds=20, memory_bytes=1 << 30, wall_seconds=60)


@dataclass(frozen=True)
class Archive:
    """A bundle and its texts, or the error that stopped reading them."""

    bundle: Bundle
    release: Release | None = None
    problem: str = ""


def receive_archive(stream: IO[bytes]) -> Archive:
    """Read an archive in a child process.

    Raises ``bad-bundle``.
    """
    try:
        with TemporaryDirectory(prefix="genie-bundle-") as folder:
            found = call_bounded(read, stream, LIMITS, folder=folder)
    except LimitExceeded:
        found = (
            "The bundle cannot be used: reading it takes more time or memory than a "
            "allowed. Staff can load it with genie import-task."
        )
    if isinstance(found, str):
        raise GenieError(found, code="bad-bundle")
    return found


def read(stream: IO[bytes], folder: str) -> Archive | str:
    """Unpack an archive and read its texts in this process; return errors as a text."""
    try:
        bundle = unpack_bundle(stream.read())
    except GenieError as error:
        return error.message
    return texts_of(bundle, folder)


def texts_of(bundle: Bundle, folder: str) -> Archive:
    """Read a bundle's texts in the layout that its task.toml selects."""
    if DATA not in bundle.files:
        wrong = f"{DATA}: is missing; a bundle brings its texts along."
        return Archive(bundle, problem=wrong)
    release = release_table(bundle.document)
    options = release.get("options")
    try:
        texts = read_release(
            str(release.get("reader", READER)),
            _write_bundle(bundle, folder),
            options if isinstance(options, Mapping) else {},
        )
    except GenieError as error:
        return Archive(bundle, problem=error.message)
    return Archive(bundle, texts)


def release_table(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the [release] table of a task.toml; empty if there is none."""
    release = document.get("release")
    return dict(release) if isinstance(release, Mapping) else {}


def _write_bundle(bundle: Bundle, folder: str) -> Path:
    try:
        return bundle.write(Path(folder))
    except OSError as error:  # a name that is too long, or a file in place of a folder
        raise GenieError(
            f"The bundle cannot be used: its files cannot be written here "
            f"({error.strerror}).",
            code="bad-bundle",
        ) from error
