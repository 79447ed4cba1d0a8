"""A folder of tables, each as JSONL and as CSV, with checksums over everything."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from genie.lib.errors import GenieError
from genie.lib.formats.csv_text import csv_text

CHECKSUMS = "SHA256SUMS"
MANIFEST = "manifest.json"
CARD = "README.md"
Record = dict[str, Any]
# A value of this many numbers is no cell of a spreadsheet: the JSONL has it.
_NESTED = (list, dict)


def write_table(
    folder: Path, name: str, columns: Sequence[str], rows: Sequence[Record]
) -> None:
    """Write a table twice; nested values stand in the JSONL only."""
    lines = "".join(
        json.dumps({column: row.get(column) for column in columns}, ensure_ascii=False)
        + "\n"
        for row in rows
    )
    (folder / f"{name}.jsonl").write_text(lines, "utf-8")
    flat = [
        column
        for column in columns
        if not any(isinstance(row.get(column), _NESTED) for row in rows)
    ]
    (folder / f"{name}.csv").write_text(csv_text(flat, rows), "utf-8")


def read_table(folder: Path, name: str) -> list[Record]:
    """Read a table's JSONL; a table that is not there has no rows."""
    path = folder / f"{name}.jsonl"
    if not path.is_file():
        return []
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def positions(folder: Path) -> dict[str, int]:
    """Give the instances' places in the task."""
    rows = read_table(folder, "instances")
    return {row["instance"]: row["position"] for row in rows}


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
    except ValueError as error:
        raise GenieError(
            f"The {MANIFEST} of {folder} is damaged: {error}.", code="damaged-release"
        ) from error
    return manifest


def write_checksums(folder: Path) -> None:
    """Write the SHA-256 of every file, as `sha256sum -c` reads it."""
    lines = [f"{_sha256(path)}  {path.name}\n" for path in _files(folder)]
    (folder / CHECKSUMS).write_text("".join(lines), "utf-8")


def check(folder: Path) -> int:
    """Compare all checksums; give their number, or say which file differs first."""
    try:
        text = (folder / CHECKSUMS).read_text("utf-8")
    except FileNotFoundError as error:
        raise GenieError(
            f"{folder} is not a release: it has no {CHECKSUMS}.", code="no-release"
        ) from error
    # two spaces between digest and name, as sha256sum writes them
    named = dict(line.split("  ", 1)[::-1] for line in text.splitlines() if line)
    present = {path.name for path in _files(folder)}
    for name in sorted(named.keys() | present):
        # only the last part of the name: a manipulated list must not lead out of the
        # folder
        path = folder / Path(name).name
        if name not in named or not path.is_file() or _sha256(path) != named[name]:
            raise GenieError(
                f"{name} has been changed since the release.", code="damaged-release"
            )
    return len(named)


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name != CHECKSUMS:
            yield path


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
