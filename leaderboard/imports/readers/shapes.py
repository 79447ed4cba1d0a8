"""Reshape files and tables as a mapping says, before their columns get roles.

`files` are patterns of file names, such as `{set*}.{criterion}.seg.score`; files without
one are not read, and of several sets one is read. `header` has the numbers of the rows with
the names, which are joined; "no": the first row is a row like others. `rows` are lists in JSON of which each entry becomes a row. `cells` are
patterns for the cells of a column, such as `{item}__{system}`, of which the first that
fits all is used. `numbered` is a column: the n-th row of each of its values is item n.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, count, product
from statistics import median
from typing import Any

import numpy as np

from genie.lib.errors import GenieError
from leaderboard.files import File, printable
from leaderboard.imports.readers.families import Column, name_by_words
from leaderboard.imports.readers.layout import Choice
from leaderboard.imports.readers.mapping import split_names
from leaderboard.imports.readers.names import is_nothing, numbers
from leaderboard.imports.readers.patterns import family_between, group_numbers, matches
from leaderboard.imports.readers.values import ALONE, MEASURES, OF_FILE, Values
from leaderboard.imports.readers.words import are_sides, is_sided, name_one_of
from leaderboard.tables import Table, columns_of, read_table

# A part of cells is a name if it comes this often, on average.
_OFTEN = 5
# Rows that may have names, and rows below by which they are known.
_TOP, _BELOW = 9, 300
# Roles of columns that may be joined from another file.
_JOINED = (
    "system", "system 1", "system 2", "text", "text 1", "text 2", "source", "reference",
    "document", "kind",
)  # fmt: skip


@dataclass(frozen=True)
class Read:
    """A table that was read, with words for cells."""

    number: int
    table: Table
    words: dict[str, Any]


def as_list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


def parts_of_names(files: Sequence[File], patterns: Any) -> dict[int, dict[str, str]]:
    """Return what the patterns read in the files' names, by number; all without patterns."""
    names = [one.name.replace("\\", "/").removesuffix(".gz") for one in files]
    if not patterns:
        return {number: {} for number in range(len(names))}
    found: dict[str, dict[str, str]] = {}
    for pattern in as_list(patterns):
        found |= matches(pattern, [name for name in names if name not in found])
    return {number: found[name] for number, name in enumerate(names) if name in found}


def of_one_set(
    files: Sequence[File], choices: Mapping[str, Any]
) -> tuple[dict[int, dict[str, str]], list[Choice]]:
    """Return the parts of the names of one set's files, and else the question which set.

    Raises "unknown-choice".
    """
    parts = parts_of_names(files, choices.get("files"))
    # a pair of languages is written da-en and daen
    named = {_plain(one): one["set"] for one in parts.values() if "set" in one}
    sets = tuple(sorted(named.values()))
    wanted = str(choices.get("set") or "")
    key = _plain({"set": wanted})
    if not parts or (wanted and key not in named):
        raise GenieError(
            f"No file is of {wanted or 'the form ' + ' or '.join(as_list(choices['files']))}; "
            f"there are {', '.join(sets or [one.name for one in files[:20]])}.",
            code="unknown-choice",
        )
    if len(sets) > 1 and not wanted:
        return parts, [Choice("set", "Which of the sets of files?", sets, needed=True)]
    return {
        number: {k: v for k, v in one.items() if k != "set"}
        for number, one in parts.items()
        if _plain(one) in ("", key) or not wanted
    }, []


def _plain(parts: Mapping[str, str]) -> str:
    return parts.get("set", "").replace("-", "")


