"""Ratings and metric scores in the field's file formats; pure, text in pieces."""

import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from genie.lib.formats import csv_text

_AT_ONCE = 2_000
_EARLIEST = (
    1980,
    1,
    1,
    0,
    0,
    0,
)  # a fixed date, so that the same content gives the same bytes
_UNFIT = re.compile(r"[^\w.+=@-]+")

Table = Mapping[str, Sequence[float | None]]


def csv_pieces(
    columns: Sequence[str], records: Iterable[Mapping[str, Any]]
) -> Iterator[str]:
    """Yield CSV in pieces of some thousand lines, the header first."""
    yield csv_text(columns, [])
    rows = iter(records)
    while part := list(islice(rows, _AT_ONCE)):
        yield csv_text(columns, part).split("\n", 1)[1]


def json_lines(records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    rows = iter(records)
    while part := list(islice(rows, _AT_ONCE)):
        yield "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in part)


def seg_score(table: Table) -> str:
    """Return mt-metrics-eval's .seg.score: system, tab, score, instance by instance."""
    return "".join(
        f"{system}\t{'None' if value is None else repr(float(value))}\n"
        for system, values in table.items()
        for value in values
    )


def sys_score(overall: Mapping[str, float | None]) -> str:
    """Return mt-metrics-eval's .sys.score: system, tab, score."""
    return seg_score({system: [value] for system, value in overall.items()})


def safe_name(name: str) -> str:
    """Return a name that is safe in file systems and in columns split at spaces or tabs."""
    return _UNFIT.sub("_", name).strip("._") or "unnamed"


def unique_names(names: Mapping[int, str]) -> dict[int, str]:
    """Return a different safe name for each key; keys with the same name get their number."""
    safe = {key: safe_name(name) for key, name in names.items()}
    taken = list(safe.values())
    return {
        key: f"{name}-{key}" if taken.count(name) > 1 else name
        for key, name in safe.items()
    }


def zip_files(files: Iterable[tuple[str, str]]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files:
            archive.writestr(
                zipfile.ZipInfo(name, _EARLIEST), text, zipfile.ZIP_DEFLATED
            )
    return buffer.getvalue()
