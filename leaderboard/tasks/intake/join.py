"""Join files and columns: instances, and the output of each system."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from genie.lib.formats import as_text, is_conversation
from leaderboard.files import Problem, printable
from leaderboard.tables import Cell, Row, Table
from leaderboard.tasks.intake.read import Findings
from leaderboard.tasks.intake.roles import (
    CONVERSATION,
    ID,
    INPUT,
    NAMES,
    OUTPUT,
    REFERENCE,
    SYSTEM,
    TEXT,
    Use,
)

# The items collected while files are read, and checks that files agree.
_N_NAMED = 5


@dataclass
class Built:
    fields: dict[str, dict[str, str]] = field(default_factory=dict)
    references: dict[str, list[str]] = field(default_factory=dict)
    systems: dict[str, dict[str, str]] = field(default_factory=dict)
    # the file of each system, and the ids in each file
    files: dict[str, str] = field(default_factory=dict)
    ids: dict[str, list[str]] = field(default_factory=dict)
    found: Findings = field(default_factory=Findings)

    def wrong(
        self, code: str, message: str, file: str = "", place: str = "", column: str = ""
    ) -> None:
        self.found.add(Problem(code, message, file, place, column))


def same_ids(built: Built, n_files: int) -> None:
    """Add problems if files or systems are about different inputs."""
    if n_files > 1:
        first, *others = built.ids
        for file in others:
            _compare_ids(built, built.ids[first], built.ids[file], first, file)
    if built.found.found:
        return
    for name, outputs in built.systems.items():
        missing = [key for key in built.fields if key not in outputs]
        if missing:
            built.wrong(
                "ids-differ",
                f"“{printable(name)}” has no output for {_some(missing)}",
                built.files[name],
            )


def _compare_ids(
    built: Built, known: Sequence[str], own: Sequence[str], first: str, file: str
) -> None:
    if len(known) != len(own) and _are_places(known) and _are_places(own):
        built.wrong(
            "ids-differ",
            f"it has {len(own):,} rows and {printable(first)} {len(known):,}; without a "
            "column of ids, rows are matched by their order",
            file,
        )
        return
    for these, those, what in ((known, own, "lacks"), (own, known, "adds")):
        others = set(those)
        missing = [key for key in these if key not in others]
        if missing:
            built.wrong(
                "ids-differ",
                f"compared with {printable(first)}, it {what} {_some(missing)}; all files "
                "must be about the same inputs",
                file,
            )


def _are_places(keys: Sequence[str]) -> bool:
    return list(keys) == [str(number + 1) for number in range(len(keys))]


def _some(keys: Sequence[str]) -> str:
    named = ", ".join(f"“{printable(key)}”" for key in keys[:_N_NAMED])
    more = len(keys) - _N_NAMED
    of = "id" if len(keys) == 1 else "ids"
    return f"the {of} {named}" + (f" and {more:,} more" if more > 0 else "")


def every_input(built: Built, labels: Mapping[str, str]) -> None:
    """Add problems for items without any text to show."""
    empty = [
        key
        for key, texts in built.fields.items()
        if not any(text.strip() for text in texts.values())
    ]
    if labels and empty:
        built.wrong("missing-cell", f"there is no input for {_some(empty)}")


MOST_SYSTEMS = 100
_LONGEST_ID, _LONGEST_NAME = 200, 100


@dataclass(frozen=True)
class Item:
    id: str
    fields: Mapping[str, str]
    references: Sequence[str] = ()


@dataclass(frozen=True)
class Material:
    """The texts that people rate.

    `labels` maps a field of an item to the label that people read, in order; `formats`
    a field to its format, if it is not plain text; `systems` a system to its output for
    each item, by id.
    """

    labels: Mapping[str, str]
    formats: Mapping[str, str]
    output_format: str
    items: Sequence[Item]
    systems: Mapping[str, Mapping[str, str]]


def put_together(
    tables: Sequence[Table], uses: Sequence[Use], *, fewest: int = 2
) -> tuple[Material, list[Problem]]:
    """Create items and systems' outputs of files, joined by the ids of their rows.

    Parameters
    ----------
    uses : sequence of Use
        The role of each column; see `guess`.

    Returns
    -------
    tuple of Material and list of Problem
        The material is complete only if there are no problems.
    """
    built = Built()
    labels = {slug(use.column): use.name for use in uses if use.role == INPUT}
    for table in tables:
        _take(table, [use for use in uses if use.file == table.file], built)
    same_ids(built, len(tables))
    every_input(built, labels)
    items = [
        Item(key, {name: texts.get(name, "") for name in labels}, built.references[key])
        for key, texts in built.fields.items()
    ]
    if len(items) == 1 < fewest and not built.found.found:
        built.wrong(
            "one-row",
            "there is only one input, on which nothing can be compared; add more",
            tables[0].file,
        )
    formats = {
        slug(use.column): use.format
        for use in uses
        if use.role == INPUT and use.format != TEXT
    }
    output_format = _output_format(uses, built)
    material = Material(labels, formats, output_format, items, built.systems)
    return material, built.found.all()


def slug(column: str) -> str:
    """Return a short name of a column, fit for a key.

    Examples
    --------
    >>> slug("German original"), slug("原文")
    ('german_original', '原文')
    """
    return re.sub(r"\W+", "_", column.strip().lower()).strip("_")[:50] or "field"


def _output_format(uses: Sequence[Use], built: Built) -> str:
    outputs = [use for use in uses if use.role in {SYSTEM, OUTPUT}]
    formats = {use.format for use in outputs}
    if len(formats) > 1 and CONVERSATION in formats:
        talk = next(use for use in outputs if use.format == CONVERSATION)
        other = next(use for use in outputs if use.format != CONVERSATION)
        built.wrong(
            "mixed-types",
            f"this is plain text, and “{printable(talk.column)}” of {printable(talk.file)} "
            "holds conversations; all systems' outputs must be of one kind",
            other.file,
            column=other.column,
        )
    # All are displayed in the plainest format that any of them needs.
    return formats.pop() if len(formats) == 1 else TEXT


def _take(table: Table, uses: Sequence[Use], built: Built) -> None:
    by_role: dict[str, list[Use]] = {}
    for use in uses:
        by_role.setdefault(use.role, []).append(use)
    _apart(table.file, by_role.get(INPUT, ()), built)
    keys = _keys(table, by_role, built, long=bool(by_role.get(NAMES)))
    for key, row in keys:
        _inputs(key, row, table, by_role, built)
    for name, column, rows in _outputs(table, by_role, keys, built):
        _system(name, column, rows, table, built)


def _apart(file: str, inputs: Sequence[Use], built: Built) -> None:
    named: dict[str, str] = {}
    for use in inputs:
        other = named.setdefault(slug(use.column), use.column)
        if other != use.column:
            built.wrong(
                "duplicate-column",
                f"this name and “{printable(other)}” of another input are too much alike; "
                "rename one",
                file,
                column=use.column,
            )


def _keys(
    table: Table, by_role: Mapping[str, Sequence[Use]], built: Built, *, long: bool
) -> list[tuple[str, Row]]:
    columns = [use.column for use in by_role.get(ID, ())][:1]
    by_input: dict[tuple[str, ...], str] = {}
    inputs = [use.column for use in by_role.get(INPUT, ())]
    keys: list[tuple[str, Row]] = []
    seen: dict[str, str] = {}
    for number, row in enumerate(table.rows, start=1):
        if columns:
            key = _given_id(row, columns[0], table.file, built)
        elif long:
            texts = tuple(_text(row.cells.get(name)) for name in inputs)
            key = by_input.setdefault(texts, str(len(by_input) + 1))
        else:
            key = str(number)
        if key in seen and not long:
            built.wrong(
                "duplicate-id",
                f"the id “{printable(key)}” is also in {seen[key]}; each row needs a unique id",
                table.file,
                row.place,
                columns[0] if columns else "",
            )
        elif key:
            seen.setdefault(key, row.place)
            keys.append((key, row))
    built.ids[table.file] = list(dict.fromkeys(key for key, _ in keys))
    return keys


def _given_id(row: Row, column: str, file: str, built: Built) -> str:
    value = row.cells.get(column)
    key = "" if isinstance(value, list) else _text(value).strip()
    if not key or len(key) > _LONGEST_ID:
        built.wrong(
            "bad-id",
            f"an id must have 1 to {_LONGEST_ID} characters"
            if key
            else "the id is missing",
            file,
            row.place,
            column,
        )
        return ""
    return key


def _inputs(
    key: str, row: Row, table: Table, by_role: Mapping[str, Sequence[Use]], built: Built
) -> None:
    texts = built.fields.setdefault(key, {})
    by_name = {slug(use.column): use for use in reversed(by_role.get(INPUT, ()))}
    for name, use in by_name.items():
        text = _text(row.cells.get(use.column))
        if texts.get(name, text) != text:
            built.wrong(
                "input-differs",
                f"the input of “{printable(key)}” differs from an earlier row",
                table.file,
                row.place,
                use.column,
            )
        texts.setdefault(name, text)
    references = built.references.setdefault(key, [])
    for use in by_role.get(REFERENCE, ()):
        for text in _texts(row.cells.get(use.column)):
            if text.strip() and text not in references:
                references.append(text)


def _outputs(
    table: Table,
    by_role: Mapping[str, Sequence[Use]],
    keys: Sequence[tuple[str, Row]],
    built: Built,
) -> Iterator[tuple[str, str, Sequence[tuple[str, Row]]]]:
    names = by_role.get(NAMES, ())
    outputs = by_role.get(OUTPUT, ())
    if not names or not outputs:
        for use in (*by_role.get(SYSTEM, ()), *outputs):
            yield use.name, use.column, keys
        return
    rows: dict[str, list[tuple[str, Row]]] = {}
    for key, row in keys:
        name = _text(row.cells.get(names[0].column)).strip()
        if name:
            rows.setdefault(name, []).append((key, row))
        else:
            built.wrong(
                "missing-cell",
                "the system's name is missing",
                table.file,
                row.place,
                names[0].column,
            )
    for name, of_system in rows.items():
        yield name, outputs[0].column, of_system


def _system(
    name: str, column: str, rows: Sequence[tuple[str, Row]], table: Table, built: Built
) -> None:
    known = {other.casefold(): other for other in built.systems}
    if name.casefold() in known:
        built.wrong(
            "duplicate-system",
            f"a system called “{printable(name)}” is in {built.files[known[name.casefold()]]} "
            "as well; give one another name (--system COLUMN=NAME)",
            table.file,
            column=column,
        )
        return
    if not 0 < len(name.strip()) <= _LONGEST_NAME or len(built.systems) >= MOST_SYSTEMS:
        built.wrong(
            "too-large",
            f"a system's name has 1 to {_LONGEST_NAME} characters, and there are at "
            f"most {MOST_SYSTEMS} systems",
            table.file,
            column=column,
        )
        return
    outputs = built.systems[name] = {}
    built.files[name] = table.file
    for key, row in rows:
        text = _text(row.cells.get(column))
        if not text.strip():
            built.wrong(
                "missing-cell",
                "the output is missing; where a system gave none, write so, such as "
                "“(no output)”",
                table.file,
                row.place,
                column,
            )
        elif key in outputs:
            built.wrong(
                "duplicate-id",
                f"“{printable(name)}” has a second output for “{printable(key)}”",
                table.file,
                row.place,
                column,
            )
        outputs.setdefault(key, text)


def _text(cell: Cell) -> str:
    if isinstance(cell, list):
        return as_text(cell) if is_conversation(cell) else "\n".join(map(str, cell))
    return "" if cell is None else str(cell)


def _texts(cell: Cell) -> list[str]:
    if isinstance(cell, list) and not is_conversation(cell):
        return [str(text) for text in cell]
    return [_text(cell)]