def name_columns(file: File, table: Table, wanted: Any) -> Table:
    """Return a table with names from rows below the first, if the names are there.

    `wanted` are the numbers of the rows. By default, they are found: below a title, and
    rows of words above columns of numbers. Raises "unknown-choice".
    """
    is_grid = table.unit in ("line", "row") or "column 1" in table.cells
    if not is_grid or wanted in ("no", "yes"):
        return table
    if not wanted and "column 2" not in table.cells:
        top = _first_rows(table)
        if not (_import_ids(top) or _is_header(top[0], top[1:])):
            return table
    raw = read_table(file, header=False)
    top = _first_rows(raw)
    try:
        chosen = re.findall(r"\d+", str(wanted or ""))
        at = [raw.numbers.index(int(n)) for n in chosen] or _header_rows(top)
    except ValueError as error:
        raise GenieError(
            f"{file.name} has no {raw.unit} {wanted}. header is no, or the numbers of the "
            f"{raw.unit}s with the names, such as {raw.numbers[0]}.",
            code="unknown-choice",
        ) from error
    is_new = table.columns == raw.columns and _is_header(*_below(top, 0))
    if not (wanted or is_new) and at == [0]:
        return table
    names = _joined_names([top[k] for k in at])
    cells = {
        name: column[at[-1] + 1 :]
        for name, column in zip(names, raw.cells.values(), strict=True)
        if name or any(column[at[-1] + 1 :])
    }
    problems = [one for one in raw.problems if one.code != "no-header"]
    made = replace(
        raw, cells=cells, numbers=raw.numbers[at[-1] + 1 :], problems=problems
    )
    rows = ", ".join(str(raw.numbers[k]) for k in at)
    made.note(
        "header-rows",
        f"names of columns were read from {raw.unit} {rows}, and no rating from there or "
        f"above; header={raw.numbers[0]} would read {raw.unit} {raw.numbers[0]} alone",
    )
    return made


def _first_rows(table: Table) -> list[tuple[str, ...]]:
    columns = ([str(c).strip() for c in v[:_BELOW]] for v in table.cells.values())
    return list(zip(*columns, strict=True)) or [()]


def _import_ids(rows: Sequence[Sequence[str]]) -> int:
    ids = (any(c.startswith('{"ImportId"') for c in row) for row in rows[:_TOP])
    return max((k for k, is_ids in enumerate(ids, 1) if is_ids), default=0)


def _header_rows(rows: Sequence[Sequence[str]]) -> list[int]:
    filled = [len({*row} - {""}) for row in rows]
    titles = [n < 2 and row[0] != "" for n, row in zip(filled, rows, strict=True)]
    titles = titles if median(filled) > 2 else [False]
    at = [titles.index(False)] if False in titles[:_TOP] else [0]
    last = _import_ids(rows)
    while at[-1] + 1 < last or _is_header(*_below(rows, at[-1] + 1)):
        at.append(at[-1] + 1)
    return at


def _below(rows: Sequence[Any], k: int) -> tuple[Sequence[str], Sequence[Any]]:
    return (rows[k] if k < len(rows) else ()), rows[k + 1 :]


