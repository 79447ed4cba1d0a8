"""Files of any common format: opened, unpacked and decoded, with their problems."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, TextIO, cast

from genie.lib.errors import GenieError

GZIP = b"\x1f\x8b"
ZIP = (b"PK\x03\x04", b"PK\x05\x06")
# Files that are no tables, by their first bytes, and what to do.
_FOREIGN = {
    b"\xd0\xcf\x11\xe0": "an Excel file of before 2007, or one with a password; save it "
    "as XLSX without a password, or as CSV",
    b"%PDF": "a PDF; save the table as CSV",
    b"BZh": "compressed with bzip2; unpack it first",
    b"\xfd7zXZ": "compressed with xz; unpack it first",
    b"7z\xbc\xaf": "a 7z archive; unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it first",
    b"SQLite format 3": "a database; save the table as CSV",
    b"\x89PNG": "a picture; a table is needed",
    b"\xff\xd8\xff": "a picture; a table is needed",
    b"<!doctype html": "a web page; save the table in it as CSV",
    b"<html": "a web page; save the table in it as CSV",
}
_MARKS = {
    # the longer marks first: UTF-32's begins like UTF-16's
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
_HEAD_BYTES = 1 << 16
# What zipfile raises beside its own error.
_DAMAGED = (EOFError, OSError, RuntimeError, ValueError)
_LONGEST = 60
_UNSHOWABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


@dataclass(frozen=True)
class Limits:
    """Limits of a file once unpacked, of one cell in characters, and of an archive."""

    n_bytes: int = 2_000_000_000
    n_rows: int = 20_000_000
    n_columns: int = 2_000
    n_characters: int = 10_000_000
    n_files: int = 2_000


@dataclass(frozen=True)
class Problem:
    """A problem of a file.

    `code` is the stable, hyphenated name of its kind, and `message` a sentence without
    its full stop: the problem and what to do. `place` is a row or cell in words, and
    `column` a column's name; each is empty if the problem concerns none. What a `fatal`
    problem concerns is not used.
    """

    code: str
    message: str
    file: str = ""
    place: str = ""
    column: str = ""
    fatal: bool = True

    def __str__(self) -> str:
        column = f"column “{printable(self.column)}”" if self.column else ""
        where = ", ".join(filter(None, (printable(self.file), self.place, column)))
        return f"{where}: {self.message}." if where else f"{self.message}."


class Unreadable(GenieError):
    """Stops the reading of a file that cannot be read further."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(" ".join(map(str, problems)), code=problems[0].code)
        self.problems = problems


def refuse(
    code: str, message: str, file: str, place: str = "", column: str = ""
) -> Unreadable:
    return Unreadable(Problem(code, message, file, place, column))


def printable(text: str) -> str:
    r"""Return a text from a stranger's file, safe to print on one line.

    It has at most 60 characters; those that cannot be shown are written as ``\u202e``.
    """
    cut = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return _UNSHOWABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", cut)


