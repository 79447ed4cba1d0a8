"""Files of any common format: opened, unpacked and decoded, with their problems."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, TextIO

from genie.lib.errors import GenieError

Opener = Callable[[], BinaryIO]
STREAM = Path("-")
GZIP = b"\x1f\x8b"
ZIP = (b"PK\x03\x04", b"PK\x05\x06")
# Files that are no tables, by their first bytes in small letters, and what to do.
_FOREIGN = {
    "a PDF; save the table as CSV": (b"%pdf",),
    "a picture, not a table": (b"\x89png", b"\xff\xd8\xff"),
    "a web page; save the table in it as CSV": (b"<!doctype html", b"<html"),
    "packed; unpack it first": (b"bzh", b"\xfd7zxz", b"7z\xbc\xaf", b"(\xb5/\xfd"),
    "an old Excel file, or one with a password; save it as CSV": (b"\xd0\xcf\x11\xe0",),
}
# The longer marks first: UTF-32's begins like UTF-16's.
_MARKS = dict.fromkeys((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "utf-32")
_MARKS |= dict.fromkeys((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "utf-16")
_DAMAGED = (zlib.error, EOFError, OSError, RuntimeError, ValueError)


@cache  # files are opened several times
def _standard_input() -> bytes:
    return sys.stdin.buffer.read()


def open_file(path: Path) -> BinaryIO:
    """Open a file, or standard input for -; raise "unreadable-file"."""
    try:
        return io.BytesIO(_standard_input()) if path == STREAM else path.open("rb")
    except OSError as error:
        raise GenieError(
            f"{path} cannot be read: {error.strerror}.", code="unreadable-file"
        ) from error


def read_file(path: Path) -> str:
    """Read a text, from standard input for -; raise "unreadable-file"."""
    with open_file(path) as file:
        try:
            return file.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            message = f"{path} is not UTF-8 text."
            raise GenieError(message, code="unreadable-file") from error


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

    `code` is the stable name of its kind, and `message` a sentence without its full stop:
    the problem and what to do. What a `fatal` problem concerns is not used.
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
    cut = text if len(text) <= 60 else text[:59] + "…"
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in cut)


@dataclass(frozen=True)
class File:
    """One file, unpacked while it is read.

    `name` is its path in its folder or archive; `stream` opens it, packed or not. Of a
    workbook with several sheets, only `sheet` is read.
    """

    name: str
    stream: Opener
    limits: Limits = Limits()
    sheet: str = ""

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name.lower().removesuffix(".gz")).suffix

    def open(self) -> Any:
        stream = self.stream()
        start = stream.tell()
        packed = stream.read(2) == GZIP
        stream.seek(start)
        unpacked: Any = gzip.GzipFile(fileobj=stream) if packed else stream
        if packed:
            unpacked.myfileobj = stream  # is closed with it
        return unpacked

    def head(self) -> bytes:
        with self.open() as stream:
            return bytes(stream.read(1 << 16))

    @contextmanager
    def text(self, newline: str = "") -> Iterator[TextIO]:
        """Open the file as text; lines end at any line end, or only at `newline`."""
        head = self.head()
        start = head.lstrip()[:20].lower()
        if kind := next((k for k, m in _FOREIGN.items() if start.startswith(m)), ""):
            raise refuse("not-a-table", f"the file is {kind}", self.name)
        if not head.strip(b" \t\r\n\xef\xbb\xbf"):
            raise refuse("empty-file", "the file is empty", self.name)
        code = next((e for m, e in _MARKS.items() if head.startswith(m)), "utf-8-sig")
        if b"\0" in head and code == "utf-8-sig":
            message = "this is not text (it contains a NUL character); save it as UTF-8"
            line = head.count(b"\n", 0, head.index(b"\0")) + 1
            raise refuse("not-text", message, self.name, f"line {line:,}")
        stream, kind = self.open(), code.removesuffix("-sig").upper()
        with io.TextIOWrapper(stream, code, newline=newline) as text:
            try:
                yield text
            except UnicodeDecodeError as error:
                at = stream.tell() - len(error.object) + error.start
                message = (
                    f"the byte 0x{error.object[error.start]:02x} is not {kind}; save the "
                    "file as UTF-8 (in a spreadsheet: CSV UTF-8)"
                )
                with self.open() as again:
                    place = f"line {again.read(at).count(10) + 1:,}"
                raise refuse("not-utf-8", message, self.name, place) from error

    def lines(self) -> Iterator[str]:
        with self.text() as text:
            yield from text

    def texts(self) -> Iterator[str]:
        """Yield lines that are texts: cut at line feeds only, without their ends."""
        with self.text("\n") as text:
            yield from (line.rstrip("\r\n") for line in text)


class _Again(io.BufferedReader):
    """A stream that its owner closes, read again from where it was."""

    closed = False

    def __init__(self, stream: Any, start: int) -> None:
        stream.seek(start)
        super().__init__(stream)

    def close(self) -> None:
        self.closed = True


def receive(name: str, stream: BinaryIO, limits: Limits | None = None) -> File:
    """Return the only file of an upload, from its position, without holding it."""
    return only_file(name, partial(_Again, stream, stream.tell()), limits)


def only_file(name: str, stream: Opener, limits: Limits | None = None) -> File:
    """Return a file, or the only one of an archive; raises "several-files"."""
    file, *others = unpack(name, stream, limits)
    if others:
        names = ", ".join(
            printable(one.sheet or one.name) for one in [file, *others][:5]
        )
        message = f"it holds several files or sheets ({names}); keep one"
        raise refuse("several-files", message, name)
    return file


def unpack(name: str, stream: Opener, limits: Limits | None = None) -> Iterator[File]:
    """Yield a file, the files of an archive, or the filled sheets of a workbook."""
    file = File(name, stream, limits or Limits())
    most = file.limits
    try:
        with file.open() as opened:
            start = opened.tell()
            is_zip = opened.read(4).startswith(ZIP)
            opened.seek(start + most.n_bytes)
            message = f"it has over {most.n_bytes:,} bytes or {most.n_files:,} files"
            too_large = refuse("too-large", f"{message}; split or unpack it", name)
            if opened.read(1):
                raise too_large
            if not is_zip:
                yield file
                return
            packed = zipfile.ZipFile(opened)
            inside = packed.infolist()
            n_bytes = sum(one.file_size for one in inside)
            is_book = "xl/workbook.xml" in packed.namelist()
            if n_bytes > most.n_bytes or (len(inside) > most.n_files and not is_book):
                raise too_large
            for one in () if is_book else inside:
                # macOS adds files
                if not one.is_dir() and not one.filename.startswith("__MACOSX/"):
                    data = partial(io.BytesIO, packed.read(one))
                    # archives within archives could unpack to any size
                    yield from unpack(one.filename, data, replace(most, n_files=0))
        if is_book:
            names, path = [*sheets(file)], PurePosixPath(name).with_suffix("")
            by_sheet = [replace(file, name=f"{path}/{s}.xlsx", sheet=s) for s in names]
            yield from by_sheet if names[1:] else [file]
    except (zipfile.BadZipFile, *_DAMAGED) as error:
        message = f"the archive or workbook is damaged ({error}); upload it again"
        raise refuse("damaged-file", message, name) from error


def sheets(file: File) -> dict[str, Any]:
    """Return the visible sheets of a workbook that hold something, by name."""
    import python_calamine as calamine  # missing in a process with limits

    visible = calamine.SheetVisibleEnum.Visible
    try:
        with file.open() as stream:
            book = calamine.load_workbook(io.BytesIO(stream.read()))
        names = [one.name for one in book.sheets_metadata if one.visible == visible]
        found = {s: book.get_sheet_by_name(s) for s in names if file.sheet in ("", s)}
    except calamine.CalamineError as error:
        raise zipfile.BadZipFile(str(error)) from error
    return {name: one for name, one in found.items() if one.height}
