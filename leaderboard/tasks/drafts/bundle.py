"""A task to exchange: a folder or a zip file with task.toml and its data."""

import io
import json
import re
import stat
import tomllib
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from genie.lib.errors import GenieError
from leaderboard.files import open_file

# Write a document as TOML: the same document gives the same bytes.
_BARE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


def toml_of(document: Mapping[str, object]) -> str:
    """Return a document as TOML; tables keep their order.

    The document has texts, numbers, truth values, lists of them, and tables.
    """
    return "\n".join(_table(document, ())).lstrip("\n") + "\n"


def _table(table: Mapping[str, object], path: tuple[str, ...]) -> list[str]:
    plain = {k: v for k, v in table.items() if not isinstance(v, Mapping)}
    below = {k: v for k, v in table.items() if isinstance(v, Mapping)}
    lines = []
    # A table that holds only tables needs no header; an empty one does.
    if path and (plain or not below):
        lines += ["", f"[{'.'.join(map(_key, path))}]"]
    lines += [f"{_key(name)} = {_value(value)}" for name, value in plain.items()]
    for name, value in below.items():
        lines += _table(value, (*path, name))
    return lines


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _quote(name)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(entry) for entry in value)}]"
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items())
        return f"{{{pairs}}}"
    return _text(str(value))


def _text(text: str) -> str:
    """Return a text as TOML; several lines are written as a multi-line string.

    Examples
    --------
    >>> print(_text("one"))
    "one"
    """
    quoted = _quote(text)
    if "\n" not in text or "\r" in text:
        return quoted
    inner = quoted[1:-1].replace("\\\\", "\0").replace("\\n", "\n")
    return f'"""\n{inner.replace(chr(0), chr(92) * 2)}"""'


def _quote(text: str) -> str:
    # JSON escapes everything that TOML requires, except the character DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


DEFINITION, DATA = "task.toml", "test.jsonl"
SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
MOST_BYTES = 128 << 20
MOST_FILES = 200
_MAX_RATIO = 300
_FREE_BYTES = 4 << 20
_CHUNK = 1 << 16
# The earliest time in a zip file, so that the same files give the same bytes.
_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Bundle:
    slug: str
    document: Mapping[str, object]
    files: Mapping[str, bytes]

    def to_zip(self) -> bytes:
        """Pack the bundle; the same files give the same bytes."""
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(self.files):
                info = zipfile.ZipInfo(f"{self.slug}/{path}", _TIME)
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = (stat.S_IFREG | 0o644) << 16
                archive.writestr(info, self.files[path], compresslevel=6)
        return out.getvalue()

    def write(self, folder: Path) -> Path:
        """Write the bundle to a .zip, or to a folder named by its slug within `folder`."""
        if folder.suffix == ".zip":
            folder.write_bytes(self.to_zip())
            return folder
        home = folder / self.slug
        for path, data in self.files.items():
            target = home / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        return home


def bundle_of(
    document: Mapping[str, object],
    rows: Iterable[tuple[str, Mapping[str, str], Sequence[str]]],
) -> Bundle:
    r"""Create a bundle of a definition and its instances.

    `document` is the parsed task.toml; each row has id, fields and references.
    """
    lines = [
        json.dumps(
            {"id": key, "fields": dict(fields), "references": list(references)},
            ensure_ascii=False,
        )
        for key, fields, references in rows
    ]
    files = {
        DEFINITION: toml_of(document).encode(),
        DATA: "".join(f"{line}\n" for line in lines).encode(),
    }
    return Bundle(_slug_of(document), document, files)


def open_bundle(path: Path) -> Bundle:
    """Read a bundle from a folder or a zip file.

    Raises ``unreadable-file`` or ``bad-bundle``.
    """
    if path.is_dir():
        return _of_files(dict(_folder(path)))
    with open_file(path) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise _bad(f"it is larger than {MOST_BYTES >> 20} MB")
    return unpack_bundle(data)


