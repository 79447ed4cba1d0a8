"""Decode a stranger's bytes, never holding more than the limit in memory."""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from leaderboard.submissions.readers.problem import Refused, refuse

_CHUNK = 1 << 16
_GZIP = b"\x1f\x8b"
# Real texts pack 3 to 30 times smaller; gzip can reach 1,030.
_MAX_RATIO = 200
_FREE_BYTES = 1 << 20

_MAGIC = {
    b"PK\x03\x04": "a zip archive (or an Office document)",
    b"PK\x05\x06": "an empty zip archive",
    b"%PDF": "a PDF",
    b"\xfd7zXZ": "compressed with xz",
    b"BZh": "compressed with bzip2",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"7z\xbc\xaf": "a 7z archive",
    b"\xff\xfe": "in UTF-16 or UTF-32",
    b"\xfe\xff": "in UTF-16",
    _GZIP: "compressed with gzip twice",
}


@dataclass(frozen=True)
class Intake:
    """The text of a file, without byte order mark, and its size and packing."""

    text: str
    n_bytes: int
    gzipped: bool


def take_in(stream: BinaryIO, max_bytes: int) -> Intake:
    r"""Read, unpack and decode a file.

    Parameters
    ----------
    stream : binary file
        Plain or gzip, from its position to its end.
    max_bytes : int
        Limit for the file and for its unpacked content.

    Raises
    ------
    Refused
        With one problem: ``too-large``, ``gzip-bomb``, ``gzip-damaged``,
        ``not-a-text-file``, ``not-utf8`` or ``empty-file``.

    Examples
    --------
    >>> import io
    >>> take_in(io.BytesIO(b"\xef\xbb\xbf{}"), 100)
    Intake(text='{}', n_bytes=5, gzipped=False)
    """
    head = stream.read(_CHUNK)
    gzipped = head.startswith(_GZIP)
    chunks = _limited(_chunks(head, stream), max_bytes, "The file is")
    if gzipped:
        chunks = _limited(_unpacked(chunks), max_bytes, "The file decompresses to")
    decoder = _Decoder()
    text = "".join([decoder.feed(chunk) for chunk in chunks]) + decoder.end()
    text = text.removeprefix("\ufeff")
    if not text or text.isspace():
        raise refuse("empty-file", "The file is empty.")
    return Intake(text, decoder.n_bytes, gzipped)


def _chunks(head: bytes, stream: BinaryIO) -> Iterator[bytes]:
    while head:
        yield head
        head = stream.read(_CHUNK)


def _limited(chunks: Iterator[bytes], max_bytes: int, subject: str) -> Iterator[bytes]:
    n_bytes = 0
    for chunk in chunks:
        n_bytes += len(chunk)
        if n_bytes > max_bytes:
            raise refuse(
                "too-large",
                f"{subject} larger than {max_bytes:,} bytes, the maximum size."
                if subject.endswith("is")
                else f"{subject} more than {max_bytes:,} bytes, the maximum size.",
            )
        yield chunk


def _unpacked(chunks: Iterator[bytes]) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(wbits=31)
    n_in = n_out = 0
    for chunk in chunks:
        n_in += len(chunk)
        while chunk:
            if unpacker.eof:  # a file may be several gzip files in a row
                unpacker = zlib.decompressobj(wbits=31)
            try:
                out = unpacker.decompress(chunk, _CHUNK)
            except zlib.error as error:
                raise _damaged(str(error)) from None
            n_out += len(out)
            # checked after every chunk, before more is unpacked; small files may have
            # high
            # ratios
            if n_out > _FREE_BYTES + _MAX_RATIO * n_in:
                raise refuse(
                    "gzip-bomb",
                    f"The gzip file decompresses to more than {_MAX_RATIO} times "
                    "its size, which is unusual for text; submit it "
                    "uncompressed.",
                )
            if out:
                yield out
            chunk = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
            if not out and not chunk:
                break
    yield from _flushed(unpacker)


def _flushed(unpacker: zlib._Decompress) -> Iterator[bytes]:
    try:
        out = unpacker.flush()
    except zlib.error as error:  # pragma: no cover - zlib reports it while unpacking
        raise _damaged(str(error)) from None
    if out:
        yield out
    if not unpacker.eof:
        raise _damaged("it ends too early")


def _damaged(reason: str) -> Refused:
    return refuse(
        "gzip-damaged",
        f"The gzip file is damaged: {reason}; compress and upload it again.",
    )


class _Decoder:
    """Strict UTF-8 decoder; its error has line and offset of the first invalid byte."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._line = 1
        self.n_bytes = 0

    def feed(self, chunk: bytes, *, final: bool = False) -> str:
        if self.n_bytes == 0:
            _refuse_magic(chunk)
        pending = self._decoder.getstate()[0]
        try:
            text = self._decoder.decode(chunk, final)
        except UnicodeDecodeError as error:
            line = self._line + error.object[: error.start].count(b"\n")
            offset = self.n_bytes - len(pending) + error.start
            raise refuse(
                "not-utf8",
                f"The file is not UTF-8: line {line:,} has an invalid byte "
                f"(0x{error.object[error.start]:02x}, at offset {offset:,}); "
                "save it as UTF-8.",
                line=line,
                offset=offset,
            ) from None
        self.n_bytes += len(chunk)
        self._line += text.count("\n")
        return text

    def end(self) -> str:
        return self.feed(b"", final=True) if self.n_bytes else ""


def _refuse_magic(head: bytes) -> None:
    for magic, kind in _MAGIC.items():
        if head.startswith(magic):
            raise refuse(
                "not-a-text-file",
                f"The file is {kind}; submit UTF-8 text, plain or compressed "
                "with gzip.",
            )


# Characters that are forbidden in predictions.

# C0 controls and DEL; tab and the two line ends are ordinary white space.
_CONTROL = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f"
# They make a text look different from its content, to workers and on boards.
_BIDI = "\u202a-\u202e\u2066-\u2069"
_SURROGATE = "\ud800-\udfff"

_FORBIDDEN = re.compile(f"[{_CONTROL}{_BIDI}{_SURROGATE}]")
_RAW_CONTROL = re.compile(f"[{_CONTROL}]")

# code -> (one of them, several of them, the rest of the sentence)
MESSAGES = {
    "control-character": (
        "1 prediction contains",
        "{count} predictions contain",
        "control characters: {named}; remove them.",
    ),
    "bidi-character": (
        "1 prediction contains",
        "{count} predictions contain",
        "characters that reorder text (bidirectional overrides or isolates): {named}; "
        "remove them.",
    ),
    "lone-surrogate": (
        "1 prediction contains",
        "{count} predictions contain",
        "an unpaired surrogate, which is not a character: {named}; write the "
        "whole character.",
    ),
}


class Finding(NamedTuple):
    """A forbidden character: its kind, and its name."""

    code: str
    character: str


def forbidden(text: str) -> Finding | None:
    r"""Return the first forbidden character of a prediction."""
    match = _FORBIDDEN.search(text)
    if match is None:
        return None
    point = ord(match[0])
    if point < 0x80:
        code = "control-character"
    else:
        code = "lone-surrogate" if 0xD800 <= point <= 0xDFFF else "bidi-character"
    return Finding(code, f"U+{point:04X}")


def raw_controls(text: str) -> Iterator[tuple[int, str]]:
    r"""Yield line (from 1) and name of control characters that are not escaped.

    Examples
    --------
    >>> list(raw_controls("a\nb\x00"))
    [(2, 'U+0000')]
    """
    line, position = 1, 0
    for match in _RAW_CONTROL.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        yield line, f"U+{ord(match[0]):04X}"
