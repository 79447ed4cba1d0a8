"""A backup as one file: a compressed tar whose last member lists the others with sums.

It is written and read once from front to end, in constant memory, so it may be larger
than memory and can be checked whole before it is used.
"""

import hashlib
import io
import json
import os
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

from genie.lib.errors import GenieError

FORMAT = 2
_MANIFEST = "manifest.json"
# Most of a backup is text, so the lowest compression already saves nearly all.
_COMPRESSION = 1
_LARGEST_MANIFEST = 1 << 28
_CHUNK = 1 << 20


class BackupProblem(GenieError):
    """A backup that cannot be created, read or restored; the message says why."""

    code = "backup"


class _Summed:
    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        chunk = self._stream.read(size)
        self.digest.update(chunk)
        return chunk


class Writer:
    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self.files: dict[str, dict[str, Any]] = {}

    def add(self, name: str, stream: IO[bytes], size: int) -> None:
        summed = _Summed(stream)
        self._tar.addfile(_member(name, size), summed)
        self.files[name] = {"bytes": size, "sha256": summed.digest.hexdigest()}

    def finish(self, facts: dict[str, Any]) -> None:
        manifest = {"format": FORMAT, **facts, "files": self.files}
        text = json.dumps(manifest, indent=1, sort_keys=True).encode()
        self._tar.addfile(_member(_MANIFEST, len(text)), io.BytesIO(text))


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o600
    return member


@contextmanager
def open_writer(path: Path) -> Iterator[Writer]:
    """Write a new backup; the file gets its name only when it is complete."""
    if path.exists():
        raise BackupProblem(f"{path} already exists. A backup never overwrites a file.")
    part = path.with_name(f"{path.name}.part")
    # It holds everyone's data.
    number = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(number, "wb") as file:
            with tarfile.open(
                fileobj=file, mode="w:gz", compresslevel=_COMPRESSION
            ) as tar:
                yield Writer(tar)
            file.flush()
            os.fsync(file.fileno())
        part.rename(path)
    finally:
        part.unlink(missing_ok=True)


def members(path: Path) -> Iterator[tuple[str, IO[bytes], int]]:
    with tarfile.open(path, mode="r|gz") as tar:
        for member in tar:
            stream = tar.extractfile(member) if member.isreg() else None
            if stream is None or not _is_harmless(member.name):
                raise BackupProblem(
                    f"{path} holds {member.name!r}, which is not part of a Genie "
                    "backup."
                )
            yield member.name, stream, member.size


def checked_manifest(path: Path) -> dict[str, Any]:
    """Read a whole backup and compare every member with the list; return the list."""
    try:
        found, manifest = _read(path)
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise BackupProblem(
            f"{path} cannot be read as a backup: "
            f"{getattr(error, 'strerror', None) or error}."
        ) from error
    if manifest is None:
        raise BackupProblem(f"{path} is incomplete: its list of files is missing.")
    listed = manifest["files"]
    wrong = sorted(n for n in {*listed, *found} if listed.get(n) != found.get(n))
    if wrong:
        raise BackupProblem(
            f"{path} is damaged: {len(wrong)} of its files have changed, the first "
            f"being {wrong[0]}."
        )
    return manifest


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any] | None]:
    found: dict[str, Any] = {}
    manifest = None
    for name, stream, size in members(path):
        if name == _MANIFEST and size <= _LARGEST_MANIFEST:
            manifest = _parse_manifest(path, stream.read())
            continue
        summed = _Summed(stream)
        while summed.read(_CHUNK):
            pass
        found[name] = {"bytes": size, "sha256": summed.digest.hexdigest()}
    return found, manifest


def _parse_manifest(path: Path, text: bytes) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads(text)
        known = manifest["format"]
        if not isinstance(manifest["files"], dict):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BackupProblem(f"{path} is not a backup of Genie.") from error
    if known != FORMAT:
        raise BackupProblem(
            f"{path} has the backup format {known}. This version of Genie reads "
            f"format {FORMAT}."
        )
    return manifest


def _is_harmless(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts
