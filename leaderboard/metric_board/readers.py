"""Readers of uploaded files of metric scores."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, BinaryIO, NamedTuple

from leaderboard.files import File, Limits, Unreadable, receive, refuse
from leaderboard.submissions.readers import Problem, Tally, problems_of
from leaderboard.tables import (
    first_lines,
    header_words,
    is_binary,
    json_rows,
    only_sound,
    read_sound_table,
)

# Names of the columns of system, instance and value.
_NAMES = (("system",), ("instance", "segment", "seg_id"), ("value", "score"))


class ScoreRow(NamedTuple):
    """One number of one output, or of a whole system if `instance` is empty."""

    place: str
    system: str
    instance: str
    value: float


# Place, system, instance and value as they are in the file.
_Raw = tuple[str, str, str, str]


def _rows(file: File) -> tuple[str, Iterable[_Raw]]:
    """Return a file's format (as in `ScoreFile`, without a suffix) and its rows."""
    if is_binary(file):
        return file.suffix[1:], _table_rows(file)
    if found := json_rows(file):
        unit, rows = found
        return "jsonl", (_row(f"{unit} {n:,}", one) for n, one in only_sound(rows))
    first = first_lines(file)[0].strip()
    words = header_words(first)
    if "system" in words and words & {*_NAMES[-1]}:
        return "tsv" if "\t" in first else "csv", _table_rows(file)
    if first.count("\t") == 1 or len(first.split()) == 2:
        return "mtme", _pairs(file)
    raise refuse(
        "unknown-format",
        "the first line is not a header with system, instance and value, a JSON "
        "object, or a system and a score separated by a tab",
        file.name,
    )


def _table_rows(file: File) -> Iterator[_Raw]:
    table = read_sound_table(file)
    names = [[one for one in table.columns if one.lower() in some] for some in _NAMES]
    if not (names[0] and names[-1]):
        message = "a column for the system or for the value is missing"
        raise refuse("unknown-format", message, table.file)
    columns = [table.cells[some[0]] if some else repeat("") for some in names]
    for number, system, instance, value in zip(table.numbers, *columns, strict=False):
        place = f"{table.unit} {number:,}"
        yield place, str(system).strip(), str(instance).strip(), str(value).strip()


def _row(place: str, row: Any) -> _Raw:
    if not isinstance(row, Mapping):
        return place, "", "", ""
    system, instance, value = (
        str(next((row[one] for one in some if row.get(one) is not None), ""))
        for some in _NAMES
    )
    return place, system.strip(), instance.strip(), value.strip()


