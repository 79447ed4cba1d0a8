"""The only entry for files: bytes in, a table or all of its problems out."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from genie.lib import formats
from leaderboard.files import (
    File,
    Limits,
    Problem,
    Unreadable,
    printable,
    receive,
    refuse,
)
from leaderboard.tables import Cell, Table, from_objects, read_json
from leaderboard.tables import read_table as read_any

ENDINGS = (
    *(".csv", ".tsv", ".tab", ".txt", ".json", ".jsonl", ".ndjson"),
    *(".xlsx", ".parquet", ".gz", ".zip"),
)
LIMITS = Limits(64 << 20, 100_000, 200, 200_000)
# So many of each kind are listed; the others are counted.
N_LISTED = 5
# users, documents, segments
_LEVELS = 3


@dataclass
class Findings:
    """Collects problems; of one kind in one column, only the first few are listed."""

    found: list[Problem] = field(default_factory=list)
    _counts: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def add(self, problem: Problem) -> None:
        key = (problem.code, problem.file, problem.column)
        self._counts[key] = self._counts.get(key, 0) + 1
        if self._counts[key] <= N_LISTED:
            self.found.append(problem)

    def all(self) -> list[Problem]:
        """Return the problems, with those that were only counted at the end."""
        message = "{0:,} more {1} this problem ({2})"
        return self.found + [
            Problem(
                code,
                message.format(more, "row has" if more == 1 else "rows have", code),
                file,
                column=column,
            )
            for (code, file, column), n in self._counts.items()
            if (more := n - N_LISTED) > 0
        ]


def read_table(
    stream: BinaryIO, *, file: str, most: Limits = LIMITS
) -> Table | list[Problem]:
    """Read a table of texts, or a text file of one output a line.

    Parameters
    ----------
    stream : binary file
        Read from its position, several times, and not far beyond the limit.
    file : str
        The uploaded name: a hint at the format, never a path that is opened.

    Returns
    -------
    Table or list of Problem
        All problems at once, as far as the file can be read.
    """
    try:
        table = _table(receive(file, stream, most))
        _check(table, most)
    except Unreadable as unreadable:
        return list(unreadable.problems)
    return table


def _table(file: File) -> Table:
    if file.suffix == ".txt":
        lines = list(file.texts())
        # the file's name has the role: inputs.txt, ada.txt
        name = Table(file.name, {}, ()).stem or "output"
        return Table(file.name, {name: [*lines]}, range(1, len(lines) + 1), "line")
    if b'"campaign_id"' in file.head():
        value = read_json(file)
        if isinstance(value, dict) and _is_campaign(value):
            table = from_objects(file, "segment", enumerate(_segments(value), 1))
            if not table.numbers:
                raise refuse("no-rows", "the campaign has no document", file.name)
            return table
    return read_any(file)


def _check(table: Table, limits: Limits) -> None:
    """Read conversations in cells; raises `Unreadable` with all problems of the texts."""
    found = Findings()
    for problem in table.problems:
        found.add(problem)
    for name, cells in table.cells.items():
        if wrong := _of_text(name, limits):
            found.add(Problem(wrong[0], f"in a column's name: {wrong[1]}", table.file))
        table.cells[name] = [_talk(cell) for cell in cells]
    for row in table.rows:
        for name, cell in row.cells.items():
            if wrong := _problem(cell, limits):
                found.add(Problem(*wrong, table.file, row.place, name))
    for problem in _check_mixture(table):
        found.add(problem)
    if problems := found.all():
        raise Unreadable(*problems)


def _talk(cell: Cell) -> Cell:
    talk = formats.parse_conversation(cell) if isinstance(cell, str) else None
    return cell if talk is None else talk


def _is_campaign(value: dict[str, Any]) -> bool:
    return {"campaign_id", "info", "data"} <= set(value) and isinstance(
        value["data"], list
    )


def _segments(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the segments of a campaign, without tutorials and checks.

    A document of several users is listed once, with all its systems. Segments have ids
    ``DOCUMENT.SEGMENT``, so that pages can show whole documents.
    """
    documents: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for items in _documents(value["data"]):
        key = tuple((str(one.get("item_id")), str(one.get("src"))) for one in items)
        rows = documents.setdefault(key, [{} for _ in items])
        for row, one in zip(rows, items, strict=True):
            row |= _row(one)
    for n, rows in enumerate(documents.values(), start=1):
        for m, row in enumerate(rows, start=1):
            yield {"id": f"doc{n}.{m}", **row}


def _documents(data: Any, levels: int = _LEVELS) -> Iterator[list[dict[str, Any]]]:
    if not isinstance(data, list) or not levels:
        return
    items = [one for one in data if isinstance(one, dict) and "tgt" in one]
    if items:
        yield items
        return
    for part in data:
        yield from _documents(part, levels - 1)


def _row(item: dict[str, Any]) -> dict[str, Any]:
    names = {"source": "src", "reference": "ref"}
    row = {name: item[key] for name, key in names.items() if item.get(key)}
    texts = item["tgt"]
    return row | (texts if isinstance(texts, dict) else {"output": texts})


def _problem(cell: Cell, limits: Limits) -> tuple[str, str] | None:
    if formats.is_conversation(cell) and isinstance(cell, list):
        wrong = formats.problem(cell)
        if wrong:
            return "broken-conversation", wrong
        return _of_text(formats.as_text(cell), limits)
    for text in cell if isinstance(cell, list) else [cell]:
        if not isinstance(text, str):
            return (
                "nested-value",
                "a nested value stands here; a text, a list of texts (references) or "
                "a list of turns with “role” and “content” is needed",
            )
        if wrong_text := _of_text(text, limits):
            return wrong_text
    return None


def _of_text(text: str, limits: Limits) -> tuple[str, str] | None:
    if len(text) > limits.n_characters:
        return (
            "too-large",
            f"the text has {len(text):,} characters; {limits.n_characters:,} are "
            "possible",
        )
    if unfit := formats.first_unfit(text):
        return (
            "control-character",
            f"the character {unfit} stands here, which cannot be shown "
            "as it is; remove it",
        )
    return None


def _check_mixture(table: Table) -> Iterator[Problem]:
    for name in table.columns:
        filled = [row for row in table.rows if row.cells[name] != ""]
        talks = [row for row in filled if formats.is_conversation(row.cells[name])]
        if not talks or len(talks) == len(filled):
            continue
        other = next(r for r in filled if not formats.is_conversation(r.cells[name]))
        cell = other.cells[name]
        what = "a list" if isinstance(cell, list) else f"“{printable(str(cell))}”"
        yield Problem(
            "mixed-types",
            f"{what} stands here, and a conversation in {talks[0].place}; use one kind in "
            "a column",
            table.file,
            other.place,
            name,
        )