@dataclass(frozen=True)
class File:
    """One file, unpacked while it is read.

    `name` is its path in its folder or archive; `stream` opens it, packed or not.
    """

    name: str
    stream: Callable[[], BinaryIO]
    limits: Limits = Limits()

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name.lower().removesuffix(".gz")).suffix

    def open(self) -> BinaryIO:
        return cast("BinaryIO", io.BufferedReader(_Limited(self), _HEAD_BYTES))

    def head(self) -> bytes:
        with self.open() as stream:
            return stream.read(_HEAD_BYTES)

    @contextmanager
    def text(self, newline: str = "") -> Iterator[TextIO]:
        """Open the file as text, without a byte order mark.

        Lines end at any line end, or only at `newline`. Raises "not-a-table",
        "empty-file", "not-text" or "not-utf-8".
        """
        head = self.head()
        for magic, kind in _FOREIGN.items():
            if head.lstrip()[:20].lower().startswith(magic.lower()):
                raise refuse("not-a-table", f"the file is {kind}", self.name)
        if not head.strip(b" \t\r\n\xef\xbb\xbf"):
            raise refuse("empty-file", "the file is empty", self.name)
        encoding = next((e for mark, e in _MARKS.items() if head.startswith(mark)), "")
        if not encoding and b"\0" in head:
            line = head.count(b"\n", 0, head.index(b"\0")) + 1
            raise refuse(
                "not-text",
                "a character of number 0 stands here, so this is no text, or UTF-16 "
                "without its byte order mark; save it as UTF-8",
                self.name,
                f"line {line:,}",
            )
        encoding = encoding or "utf-8-sig"
        with io.TextIOWrapper(self.open(), encoding, newline=newline) as text:
            try:
                yield text
            except UnicodeError as error:
                raise self._not_utf_8(encoding) from error

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text, with their ends."""
        with self.text() as text:
            yield from text

    def texts(self) -> Iterator[str]:
        """Yield lines that are texts: cut at line feeds only, without their ends."""
        with self.text("\n") as text:
            yield from (line.rstrip("\r\n") for line in text)

    def _not_utf_8(self, encoding: str) -> Unreadable:
        if encoding.startswith("utf-8"):
            with self.open() as stream:
                for number, line in enumerate(stream, 1):
                    try:
                        line.decode("utf-8")
                    except UnicodeDecodeError as error:
                        message = (
                            f"the byte 0x{line[error.start]:02x} is not UTF-8; save the "
                            "file as UTF-8 (in a spreadsheet: CSV UTF-8)"
                        )
                        place = f"line {number:,}"
                        return refuse("not-utf-8", message, self.name, place)
        message = f"the file begins as {encoding.upper()} and is not; save it as UTF-8"
        return refuse("not-utf-8", message, self.name)


class _Limited(io.RawIOBase):
    def __init__(self, file: File) -> None:
        self._file, self._n = file, 0
        self._raw = self._stream = file.stream()
        packed = self._raw.read(2) == GZIP
        self._raw.seek(0)
        if packed:
            self._stream = cast("BinaryIO", gzip.GzipFile(fileobj=self._raw))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        name, most = self._file.name, self._file.limits.n_bytes
        try:
            data = self._stream.read(len(buffer))
        except (OSError, EOFError, zlib.error) as error:
            message = "the file is packed, and damaged or cut off; send it again"
            raise refuse("damaged-file", message, name) from error
        self._n += len(data)
        if self._n > most:
            message = f"the file has more than {most:,} bytes once unpacked; split it"
            raise refuse("too-large", message, name)
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        self._raw.close()
        super().close()


class _Again(io.RawIOBase):
    """A stream that its owner closes, read again from where it was."""

    def __init__(self, stream: BinaryIO, start: int) -> None:
        self._stream, self._start = stream, start
        stream.seek(start)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        at = offset if whence else offset + self._start
        return self._stream.seek(at, whence) - self._start


def receive(name: str, stream: BinaryIO, limits: Limits | None = None) -> File:
    """Return the only file of an upload, from its position, without holding it."""
    again = cast("Callable[[], BinaryIO]", partial(_Again, stream, stream.tell()))
    return only_file(name, again, limits)


def only_file(
    name: str, stream: Callable[[], BinaryIO], limits: Limits | None = None
) -> File:
    """Return a file, or the only one of an archive; raises "several-files"."""
    file, *others = islice(unpack(name, stream, limits), 2)
    if others:
        raise refuse("several-files", "it holds several files; unpack it", name)
    return file


def opener(path: Path) -> Callable[[], BinaryIO]:
    return lambda: path.open("rb")


def unpack(
    name: str, stream: Callable[[], BinaryIO], limits: Limits | None = None
) -> Iterator[File]:
    """Yield a file, or the files of a ZIP archive.

    Raises "damaged-file" or "too-large".
    """
    file = File(name, stream, limits or Limits())
    with stream() as opened:
        if not opened.read(4).startswith(ZIP):
            yield file
            return
        opened.seek(0)
        try:
            with zipfile.ZipFile(opened) as packed:
                inside, most = packed.infolist(), file.limits
                n_bytes = sum(one.file_size for one in inside)
                if len(inside) > most.n_files or n_bytes > most.n_bytes:
                    message = (
                        f"it holds more than {most.n_files:,} files or {most.n_bytes:,} "
                        "bytes; split it"
                    )
                    raise refuse("too-large", message, name)
                if "xl/workbook.xml" in packed.namelist():
                    yield file
                    return
                for one in inside:
                    # macOS adds files
                    if not one.is_dir() and not one.filename.startswith("__MACOSX/"):
                        data = partial(io.BytesIO, packed.read(one))
                        yield File(one.filename, data, most)
        except (zipfile.BadZipFile, zlib.error, *_DAMAGED) as error:
            message = f"the archive or workbook is damaged ({error}); send it again"
            raise refuse("damaged-file", message, name) from error
