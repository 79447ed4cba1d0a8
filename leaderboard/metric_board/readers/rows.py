"""Lines of a file of metric scores in any format."""

import csv
import io
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from leaderboard.submissions.readers.base import lines_of
from leaderboard.submissions.readers.problem import Refused, refuse, shown

FIELDS = ("system", "instance", "value")
_OTHER_NAMES = {"score": "value", "segment": "instance", "seg_id": "instance"}
# A longer JSON line cannot be a line of three fields.
_LONGEST_LINE = 10_000


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One number of one output, or of a whole system if `instance` is empty.

    `value` is None if the file marks it as missing or it is not a number.
    """

    line: int
    system: str
    instance: str
    value: float | None
    raw: str


@dataclass(frozen=True, slots=True)
class BadRow:
    """A line with missing or extra fields."""

    line: int
    what: str


def format_of(text: str) -> str:
    r"""Return a file's format, from its first line.

    Parameters
    ----------
    text : str
        Not empty.

    Returns
    -------
    str
        ``jsonl``, ``csv``, ``tsv`` (both with a header) or ``mtme`` (lines of system,
        tab, score).

    Raises
    ------
    Refused
        Code ``unknown-format``.

    Examples
    --------
    >>> format_of("system,instance,value\nA,i1,0.5\n"), format_of("A\t0.5\n")
    ('csv', 'mtme')
    """
    first = next((line for line in lines_of(text) if line.strip()), "")
    if first.lstrip().startswith("{"):
        return "jsonl"
    for name, mark in (("tsv", "\t"), ("csv", ",")):
        if {"system", "value"} <= set(_header(first, mark)):
            return name
    if first.count("\t") == 1 or len(first.split()) == 2:
        return "mtme"
    raise refuse(
        "unknown-format",
        "The first line is not a header with system, instance and value, a JSON "
        "object, or a system and a score separated by a tab.",
    )


def _header(line: str, mark: str) -> list[str]:
    names = [name.strip().strip('"').lower() for name in line.split(mark)]
    return [_OTHER_NAMES.get(name, name) for name in names]


def rows_of(text: str, kind: str) -> Iterator[ScoreRow | BadRow]:
    r"""Yield the lines of a file in a format of `format_of`.

    Examples
    --------
    >>> list(rows_of("A\t0.5\nA\tNone\n", "mtme"))[1].value is None
    True
    """
    if kind == "jsonl":
        yield from _json_lines(text)
    elif kind == "mtme":
        yield from _pairs(text)
    else:
        yield from _table(text, "," if kind == "csv" else "\t")


def _json_lines(text: str) -> Iterator[ScoreRow | BadRow]:
    for number, line in enumerate(lines_of(text), start=1):
        if not line.strip():
            continue
        try:
            record: Any = json.loads(line) if len(line) <= _LONGEST_LINE else None
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            yield BadRow(number, "not a JSON object")
            continue
        fields = {
            _OTHER_NAMES.get(str(key), str(key)): value for key, value in record.items()
        }
        yield _row(number, fields)


def _row(number: int, fields: dict[str, Any]) -> ScoreRow | BadRow:
    system, instance = fields.get("system"), fields.get("instance", "")
    if not isinstance(system, str | int) or isinstance(system, bool):
        return BadRow(number, "no system")
    if not isinstance(instance, str | int | None) or isinstance(instance, bool):
        return BadRow(number, "no instance")
    raw = fields.get("value")
    if isinstance(raw, bool):
        return BadRow(number, "no value")
    named = "" if instance is None else str(instance)
    value = float(raw) if isinstance(raw, int | float) else number_of(str(raw))
    value = value if value is not None and math.isfinite(value) else None
    return ScoreRow(number, str(system).strip(), named.strip(), value, shown(str(raw)))


def _pairs(text: str) -> Iterator[ScoreRow | BadRow]:
    for number, line in enumerate(lines_of(text), start=1):
        if not line.strip():
            continue
        system, tab, raw = line.partition("\t")
        if not tab:
            # from the right: system names may contain spaces, numbers do not
            system, _, raw = line.strip().rpartition(" ")
        if not system.strip():
            yield BadRow(number, "no tab")
            continue
        yield ScoreRow(number, system.strip(), "", number_of(raw), shown(raw.strip()))


def _table(text: str, mark: str) -> Iterator[ScoreRow | BadRow]:
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
        header = next(reader)
        names = _header(mark.join(header), mark)
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(names):
                detail = f"{len(cells)} fields instead of {len(names)}"
                yield BadRow(reader.line_num, detail)
                continue
            fields = dict(zip(names, cells, strict=True))
            yield ScoreRow(
                reader.line_num,
                fields["system"].strip(),
                fields.get("instance", "").strip(),
                number_of(fields["value"]),
                shown(fields["value"].strip()),
            )
    except csv.Error as error:
        yield BadRow(reader.line_num, str(error))


def number_of(raw: str) -> float | None:
    """Return a finite number, or None.

    Examples
    --------
    >>> number_of(" -0.25"), number_of("None"), number_of("inf"), number_of("1_0")
    (-0.25, None, None, None)
    """
    text = raw.strip()
    if "_" in text:  # Python reads 1_0 as 10; other programs do not
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


__all__ = ["BadRow", "Refused", "ScoreRow", "format_of", "number_of", "rows_of"]
