"""A file of ratings, plain or compressed."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genie.lib.errors import GenieError

if TYPE_CHECKING:
    import pandas as pd

# The limit on what a file of ratings unpacks to.
MOST_BYTES = 2_000_000_000
# Enough of a file to recognize its layout.
HEAD_BYTES = 65_536
_GZIP = b"\x1f\x8b"
# In JSON: the character of number 0, and half surrogate pairs.
_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True)
class Source:
    """One file; `data` is its raw content, and `text` unpacks gzip.

    `name` is its path within the imported folder, with "/".
    """

    name: str
    data: bytes

    @cached_property
    def text(self) -> str:
        """The text without a byte order mark.

        Raises "not-utf-8" or "damaged-file", with the file's name.
        """
        data = self.data
        if data[:2] == _GZIP:
            try:
                with gzip.open(io.BytesIO(data)) as unpacked:
                    data = unpacked.read(MOST_BYTES + 1)
            except (OSError, EOFError, zlib.error) as error:
                raise GenieError(
                    f"{self.name} is not a complete gzip file: send it again.",
                    code="damaged-file",
                ) from error
            if len(data) > MOST_BYTES:
                raise GenieError(
                    f"{self.name} unpacks to more than {MOST_BYTES:,} bytes.",
                    code="too-large",
                )
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise GenieError(
                f"{self.name} is not UTF-8 at byte {error.start:,}: save it as UTF-8.",
                code="not-utf-8",
            ) from error
        if "\0" in text:
            raise GenieError(
                f"{self.name} is not text: it holds characters of number 0.",
                code="not-text",
            )
        return text

    @cached_property
    def head(self) -> str:
        """The beginning of the text: at most `HEAD_BYTES`, "" if it is no text."""
        data = self.data[:HEAD_BYTES]
        if data[:2] == _GZIP:
            try:
                data = zlib.decompressobj(wbits=31).decompress(data, HEAD_BYTES)
            except zlib.error:
                return ""
        # the end may be in the middle of a character
        text = data.decode("utf-8-sig", "ignore")
        return "" if "\0" in text else text

    @property
    def stem(self) -> str:
        """The file name without folder, .gz and the ending before it."""
        name = self.name.rpartition("/")[2]
        name = name.removesuffix(".gz")
        return name.rpartition(".")[0] or name

    @property
    def ending(self) -> str:
        """The ending of the name in small letters, such as "csv", without .gz."""
        return self.name.lower().removesuffix(".gz").rpartition(".")[2]

    def lines(self, n: int | None = None) -> list[str]:
        """Return the lines, or the first `n` of its `head`, without line ends."""
        if n is None:
            # other characters that end lines elsewhere are ordinary characters here
            every = self.text.removesuffix("\n").split("\n") if self.text else []
            return [line.removesuffix("\r") for line in every]
        head = self.head.split("\n", n)[:n]
        return [line.removesuffix("\r") for line in head]

    def objects(self) -> Iterator[tuple[int, Any]]:
        """Yield the JSON value of each line with its number, without empty lines.

        Raises "not-json", with file and line.
        """
        for number, line in enumerate(self.text.split("\n"), 1):
            if not line.strip():
                continue
            try:
                yield number, _value(line)
            except (ValueError, RecursionError) as error:
                raise GenieError(
                    f"{self.name}, line {number:,}, cannot be read as JSON: {error}.",
                    code="not-json",
                ) from error

    def json(self) -> Any:
        """Return the JSON value of the whole file.

        Raises "not-json", with the file's name.
        """
        try:
            return _value(self.text)
        except (ValueError, RecursionError) as error:
            raise GenieError(
                f"{self.name} cannot be read as JSON: {error}.", code="not-json"
            ) from error

    def table(self, separator: str = ",", *, header: bool = True) -> pd.DataFrame:
        """Return the file as a table of words, an empty cell being "".

        Raises "not-csv", with file and what is wrong.
        """
        import pandas as pd

        try:
            return pd.read_csv(
                io.StringIO(self.text),
                sep=separator,
                header=0 if header else None,
                dtype=str,
                keep_default_na=False,
                quoting=csv.QUOTE_MINIMAL,
            )
        except ValueError as error:
            raise GenieError(
                f"{self.name} is not an even table: {error}.", code="not-csv"
            ) from error


def _value(text: str) -> Any:
    """Parse JSON; characters that a database cannot store are replaced."""
    if "\\u0000" in text:
        text = _NUL.sub(r"\1\\ufffd", text)
    value = json.loads(text, object_pairs_hook=_object)
    if _HALF.search(text):
        whole = json.dumps(value, ensure_ascii=False)
        value = json.loads(whole.encode("utf-8", "replace"))
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        twice = [
            p for n, p in enumerate(pairs) if p[0] in dict(pairs[:n] + pairs[n + 1 :])
        ]
        raise ValueError(
            f"{twice[0][0]!r} is there twice, as {' and '.join(str(v)[:40] for _, v in twice)}"
            f", in {str(made)[:120]}; delete one"
        )
    return made


def sources_in(path: Path) -> list[Source]:
    """Read a file, or all files of a folder and its subfolders, in the order of names.

    Raises "no-file" if there is none.
    """
    if path.is_file():
        return [Source(path.name, path.read_bytes())]
    files = sorted(file for file in path.rglob("*") if file.is_file())
    if not files:
        raise GenieError(f"There is no file {path}.", code="no-file")
    return [
        Source(file.relative_to(path).as_posix(), file.read_bytes()) for file in files
    ]
