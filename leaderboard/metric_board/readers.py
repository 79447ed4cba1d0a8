"""Readers of uploaded files of metric scores."""

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from leaderboard.submissions.readers.base import lines_of
from leaderboard.submissions.readers.decode import take_in
from leaderboard.submissions.readers.problem import (
    Problem,
    Refused,
    Tally,
    refuse,
    shown,
)

# Lines of a file of metric scores in any format.
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


# Read a file of metric scores into one number per output, or a list of problems.
_MESSAGES = {
    "bad-line": "Lines without system, instance and value: {named}.",
    "not-a-number": "Values that are not finite numbers: {named}.",
    "unknown-system": "Systems that are not on this task's board: {named}. Use their names on the "
    "board, or their submission numbers.",
    "ambiguous-system": "Names shared by several systems: {named}. Use their submission numbers.",
    "unknown-instance": "Instances that the task does not have: {named}.",
    "twice": "Duplicate values: {named}.",
    "wrong-count": "Systems whose number of lines differs from the task's number of instances: "
    "{named}.",
    "missing-instance": "Systems with missing instances: {named}. Include all instances, or give "
    "only system-level scores.",
    "mixed": "Segment-level scores for some systems and only system-level scores for "
    "others: {named}. Give the same kind for all.",
}


@dataclass(frozen=True)
class SystemScores:
    """One system's numbers: overall, and one per instance or none at all."""

    value: float
    per_instance: list[float] = field(default_factory=list, repr=False)


@dataclass(frozen=True)
class ScoreFile:
    """The content of a file of scores.

    Parameters
    ----------
    scores : dict of int to SystemScores
        By the key in `systems`; complete only if there are no problems.
    problems : list of Problem
        One per kind; empty if the file can be used.
    format : str
        ``csv``, ``tsv``, ``jsonl``, ``mtme-seg`` or ``mtme-sys``; empty when unknown.
    """

    scores: dict[int, SystemScores] = field(repr=False)
    problems: list[Problem]
    format: str = ""

    @property
    def ok(self) -> bool:
        return not self.problems

    @property
    def by_instance(self) -> bool:
        return any(scores.per_instance for scores in self.scores.values())


def read_scores(
    stream: BinaryIO,
    *,
    systems: Mapping[str, Sequence[int]],
    instance_ids: Sequence[str],
    max_bytes: int,
) -> ScoreFile:
    """Read a file of scores; errors in it are returned as problems, never raised.

    Parameters
    ----------
    stream : binary file
        A table of system, instance, value (CSV or TSV with a header, or JSONL), or lines
        of system, tab, score as in mt-metrics-eval's ``.seg.score`` (each system's
        instances in the task's order) and ``.sys.score``; plain or gzip. In a table, an
        empty instance gives the system's overall value, which is otherwise the mean.
    systems : mapping of str to sequence of int
        Each accepted name of a system, to the keys of the systems with this name.
    instance_ids : sequence of str
        In the task's order, all different.
    max_bytes : int
        Largest accepted file, both packed and unpacked.

    References
    ----------
    The two line formats are described in mt-metrics-eval's documentation of its data.
    """
    try:
        text = take_in(stream, max_bytes).text
        kind = format_of(text)
    except Refused as refused:
        return ScoreFile({}, [refused.problem])
    reading = _Reading(systems, instance_ids)
    rows = list(reading.good(rows_of(text, kind)))
    if problems := reading.problems(first=True):
        return ScoreFile({}, problems, kind)  # without lines there is nothing to place
    if kind == "mtme":
        kind, rows = reading.placed(rows)
    for row in rows:
        reading.take(row)
    scores = reading.scores()
    return ScoreFile(scores, reading.problems(), kind)