def _pairs(file: File) -> Iterator[_Raw]:
    for number, line in enumerate(file.texts(), start=1):
        if line.strip():
            system, tab, raw = line.partition("\t")
            if not tab:
                # from the right: system names may contain spaces, numbers do not
                system, _, raw = line.strip().rpartition(" ")
            yield f"line {number:,}", system.strip(), "", raw.strip()


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
    "bad-line": "Rows without a system: {named}.",
    "not-a-number": "Values that are not finite numbers: {named}.",
    "unknown-system": "Systems that are not on this task's board: {named}. Use their names on the "
    "board, or their submission numbers.",
    "ambiguous-system": "Names shared by several systems: {named}. Use their submission numbers.",
    "unknown-instance": "Instances that the task does not have: {named}.",
    "twice": "Duplicate values: {named}.",
    "wrong-count": "Systems whose number of lines differs from the task's number of instances: "
    "{named}.",
    "missing-instance": "Systems with missing instances: {named}. Include all instances, or only "
    "system-level scores.",
    "mixed": "Segment-level scores for some systems and only system-level scores for "
    "others: {named}. Use the same kind for all.",
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
        ``csv``, ``tsv``, ``jsonl``, ``xlsx``, ``parquet``, ``mtme-seg`` or ``mtme-sys``;
        empty when unknown.
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
    filename: str = "",
    systems: Mapping[str, Sequence[int]],
    instance_ids: Sequence[str],
    max_bytes: int,
) -> ScoreFile:
    """Read a file of scores; errors in it are returned as problems, never raised.

    Parameters
    ----------
    stream : binary file
        Any table of system, instance, value, or lines of system, tab, score as in
        mt-metrics-eval's ``.seg.score`` (each system's instances in the task's order)
        and ``.sys.score``; plain or packed. In a table, an empty instance gives the
        system's overall value, which is otherwise the mean.
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
    reading = _Reading(systems, instance_ids)
    kind = ""
    try:
        kind, found = _rows(receive(filename, stream, Limits(max_bytes)))
        rows = list(reading.good(found))
    except Unreadable as unreadable:
        return ScoreFile({}, problems_of(unreadable.problems), kind)
    if problems := reading.problems(first=True):
        return ScoreFile({}, problems, kind)  # without lines there is nothing to place
    if kind == "mtme":
        kind, rows = reading.assign_instances(rows)
    for row in rows:
        reading.take(row)
    return ScoreFile(reading.scores(), reading.problems(), kind)


class _Reading:
    def __init__(
        self, systems: Mapping[str, Sequence[int]], instance_ids: Sequence[str]
    ) -> None:
        self.systems = systems
        self.ids = instance_ids
        self.index_of = {name: n for n, name in enumerate(instance_ids)}
        self.tally = Tally(_MESSAGES)
        self.named: set[tuple[str, str]] = set()
        self.overall: dict[int, float] = {}
        self.by_output: dict[int, list[float]] = {}
        self.names: dict[int, str] = {}

    def good(self, rows: Iterable[_Raw]) -> Iterator[ScoreRow]:
        for place, system, instance, raw in rows:
            value = number_of(raw)
            if not system:
                self.tally.add("bad-line", place)
            elif value is None:
                self.tally.add("not-a-number", place, what=raw)
            else:
                yield ScoreRow(place, system, instance, value)

    def assign_instances(self, rows: list[ScoreRow]) -> tuple[str, list[ScoreRow]]:
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
                self.tally.add("wrong-count", id=system, what=detail)
                continue
            placed_rows += [
                row._replace(instance=name)
                for row, name in zip(lines, self.ids, strict=True)
            ]
        return "mtme-seg", placed_rows

    def take(self, row: ScoreRow) -> None:
        key, value = self._key(row), row.value
        if key is None:
            return
        if not row.instance:
            if key in self.overall:
                self.tally.add("twice", row.place, id=row.system)
            self.overall[key] = value
            return
        index = self.index_of.get(row.instance)
        if index is None:
            self.tally.add("unknown-instance", row.place, id=row.instance)
            return
        values = self.by_output.setdefault(key, [math.nan] * len(self.ids))
        if not math.isnan(values[index]):
            self.tally.add("twice", row.place, id=f"{row.system}, {row.instance}")
        values[index] = value

    def _key(self, row: ScoreRow) -> int | None:
        keys = self.systems.get(row.system, ())
        if len(keys) == 1:
            self.names[keys[0]] = row.system
            return keys[0]
        code = "ambiguous-system" if keys else "unknown-system"
        if (code, row.system) not in self.named:  # once per system, not once per line
            self.named.add((code, row.system))
            self.tally.add(code, row.place, id=row.system)
        return None

    def scores(self) -> dict[int, SystemScores]:
        systems = {}
        for key, values in self.by_output.items():
            missing = [n for n, value in enumerate(values) if math.isnan(value)]
            if missing:
                detail = (
                    f"{len(missing):,} of {len(values):,}, first {self.ids[missing[0]]}"
                )
                self.tally.add("missing-instance", id=self.names[key], what=detail)
                continue
            # fsum makes the mean independent of the order of the lines
            mean = math.fsum(values) / len(values)
            systems[key] = SystemScores(self.overall.get(key, mean), values)
        for key in self.overall.keys() - self.by_output.keys():
            if self.by_output:
                self.tally.add("mixed", id=self.names[key])
            systems[key] = SystemScores(self.overall[key])
        return systems

    def problems(self, *, first: bool = False) -> list[Problem]:
        problems = self.tally.problems()
        if not first and not problems and not (self.by_output or self.overall):
            problems.append(Problem("empty-file", "The file contains no scores."))
        return problems


__all__ = ["ScoreFile", "read_scores"]
