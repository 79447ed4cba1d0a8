"""A folder of tables, each as JSONL and as CSV, with checksums of all files."""

import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Self, TypeVar

from django.conf import settings

from genie.lib.errors import GenieError
from genie.lib.formats import csv_lines
from genie.lib.queue.pieces import Kept

CHECKSUMS = "SHA256SUMS"
MANIFEST = "manifest.json"
CARD = "README.md"
LOG = "public_log.ndjson"
Record = dict[str, Any]
T = TypeVar("T")
_encode = json.JSONEncoder(ensure_ascii=False).encode


def in_batches(values: Iterable[T], n: int) -> Iterator[list[T]]:
    """Yield lists of `n` values; `itertools` has it from Python 3.12 on."""
    left = iter(values)
    while some := list(islice(left, n)):
        yield some


class Table:
    """A table that is written incrementally, in both formats.

    Nested values are in the JSONL only. A column that could be nested but is missing in
    the first row is missing everywhere: texts under a license that does not allow them.
    With `place`, saved by an earlier process, everything after it is cut off.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        columns: Sequence[str],
        place: Record | None = None,
    ) -> None:
        self._columns = columns
        self.n: int = place["n"] if place else 0
        self._flat: list[str] | None = place["flat"] if place else None
        paths = [folder / f"{name}.{end}" for end in ("jsonl", "csv")]
        if place:
            for path, size in zip(paths, place["sizes"], strict=True):
                os.truncate(path, size)
        mode = "a" if place else "w"
        self._full, self._sheet = (
            path.open(mode, encoding="utf-8", newline="\n") for path in paths
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._full.close()
        self._sheet.close()

    def add(self, rows: Iterable[Record]) -> None:
        """Write rows one by one; without any, only the header."""
        left = iter(rows)
        new = self._flat is None
        if self._flat is None:
            first = list(islice(left, 1))
            # lists are no cells of a spreadsheet
            nested = {
                column
                for row in first
                for column, value in row.items()
                if isinstance(value, dict | list)
            }
            self._flat = [column for column in self._columns if column not in nested]
            left = chain(first, left)
        lines = csv_lines(self._flat, self._note_rows(left))
        if not new:
            next(lines)  # the header
        self._sheet.writelines(lines)

    def _note_rows(self, rows: Iterable[Record]) -> Iterator[Record]:
        for row in rows:
            self.n += 1
            whole = {column: row.get(column) for column in self._columns}
            self._full.write(f"{_encode(whole)}\n")
            yield row

    def place(self) -> Record:
        """Return the position, once everything before it is on disk."""
        sizes = []
        for file in (self._full, self._sheet):
            file.flush()
            os.fsync(file.fileno())
            sizes.append(os.fstat(file.fileno()).st_size)
        return {"n": self.n, "flat": self._flat, "sizes": sizes}


def write_table(
    folder: Path, name: str, columns: Sequence[str], rows: Iterable[Record]
) -> int:
    with Table(folder, name, columns) as table:
        table.add(rows)
    return table.n


def read_table(folder: Path, name: str) -> list[Record]:
    """Read a table's JSONL at once; a missing table has no rows."""
    return list(iter_table(folder, name))


def iter_table(folder: Path, name: str) -> Iterator[Record]:
    """Read a table's JSONL row by row; a missing table has no rows."""
    path = folder / f"{name}.jsonl"
    if not path.is_file():
        return
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


class Groups:
    """A table's rows by some of their columns, read from disk a group at a time.

    Rows of one group are adjacent in a release, so that few file positions are kept in
    memory; rows in any other order are found as well.
    """

    def __init__(self, folder: Path, name: str, columns: Sequence[str]) -> None:
        self._path = folder / f"{name}.jsonl"
        self._places: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
        start = end = 0
        before: tuple[Any, ...] | None = None
        for line in self._lines():
            row = json.loads(line)
            key = tuple(row[column] for column in columns)
            if before is not None and key != before:
                self._places.setdefault(before, []).append((start, end - start))
                start = end
            before, end = key, end + len(line)
        if before is not None:
            self._places.setdefault(before, []).append((start, end - start))

    def _lines(self) -> Iterator[bytes]:
        if self._path.is_file():
            with self._path.open("rb") as lines:
                yield from lines

    def keys(self) -> set[tuple[Any, ...]]:
        return set(self._places)

    def rows(self, *key: Any) -> list[Record]:
        found: list[Record] = []
        if key in self._places:
            with self._path.open("rb") as file:
                for start, length in self._places[key]:
                    file.seek(start)
                    lines = file.read(length).splitlines()
                    found += [json.loads(line) for line in lines]
        return found