class _Reading:
    def __init__(
        self, systems: Mapping[str, Sequence[int]], instance_ids: Sequence[str]
    ) -> None:
        self.systems = systems
        self.ids = instance_ids
        self.index_of = {name: n for n, name in enumerate(instance_ids)}
        self.tallies = {code: Tally() for code in _MESSAGES}
        self.named: set[tuple[str, str]] = set()
        self.overall: dict[int, float] = {}
        self.by_output: dict[int, list[float]] = {}
        self.names: dict[int, str] = {}

    def good(self, rows: Iterable[ScoreRow | BadRow]) -> Iterable[ScoreRow]:
        for row in rows:
            if isinstance(row, BadRow):
                self.tallies["bad-line"].add(line=row.line, what=row.what)
            elif row.value is None:
                self.tallies["not-a-number"].add(line=row.line, what=row.raw)
            else:
                yield row

    def placed(self, rows: list[ScoreRow]) -> tuple[str, list[ScoreRow]]:
        """Assign an instance to each line of system and score, by its position."""
        lines_of: dict[str, list[ScoreRow]] = {}
        for row in rows:
            lines_of.setdefault(row.system, []).append(row)
        # mt-metrics-eval's two formats differ only in the number of lines per system
        one_each = (
            all(len(lines) == 1 for lines in lines_of.values()) and len(self.ids) > 1
        )
        if one_each:
            return "mtme-sys", rows
        placed_rows = []
        for system, lines in lines_of.items():
            if len(lines) != len(self.ids):
                detail = f"{len(lines):,} instead of {len(self.ids):,}"
                self.tallies["wrong-count"].add(id=shown(system), what=detail)
                continue
            placed_rows += [
                ScoreRow(row.line, row.system, name, row.value, row.raw)
                for row, name in zip(lines, self.ids, strict=True)
            ]
        return "mtme-seg", placed_rows

    def take(self, row: ScoreRow) -> None:
        key = self._key(row)
        if key is None or row.value is None:
            return
        if not row.instance:
            if key in self.overall:
                self.tallies["twice"].add(id=shown(row.system), line=row.line)
            self.overall[key] = row.value
            return
        index = self.index_of.get(row.instance)
        if index is None:
            self.tallies["unknown-instance"].add(id=shown(row.instance), line=row.line)
            return
        values = self.by_output.setdefault(key, [math.nan] * len(self.ids))
        if not math.isnan(values[index]):
            detail = f"{shown(row.system)}, {shown(row.instance)}"
            self.tallies["twice"].add(id=detail, line=row.line)
        values[index] = row.value

    def _key(self, row: ScoreRow) -> int | None:
        keys = self.systems.get(row.system, ())
        if len(keys) == 1:
            self.names[keys[0]] = row.system
            return keys[0]
        code = "ambiguous-system" if keys else "unknown-system"
        if (code, row.system) not in self.named:  # once per system, not once per line
            self.named.add((code, row.system))
            self.tallies[code].add(id=shown(row.system), line=row.line)
        return None

    def scores(self) -> dict[int, SystemScores]:
        systems = {}
        for key, values in self.by_output.items():
            missing = [n for n, value in enumerate(values) if math.isnan(value)]
            if missing:
                detail = (
                    f"{len(missing):,} of {len(values):,}, first {self.ids[missing[0]]}"
                )
                self.tallies["missing-instance"].add(
                    id=shown(self.names[key]), what=shown(detail)
                )
                continue
            # fsum makes the mean independent of the order of the lines
            mean = math.fsum(values) / len(values)
            systems[key] = SystemScores(self.overall.get(key, mean), values)
        for key in self.overall.keys() - self.by_output.keys():
            if self.by_output:
                self.tallies["mixed"].add(id=shown(self.names[key]))
            systems[key] = SystemScores(self.overall[key])
        return systems

    def problems(self, *, first: bool = False) -> list[Problem]:
        problems = [
            tally.problem(code, _MESSAGES[code])
            for code, tally in self.tallies.items()
            if tally.count
        ]
        if not first and not problems and not (self.by_output or self.overall):
            problems.append(Problem("empty-file", "The file contains no scores."))
        return problems


__all__ = ["ScoreFile", "read_scores"]