def unpack_bundle(data: bytes) -> Bundle:
    """Read a bundle from the bytes of a zip file.

    No file is written: whatever paths the archive has, its files stay in memory, within
    limits.

    Raises ``bad-bundle``: no zip, a path that leads outside, a link, too large, or no
    task.toml in it.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _of_files(_unpack_files(archive))
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise _bad("it is no zip file, or a damaged one") from error
    except (RuntimeError, NotImplementedError, ValueError) as error:
        raise _bad("it cannot be unpacked; pack it without a password") from error


def _unpack_files(archive: zipfile.ZipFile) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    left = MOST_BYTES
    for info in archive.infolist():
        if info.is_dir():
            continue
        path = _safe(info.filename)
        if _is_hidden(path):
            continue
        if stat.S_IFMT(info.external_attr >> 16) not in {0, stat.S_IFREG}:
            raise _bad(f"{path} is a link or a device, not a file")
        if path in files:
            raise _bad(f"it has two files {path}")
        if len(files) >= MOST_FILES:
            raise _bad(f"it has more than {MOST_FILES} files")
        most = min(left, _FREE_BYTES + _MAX_RATIO * info.compress_size)
        files[path] = _member(archive, info, most)
        left -= len(files[path])
    return files


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    parts, n = [], 0
    with archive.open(info) as member:
        while chunk := member.read(_CHUNK):
            n += len(chunk)
            if n > most:
                raise _bad(f"{info.filename[:80]} unpacks to more than {most:,} bytes")
            parts.append(chunk)
    return b"".join(parts)


def _safe(name: str) -> str:
    path = PurePosixPath(name.replace("\\", "/"))
    parts = path.parts
    outside = path.is_absolute() or ".." in parts or ":" in name or not parts
    if outside or "\0" in name or len(name) > 300:
        raise _bad(f"the path {name[:80]!r} leads outside of it")
    if not name.isprintable():
        raise _bad(f"the path {name[:80]!r} cannot be written everywhere")
    return str(path)


def _is_hidden(path: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(path).parts)


def _folder(folder: Path) -> Iterable[tuple[str, bytes]]:
    total = 0
    paths = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not _is_hidden(path.relative_to(folder).as_posix())
    ]
    if len(paths) > MOST_FILES:
        raise _bad(f"it has more than {MOST_FILES} files")
    for path in paths:
        name = _safe(path.relative_to(folder).as_posix())
        if path.is_symlink() or not path.resolve().is_relative_to(folder.resolve()):
            raise _bad(f"{name} is a link, not a file")
        total += path.stat().st_size
        if total > MOST_BYTES:
            raise _bad(f"it is larger than {MOST_BYTES >> 20} MB")
        yield name, path.read_bytes()


def _of_files(files: Mapping[str, bytes]) -> Bundle:
    homes = [path for path in files if PurePosixPath(path).name == DEFINITION]
    if len(homes) != 1:
        what = "no task.toml" if not homes else "more than one task.toml"
        raise _bad(f"there is {what} in it")
    home = homes[0].removesuffix(DEFINITION)
    inside = {
        path.removeprefix(home): data
        for path, data in files.items()
        if path.startswith(home)
    }
    try:
        document = tomllib.loads(inside[DEFINITION].decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _bad(f"its task.toml cannot be read: {error}") from error
    return Bundle(_slug_of(document), document, inside)


def _slug_of(document: Mapping[str, object]) -> str:
    slug = document.get("slug")
    if not isinstance(slug, str) or not SLUG.fullmatch(slug) or len(slug) > 100:
        raise _bad(
            f"its slug {str(slug)[:80]!r} must be lower-case letters and digits, with "
            "hyphens between them"
        )
    return slug


def _bad(reason: str) -> GenieError:
    return GenieError(f"The bundle cannot be used: {reason}.", code="bad-bundle")
