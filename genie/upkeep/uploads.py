import hashlib
from collections.abc import Iterator
from typing import IO

from django.core.files import File
from django.core.files.storage import default_storage

_CHUNK = 1 << 20


def names(folder: str = "") -> Iterator[str]:
    """Yield the names of all files, folder by folder."""
    try:
        folders, files = default_storage.listdir(folder)
    except FileNotFoundError:  # there are no uploads yet
        return
    for name in sorted(files):
        yield f"{folder}/{name}" if folder else name
    for name in sorted(folders):
        yield from names(f"{folder}/{name}" if folder else name)


def any_there() -> bool:
    return next(names(), None) is not None


def sha256_of(name: str) -> str:
    with default_storage.open(name) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def put(name: str, stream: IO[bytes], size: int, sha256: str) -> None:
    """Store a file under exactly this name, unless the same one exists."""
    if default_storage.exists(name):
        if default_storage.size(name) == size and sha256_of(name) == sha256:
            return
        default_storage.delete(name)
    default_storage.save(name, File(stream, name))