def count_rows(folder: Path, name: str) -> int:
    """Count a table's rows without parsing them."""
    path = folder / f"{name}.jsonl"
    if not path.is_file():
        return 0
    with path.open("rb") as lines:
        return sum(1 for _ in lines)


def positions(folder: Path) -> dict[str, int]:
    return {row["instance"]: row["position"] for row in iter_table(folder, "instances")}


def write_manifest(folder: Path, manifest: Record) -> None:
    text = json.dumps(manifest, indent=2, ensure_ascii=False)
    (folder / MANIFEST).write_text(text + "\n", "utf-8")


def read_manifest(folder: Path) -> Record:
    try:
        manifest: Record = json.loads((folder / MANIFEST).read_text("utf-8"))
    except FileNotFoundError as error:
        raise GenieError(
            f"{folder} is not a release: it has no {MANIFEST}.", code="no-release"
        ) from error
    except (ValueError, RecursionError) as error:
        raise GenieError(
            f"The {MANIFEST} of {folder} is damaged: {error}.", code="damaged-release"
        ) from error
    if not isinstance(manifest, dict):
        raise GenieError(
            f"The {MANIFEST} of {folder} is not a JSON object.", code="damaged-release"
        )
    return manifest


def write_checksums(folder: Path) -> None:
    """Write the SHA-256 of every file in the format of `sha256sum -c`."""
    lines = [f"{sha256(path)}  {path.name}\n" for path in files(folder)]
    (folder / CHECKSUMS).write_text("".join(lines), "utf-8")


def check(folder: Path) -> int:
    """Return the number of checksums; a table with Parquet may lack JSONL and CSV."""
    try:
        text = (folder / CHECKSUMS).read_text("utf-8", "replace")
    except FileNotFoundError as error:
        raise GenieError(
            f"{folder} is not a release: it has no {CHECKSUMS}.", code="no-release"
        ) from error
    # two spaces between digest and name, as sha256sum writes them
    parts = (line.partition("  ") for line in text.splitlines() if line)
    named = {name: digest for digest, _, name in parts}
    present = {path.name for path in files(folder)}
    spared = {
        f"{Path(name).stem}.{end}"
        for name in present & named.keys()
        if name.endswith(".parquet")
        for end in ("jsonl", "csv")
    }
    wanted = (named.keys() | present) - (spared - present)
    for name in sorted(wanted):
        # only the last part of the name: a manipulated list must not lead out of the
        # folder
        path = folder / Path(name).name
        if name not in named or not path.is_file() or sha256(path) != named[name]:
            raise GenieError(
                f"{name} has been changed since the release.", code="damaged-release"
            )
    return len(wanted)


def files(folder: Path) -> Iterator[Path]:
    """Yield the files of a release by name, without its list of checksums."""
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name != CHECKSUMS:
            yield path


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# Progress of releases, so that another process can continue.

# Interval of saving the position in a long table, in seconds; a kill loses the rest.
NOTED_EVERY = 10.0
_FOR_US = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


class Notes(Kept):
    """The progress of a release, not stored without a `path`.

    The file contains the key of the pseudonyms: delete it when the release is finished.
    """

    def __init__(self, path: Path | None = None) -> None:
        super().__init__()
        self._path = path
        self.n_saved = 0
        self._saved_at = time.monotonic()
        self.kept = {"version": settings.VERSION}
        if path is not None and path.is_file():
            kept = json.loads(path.read_text("utf-8"))
            # a release begun by another version would have ended differently
            if kept["version"] == settings.VERSION:
                self.kept = kept

    @property
    def begun(self) -> bool:
        return len(self.kept) > 1

    @property
    def due(self) -> bool:
        return time.monotonic() - self._saved_at >= NOTED_EVERY

    def save(self, name: str = "") -> None:
        """Replace the file in one step, so that a kill leaves the former one."""
        if self._path is None:
            return
        new = self._path.with_suffix(".new")
        with os.fdopen(os.open(new, _FOR_US, 0o600), "w", encoding="utf-8") as file:
            json.dump(self.kept, file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._path)
        self.n_saved += 1
        self._saved_at = time.monotonic()