def _is_header(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    n_odd = 0
    for cell, *column in zip(row, *below, strict=True) if row else ():
        values = [word for word in column if word]
        if len(values) < 4 or is_nothing([cell])[0]:
            continue
        if cell in values or not np.isnan(numbers([cell])[0]):
            return False
        again = 2 * len({*values}) <= len(values)
        n_odd += again or bool(np.isnan(numbers(values)).mean() < 0.2)
    return n_odd > 1


def _joined_names(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a name for each column, or "": the lower words are added to shared names."""
    names = rows[0]
    # Qualtrics describes its columns
    for lower in () if _import_ids(rows) else rows[1:]:
        pairs = list(zip(names, lower, strict=True))
        filled = accumulate(pairs, lambda a, b: b[0] or a * bool(b[1]), initial="")
        above = list(filled)[1:]
        names = [
            f"{one}: {word}" if one and word and above.count(one) > 1 else name or word
            for (name, word), one in zip(pairs, above, strict=True)
        ]
    return [
        f"{name} ({n + 1})" if name and (n := names[:k].count(name)) else name
        for k, name in enumerate(names)
    ]


def in_rows(table: Table, name: str) -> Table:
    """Return a table with a row for each entry of the lists in a column."""
    lists = [
        one if isinstance(one, list) else [one] for one in table.cells.get(name, ())
    ]
    if not lists:
        return table
    counts = [len(one) for one in lists]
    cells = {
        other: list(
            chain.from_iterable(
                [cell] * n for cell, n in zip(column, counts, strict=True)
            )
        )
        for other, column in table.cells.items()
        if other != name
    }
    found = columns_of([{name: one} for one in chain.from_iterable(lists)])
    cells |= {other: [*column] for other, column in found}
    numbers = np.repeat(np.asarray(table.numbers), counts).tolist()
    return replace(table, cells=cells, numbers=numbers)


def fill_down(table: Table) -> Table:
    """Return a table whose first columns have, in empty cells, the cell above.

    Only names of blocks of rows are filled: each comes once, and most cells are empty.
    """
    for name, column in table.cells.items() if table.unit in ("line", "row") else ():
        filled = [str(cell) for cell in column if str(cell).strip()]
        is_block = 1 < len({*filled}) == len(filled) <= len(column) / 3
        if not (is_block and column[0] and np.isnan(numbers(filled)).all()):
            break
        n_names = accumulate(bool(str(cell).strip()) for cell in column)
        column[:] = [filled[n - 1] for n in n_names]
        table.note("filled-down", f"empty cells of {name} were read as the cell above")
    return table


def join_entities(table: Table) -> Table:
    """Return a row for each entity of rows of entity, attribute and value.

    One attribute names systems beside others with ratings; its last value counts.
    """
    import pandas as pd

    if len(table.cells) != 3:
        return table
    key, name, value = table.cells
    rows = pd.DataFrame(table.cells, dtype=str).assign(number=table.numbers)
    roles = [
        Values(str(one), [*own]).guess[0] for one, own in rows.groupby(name)[value]
    ]
    if len(roles) > 60 or roles.count("system") != 1 or "rating" not in roles:
        return table
    last = rows.drop_duplicates([key, name], keep="last")
    wide = last.pivot(index=key, columns=name, values=value).fillna("").reset_index()
    first = rows.groupby(key)["number"].min().tolist()
    made = replace(table, cells={str(c): [*wide[c]] for c in wide}, numbers=first)
    made.note(
        "joined-rows",
        f"rows of one {key} were joined by {name}; of values that a later row repeats, "
        f"{len(rows) - len(last):,} do not count",
    )
    return made


def reshape(
    read: Sequence[Read],
    choices: Mapping[str, Any],
    parts: Mapping[int, Mapping[str, str]],
) -> dict[str, Any]:
    """Add columns for parts of names and cells, and return the choices with their roles.

    Raises "uneven-items".
    """
    made = dict(choices)
    if "={" in str(made.get("system", "")):
        made["cells"] = made.pop("system")
    known = set(chain.from_iterable(one.words for one in read))

    def add(one: Read, of: str, part: str, words: Any) -> None:
        name = f"{of}: {part}"
        one.words[name] = np.asarray(words, dtype=object)
        role = _ROLE.get(part, part)
        names = [*split_names(made.get(role) or (), known)]
        if name not in names:
            made[role] = [*names, name]

    for one in read:
        for part, word in parts[one.number].items():
            add(one, "file", part, [word] * len(one.table.numbers))
        if not made.keys() & {*MEASURES} - {"choice"}:
            for role, found in _find_preference(one, made.get("choice")).items():
                if role == "ignore":
                    made[role] = [*split_names(made.get(role) or (), known), found]
                elif isinstance(found, str):
                    made.setdefault(role, found)
                else:
                    made.pop(role, None)
                    add(one, "preference", role, found)
    cells = made.get("cells") or _cells_of_two(read, choices)
    if isinstance(cells, str):
        cells = dict(
            one.split("=", 1) for one in split_names(cells, set()) if "=" in one
        )
    for column, patterns in cells.items():
        having = [one for one in read if column in one.words]
        different = sorted(
            set(chain.from_iterable(one.words[column] for one in having))
        )
        fields = _parts_of_cells(as_list(patterns), different)
        if not fields:
            raise GenieError(
                f"{column} has no {' or '.join(as_list(patterns))} in each of its cells, "
                f"such as {', '.join(map(printable, different[:3]))}. The columns are: "
                f"{', '.join(map(printable, known))}.",
                code="unknown-choice",
            )
        for one in having:
            words = one.words[column]
            for part in next(iter(fields.values())):
                add(one, column, part, [fields[word][part] for word in words])
    column = choices.get("numbered")
    for one in read:
        if column in one.words:
            add(one, column, "item", list(_count_items(one, column)))
    return made


def _find_preference(one: Read, chosen: Any) -> dict[str, Any]:
    """Return roles and columns, or new words: a choice by two ranks, or the two ends.

    Of two systems the one of the lower rank is preferred, or of the higher score. Of several beside as many marks,
    the best is that of the only 1, and the worst that of the only 2 or -1.
    """
    known = [*one.words]
    is_number = {n for n in known if not np.isnan(numbers(one.words[n][:99])).all()}
    chosen = [*split_names(chosen or (), {*known})]
    chosen = [*chain.from_iterable(matches(c, known) or [c] for c in chosen)]
    twos = dict[str, list[str]]()
    many = {n for f in group_numbers(known) if len(f.columns) > 2 for n in f.columns}
    for name in known:
        if name not in many and len(_SIDE.findall(name)) == 1:
            twos.setdefault(_SIDE.sub("", name).lower(), []).append(name)
    sided = [two for two in twos.values() if len(two) == 2 and not is_number & {*two}]
    systems = [two for two in sided if are_sides(*(one.words[n] for n in two))]
    ranked = [two for stem, two in twos.items() if "rank" in stem and not chosen]
    ranked = [two for two in (ranked or [chosen]) if len(two) == 2]
    if len(ranked) == 1 and {*ranked[0]} <= is_number and (systems or chosen):
        cells = np.array([numbers(one.words[name]) for name in ranked[0]])
        lead = cells[1] - cells[0]
        if not all("rank" in name.lower() for name in ranked[0]):
            # numbers of sides are choices of two raters
            lead = np.nan if np.isin(cells, (0, 1, 2)).all() else -lead
        words = np.select(
            [lead > 0, lead < 0, lead == 0], ["first", "second", "tie"], ""
        )
        sides = zip(("system 1", "system 2"), *systems[:1], strict=False)
        if not np.isnan(lead).all():
            return {"choice": words.astype(object), **dict(sides if systems else ())}
    families = defaultdict[str, dict[str, str]](dict)
    for name in () if chosen else known:
        if last := re.search(r"\d+(?=\D*$)", name):
            stem = f"{name[: last.start()]}{{part}}{name[last.end() :]}"
            families[stem][last[0]] = name
    several = [(stem, one) for stem, one in families.items() if len(one) > 2]
    for (ignored, marks), (stem, named) in product(several, several):
        if marks.keys() != named.keys() or is_number & {*named.values()}:
            continue
        cells = np.array([numbers(one.words[name]) for name in marks.values()])
        ends = [cells == 1, cells == (-1 if (cells == -1).any() else 2)]
        known_marks = (cells == 0) | ends[0] | ends[1]
        if known_marks.all() and all((end.sum(0) == 1).all() for end in ends):
            names = np.array([one.words[name] for name in named.values()])
            best, worst = (names[end.argmax(0), range(end.shape[1])] for end in ends)
            return {"best": best, "worst": worst, "system": stem, "ignore": ignored}
    return {}


def _cells_of_two(read: Sequence[Read], choices: Mapping[str, Any]) -> dict[str, str]:
    """Return a pattern of cells such as `red,blue` that other cells choose from."""
    columns = read[0].words.items()
    for (name, words), mark in product(columns, (",", ";", "|", " vs ", " vs. ")):
        if not len(words) or words[0].count(mark) != 1:
            continue
        two = {word: word.split(mark) for word in set(words)}
        if len(two) < 2 or any(len(one) != 2 for one in two.values()):
            continue
        first, second = ([two[word][k].strip() for word in words] for k in (0, 1))
        if any(
            name_one_of(cells, first, second)
            or (are_sides(first, second) and is_sided({*cells} - {""}, only=True))
            for other, cells in columns
            if other != name
        ):
            return (
                {}
                if choices.keys() & {"system", "system 1"}
                else {name: f"{{system_1}}{mark}{{system_2}}"}
            )
    return {}


# In the name of one of two columns.
_SIDE = re.compile(r"(?<![^\W_])(?:a|b|left|right|first|second)(?![^\W_])|\d+", re.I)
_ROLE = {"part": "item", "system_1": "system 1", "system_2": "system 2"}


def _parts_of_cells(
    patterns: Sequence[str], words: Sequence[str]
) -> dict[str, dict[str, str]]:
    """Return the parts of words by the first pattern of frequent names, or the last."""
    for pattern in patterns:
        found = matches(pattern, words)
        if len(found) == len(words) and all(
            len(set(column)) * _OFTEN <= len(column)
            for column in zip(*(one.items() for one in found.values()), strict=True)
            if pattern != patterns[-1]
            and column[0][0] not in ("item", "part", "system_1", "system_2")
        ):
            return found
    return {}


def _count_items(one: Read, column: str) -> Iterator[str]:
    words = one.words[column]
    sizes = set(Counter(words).values())
    if len(sizes) > 1:
        raise GenieError(
            f"{one.table.file} has {min(sizes):,} to {max(sizes):,} rows for each of its "
            "systems: it needs a row for each item.",
            code="uneven-items",
        )
    seen: dict[str, Iterator[int]] = defaultdict(lambda: count(1))
    yield from (str(next(seen[word])) for word in words)


def join_tables(read: Sequence[Read]) -> list[Read]:
    """Join tables whose shared columns tell the rows of one apart, and have all values of the other.

    One column may be enough, if the other shared ones have words that differ in all rows.
    """
    left = list(read)
    for other in reversed(read):
        for one in (one for one in left if one is not other):
            own, theirs = (
                [n for n in o.words if n not in OF_FILE] for o in (one, other)
            )
            shared = [name for name in theirs if name in own]
            for keys in [shared, *([name] for name in shared)] if shared else ():
                at = _rows_of(one, other, keys, keys)
                if at is None or len(keys) == min(len(theirs), len(own)):
                    continue
                # a row that no other row names may be a rating
                if len({*at} - {-1}) < len(other.table.numbers):
                    continue
                rest = {
                    n: np.append(other.words[n], "")[at]
                    for n in theirs
                    if n not in keys
                }
                again = {n for n in rest if n in shared}
                apart = (
                    (rest[n] != one.words[n]) & np.isnan(numbers(rest[n]))
                    for n in again
                )
                if not all(map(np.all, apart)):
                    continue
                for name, cells in rest.items():
                    one.words[
                        f"{name}: {other.table.stem}" if name in again else name
                    ] = cells
                left = [each for each in left if each is not other]
                break
            if all(each is not other for each in left):
                break
    return left


def _rows_of(one: Read, other: Read, own: Sequence[str], theirs: Sequence[str]) -> Any:
    """Return the row of the other table for each row of one, -1 for a few; None if it has many not."""
    keys = zip(*(other.words[name] for name in theirs), strict=True)
    row = {key: i for i, key in enumerate(keys)}
    wanted = [*zip(*(one.words[name] for name in own), strict=True)]
    n_found = sum(map(row.__contains__, wanted))
    if len(row) < len(other.table.numbers) or n_found < 0.9 * len(wanted):
        return None
    return [row.get(key, -1) for key in wanted]


def join_files(read: Sequence[Read], columns: Sequence[Column]) -> None:
    """Add what a file without ratings says about rated rows that name no system.

    Its rows are found by the columns that it shares with these, which tell its rows apart,
    else by the column that has all values of one of these.
    """
    role_of = {name: one.role for one in columns for name in one.fields}

    def columns_of(one: Read, *roles: str) -> list[str]:
        return [name for name in one.words if role_of.get(name) in roles]

    rated = [one for one in read if columns_of(one, *MEASURES)]
    for other, one in product(read, rated):
        if columns_of(other, *MEASURES) or columns_of(one, "system", "system 1"):
            continue
        measures = columns_of(one, *MEASURES)
        for own, theirs in _keys_of(one, other, measures):
            if (at := _rows_of(one, other, own, theirs)) is None:
                continue
            for name in columns_of(other, *_JOINED):
                one.words.setdefault(name, np.append(other.words[name], "")[at])
            for column in columns:
                if column.reason == ALONE and column.name in own:
                    why = f"{other.table.file} says what it names"
                    column.role, column.reason = "ignore", why
            break
        else:
            _name_numbers(one, other, columns, columns_of(other, "system"))


def _name_numbers(
    one: Read, other: Read, columns: Sequence[Column], systems: Sequence[str]
) -> None:
    """Add the system to what names of rated columns say, by another table's column of their numbers."""
    rated = [
        o
        for o in columns
        if o.role in MEASURES and not one.words.keys().isdisjoint(o.fields)
    ]
    for key in other.words if systems else ():
        named = dict(zip(other.words[key], other.words[systems[0]], strict=True))
        if len(named) < len(other.table.numbers):
            continue
        parts = {part for o in rated for part in o.numbers_in_name}
        if not parts and len(rated) > 1:
            # `score_X` and `score_Y` differ in words
            words = family_between([o.name for o in rated]).columns.values()
            if {word for (word,) in words} <= named.keys():
                name_by_words(rated, "system")
                parts = {"system"}
        for part, column in product(parts, rated):
            own = [fields.get(part) for fields in column.fields.values()]
            if {*own} <= named.keys():
                for fields in column.fields.values():
                    fields["system"] = named[fields[part]]


def _keys_of(
    one: Read, other: Read, measures: Sequence[str]
) -> Iterator[tuple[list[str], list[str]]]:
    shared = [n for n in other.words if n in one.words and n not in OF_FILE]
    yield from [(shared, shared)] * bool(shared)
    for theirs, own in product(other.words, one.words):
        values = {*one.words[own]}
        if own not in measures and len(values) > 1 and values <= {*other.words[theirs]}:
            yield [own], [theirs]
