"""The only entry for files: bytes in, a table or all of its problems out."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, BinaryIO

from genie.lib import formats
from leaderboard.tasks.intake.decode import text_of
from leaderboard.tasks.intake.delimited import cells_of
from leaderboard.tasks.intake.json_rows import rows_of
from leaderboard.tasks.intake.problem import FileProblem, Findings, Unreadable, shown
from leaderboard.tasks.intake.table import Cell, Limits, Row, Table
from leaderboard.tasks.intake.xlsx import grid_of

ENDINGS = (".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson", ".xlsx", ".txt")
_JSON = (".json", ".jsonl", ".ndjson")
_ZIP = b"PK\x03\x04"
# They make a text look different from its content, or are no characters.
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def read_table(
    stream: BinaryIO, *, file: str, most: Limits | None = None
) -> Table | list[FileProblem]:
    r"""Read a CSV, TSV, JSON, JSONL or XLSX file, or a text file of one output a line.

    Parameters
    ----------
    stream : binary file
        Read from its position, and never beyond the limit.
    file : str
        The uploaded name: a hint at the format, never a path that is opened.

    Returns
    -------
    Table or list of FileProblem
        All problems at once, as far as the file can be read.
    """
    limits = most or Limits()
    try:
        data = stream.read(limits.n_bytes + 1)
        if len(data) > limits.n_bytes:
            mebibytes = limits.n_bytes / (1 << 20)
            raise Unreadable(
                FileProblem(
                    "too-large", f"the file is larger than {mebibytes:g} MB", file
                )
            )
        return _table(data, file, limits)
    except Unreadable as unreadable:
        return list(unreadable.problems)


def _table(data: bytes, file: str, limits: Limits) -> Table:
    name = file.lower()
    if data.startswith(_ZIP):
        return _of_grid(grid_of(data, file, limits), file, limits)
    text = text_of(data, file)
    if name.endswith(".txt"):
        lines = text.removesuffix("\n").split("\n")
        return _of_objects(
            # the file's name has the role: inputs.txt, ada.txt
            [(f"line {n:,}", {PurePath(file).stem or "output": line.removesuffix("\r")})
             for n, line in enumerate(lines, start=1)],
            file, limits, keep_empty=True,
        )  # fmt: skip
    if name.endswith(_JSON) or text.lstrip()[:1] in {"{", "["}:
        return _of_objects(rows_of(text, file), file, limits)
    return _of_grid(cells_of(text, file, limits), file, limits)


def _of_grid(grid: Iterable[tuple[str, list[str]]], file: str, limits: Limits) -> Table:
    rows = iter(grid)
    place, header = next(rows)
    columns = [cell.strip() for cell in header]
    while columns and not columns[-1]:
        columns.pop()  # spreadsheets leave empty columns
    found = Findings()
    for problem in _of_header(columns, file, place):
        found.add(problem)
    taken: list[Row] = []
    for place, cells in rows:
        if len(taken) >= limits.n_rows:
            raise _too_many_rows(file, limits)
        while len(cells) > len(columns) and not cells[-1].strip():
            cells.pop()
        if len(cells) != len(columns):
            found.add(_ragged(file, place, len(cells), len(columns)))
            continue
        pairs = zip(columns, cells, strict=True)
        taken.append(Row(place, {name: _of_json(cell) for name, cell in pairs}))
    return _checked(file, columns, taken, found, limits)


def _ragged(file: str, place: str, n: int, expected: int) -> FileProblem:
    message = (
        f"this row has {n} {'cell' if n == 1 else 'cells'} and the header {expected}; "
        "a cell that contains the separator or a line break stands in quotation marks"
    )
    return FileProblem("ragged-row", message, file, place)


def _of_header(columns: Sequence[str], file: str, place: str) -> Iterable[FileProblem]:
    for number, name in enumerate(columns, start=1):
        if not name:
            yield FileProblem(
                "nameless-column",
                f"column {number} has no header; name it, or remove the column",
                file,
                place,
            )
        elif name in columns[: number - 1]:
            yield FileProblem(
                "duplicate-column",
                "two columns have this header; rename one",
                file,
                place,
                name,
            )


def _of_json(cell: str) -> Cell:
    conversation = formats.parsed(cell)
    return cell if conversation is None else conversation


def _of_objects(
    rows: Iterable[tuple[str, Mapping[str, Any]]],
    file: str,
    limits: Limits,
    *,
    keep_empty: bool = False,
) -> Table:
    columns: dict[str, None] = {}
    taken: list[Row] = []
    for place, row in rows:
        if len(taken) >= limits.n_rows:
            raise _too_many_rows(file, limits)
        if row or keep_empty:
            columns.update(dict.fromkeys(row))
            taken.append(Row(place, dict(row)))
        if len(columns) > limits.n_columns:
            break
    return _checked(file, list(columns), taken, Findings(), limits)


def _too_many_rows(file: str, limits: Limits) -> Unreadable:
    return Unreadable(
        FileProblem("too-large", f"there are more than {limits.n_rows:,} rows", file)
    )


def _checked(
    file: str,
    columns: Sequence[str],
    rows: Sequence[Row],
    found: Findings,
    limits: Limits,
) -> Table:
    if len(columns) > limits.n_columns:
        many = FileProblem(
            "too-large", f"there are more than {limits.n_columns} columns", file
        )
        raise Unreadable(*found.all(), many)
    if not rows and not found.found:
        found.add(FileProblem("no-rows", "there is a header and no row below it", file))
    for name in columns:
        if wrong := _of_text(name, limits):
            found.add(FileProblem(wrong[0], f"in a column's name: {wrong[1]}", file))
    checked = [_row(row, file, found, limits) for row in rows]
    for problem in _mixed(file, columns, checked):
        found.add(problem)
    if problems := found.all():
        raise Unreadable(*problems)
    return Table(file, tuple(columns), tuple(checked))


def _row(row: Row, file: str, found: Findings, limits: Limits) -> Row:
    cells = {}
    for name, value in row.cells.items():
        cell = cells[name] = _cell(value)
        if problem := _problem(value, cell, limits):
            found.add(FileProblem(problem[0], problem[1], file, row.place, name))
    return Row(row.place, cells)


def _cell(value: object) -> Cell:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return str(value)  # a number as it was written is a text
    return value


def _problem(value: object, cell: Cell, limits: Limits) -> tuple[str, str] | None:
    if cell is None:
        return None
    if formats.is_conversation(value) and isinstance(value, list):
        wrong = formats.problem(value)
        if wrong:
            return "broken-conversation", wrong
        return _of_text(formats.as_text(value), limits)
    texts = value if isinstance(value, list) else [value]
    for text in texts:
        if not isinstance(text, (str, bool)):
            return (
                "nested-value",
                "a nested value stands here; a text, a list of texts (references) or "
                "a list of turns with “role” and “content” is needed",
            )
        if isinstance(text, str) and (wrong_text := _of_text(text, limits)):
            return wrong_text
    return None


def _of_text(text: str, limits: Limits) -> tuple[str, str] | None:
    if len(text) > limits.n_characters:
        return (
            "too-large",
            f"the text has {len(text):,} characters; {limits.n_characters:,} are "
            "possible",
        )
    if match := _UNFIT.search(text):
        return (
            "control-character",
            f"the character U+{ord(match[0]):04X} stands here, which cannot be shown "
            "as it is; remove it",
        )
    return None


def _mixed(
    file: str, columns: Sequence[str], rows: Sequence[Row]
) -> Iterable[FileProblem]:
    for name in columns:
        filled = [row for row in rows if row.cells.get(name) not in (None, "")]
        talks = [row for row in filled if formats.is_conversation(row.cells[name])]
        if not talks or len(talks) == len(filled):
            continue
        other = next(r for r in filled if not formats.is_conversation(r.cells[name]))
        yield FileProblem(
            "mixed-types",
            f"{_what(other.cells[name])} stands here, and a conversation in "
            f"{talks[0].place}; use one kind in a column",
            file,
            other.place,
            name,
        )


def _what(cell: Cell) -> str:
    if isinstance(cell, list):
        return "a list"
    return f"“{shown(str(cell))}”"
