"""Helpers of table readers: stacked criteria, texts, and repeated rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from genie.lib.errors import GenieError
from leaderboard.imports.readers.judgments import (
    Judgments,
    Problem,
    Role,
    Texts,
    frame,
    supersede,
)
from leaderboard.imports.readers.names import (
    Floats,
    is_nothing,
    numbers,
    read_both_ways,
)
from leaderboard.imports.readers.tables import Table, number_problems

if TYPE_CHECKING:
    import pandas as pd

SAME_THING = ("worker", "instance", "system", "criterion")


def stacked(
    parts: Sequence[Mapping[str, Any]], extra: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Stack the values of several columns of a line as rows.

    Each of `parts` has columns as for `judgments.frame`, all of one length; `extra` has
    the other columns of a line. Returns rows and extra in the order of the lines and of
    `parts`, both with the index 0, 1, ..., without empty rows and judgments of no
    system.
    """
    import pandas as pd

    rows = pd.concat([frame(part) for part in parts], ignore_index=True)
    n = len(rows) // len(parts)
    line = np.tile(np.arange(n), len(parts))
    order = np.argsort(line, kind="stable")
    rows, line = rows.iloc[order], line[order]
    said = ~(rows["value"].isna() & (rows["word"] == ""))
    named = (rows["system"] != "") | (rows["role"] != Role.JUDGMENT.value)
    good = (said & named).to_numpy()
    return (
        rows[good].reset_index(drop=True),
        extra.iloc[line[good]].reset_index(drop=True),
    )


def words_of(table: Table, name: str | None) -> npt.NDArray[np.object_]:
    """Return a column's words; if there is none, as many empty ones."""
    return table.column(name) if name else np.full(len(table.rows), "", dtype=object)


def names_of(table: Table, name: str | None) -> npt.NDArray[np.object_]:
    return table.names(name) if name else np.full(len(table.rows), "", dtype=object)


def say_blanks(table: Table, columns: Sequence[str]) -> list[Problem]:
    """Return a problem for names that differ only in the blanks around them."""
    cells = {
        str(word) for name in columns for word in table.words[name] if word.strip()
    }
    alike = sorted(
        word for word in cells if word != word.strip() and word.strip() in cells
    )
    sentence = (
        f"Read without the blanks around them: {', '.join(map(repr, alike[:5]))}."
    )
    place = ", ".join(columns)
    return [Problem(table.name, 0, place, sentence, fatal=False)] if alike else []


def answers(
    table: Table, name: str
) -> tuple[npt.NDArray[np.object_], Floats, list[Problem]]:
    """Return a column's words and numbers, and their problems.

    If most words are no numbers, they are labels: all values are NaN. Else a word that
    is no number is a problem, and its row counts as empty.
    """
    words = table.column(name)
    values, nothing = numbers(words), is_nothing(words)
    words = np.where(nothing, "", words)
    said = ~nothing
    if np.isnan(values[said]).sum() > said.sum() / 2:
        return words, np.full(len(words), np.nan), []
    problems = number_problems(table, name, values, nothing)
    words = np.where(np.isnan(values), "", words)
    if nothing.any():
        sentence = f"Empty cells, which say nothing: {int(nothing.sum()):,}."
        problems.append(Problem(table.name, 0, name, sentence, fatal=False))
    return words, values, problems


def refuse_both_ways(table: Table, name: str) -> None:
    """Refuse a column whose commas may be decimal or of thousands.

    Raises ``two-readings``.
    """
    words = table.column(name)
    if read_both_ways(words):
        i = int(np.flatnonzero(~np.isnan(numbers(words)))[0])
        point, plain = words[i].replace(",", "."), words[i].replace(",", "")
        raise GenieError(
            f"{table.name}, row {table.rows[i]:,}, {name}: {words[i]!r} can be {point} or "
            f"{plain}, as all numbers of the column; write it in one of these two ways.",
            code="two-readings",
        )


def put_outputs(
    texts: Texts,
    systems: Iterable[str],
    instances: Iterable[str],
    outputs: Iterable[str],
) -> None:
    """Add systems' texts; the first of each system and instance is kept."""
    for system, instance, text in zip(systems, instances, outputs, strict=True):
        if text and system:
            texts.outputs.setdefault((system, instance), text)


def put_inputs(
    texts: Texts, instances: Iterable[str], name: str, words: Iterable[str]
) -> None:
    for instance, text in zip(instances, words, strict=True):
        if text:
            texts.inputs.setdefault(instance, {}).setdefault(name, text)


def put_references(
    texts: Texts, instances: Iterable[str], words: Iterable[str]
) -> None:
    for instance, text in zip(instances, words, strict=True):
        if text and text not in texts.references.setdefault(instance, []):
            texts.references[instance].append(text)


def say_doubles(
    judgments: Judgments, name: str, by: Sequence[str] = SAME_THING
) -> None:
    """Mark all but the last of repeated judgments, and report their number."""
    n = supersede(judgments.rows, by)
    if n:
        sentence = (
            f"Rows said again by the same worker, of which the last holds: {n:,}."
        )
        judgments.problems.append(Problem(name, 0, "", sentence, fatal=False))
