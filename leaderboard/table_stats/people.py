"""Rows made by people in a table, as opposed to programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from leaderboard.imports.readers.people import is_program
from leaderboard.table_stats.layouts import Layout

if TYPE_CHECKING:
    import pandas as pd

Rows = npt.NDArray[np.bool_]
SIMULATED = "simulated annotators"
_YES, _NO = ("true", "1", "1.0", "yes"), ("false", "0", "0.0", "no")
_NAMED = 5


@dataclass(frozen=True)
class Programs:
    """Rows made by programs, shape (n,), and the programs' names."""

    rows: Rows
    names: list[str]


NOBODY = Programs(np.zeros(0, np.bool_), [])


def programs_of(frame: pd.DataFrame, layout: Layout) -> Programs:
    """Find the rows that programs made, by name; hashes and numbers do not reveal programs.

    A line of a table of pages counts as one row per system.
    """
    rows = np.zeros(len(frame), np.bool_)
    names: list[str] = []
    if "worker" in layout.labels:
        column = frame[layout.labels["worker"]].astype("category").cat
        programs = np.array([is_program(str(name)) for name in column.categories])
        names = [str(name) for name in column.categories[programs.nonzero()[0]]]
        if names:
            # missing names have the code -1, which is the last place
            rows = np.append(programs, False)[column.codes.to_numpy()]
    if (mark := _mark(layout, "simulated")) is not None:
        simulated = _is(frame[mark], _YES)
        names += [SIMULATED] * bool((simulated & ~rows).any())
        rows |= simulated
    return Programs(np.tile(rows, max(layout.places, 1)), names)


def counting(frame: pd.DataFrame, layout: Layout) -> tuple[Rows, list[str]]:
    """Select rows, shape (n,): no votes after systems were revealed, no superseded votes.

    The notes contain how many rows are left out, and why. `frame` is in the file's order.
    """
    rows = np.ones(len(frame), np.bool_)
    notes: list[str] = []
    if layout.kind != "pairs":
        return rows, notes
    if (mark := _mark(layout, "anony")) is not None:
        shown = _is(frame[mark], _NO)
        # if all were revealed, the comparison was not meant to be blind
        if shown.any() and not shown.all():
            rows &= ~shown
            notes.append(
                f"Left out: {shown.sum():,} votes with the systems' names shown."
            )
    if {"worker", "instance"} <= set(layout.labels):
        same = [*layout.labels.values(), *filter(None, [_mark(layout, "turn")])]
        again = np.zeros(len(frame), np.bool_)
        again[rows] = frame.loc[rows, same].duplicated(keep="last").to_numpy()
        if again.any():
            rows &= ~again
            notes.append(
                f"Left out: {again.sum():,} votes that the same worker gave again later."
            )
    return rows, notes


def people_of(parts: Sequence[Programs]) -> tuple[Rows | None, list[str]]:
    """Select people's rows of all files, shape (n,), with notes about the programs' rows.

    The rows are None if all of them count, because all or none were made by programs.
    """
    programs = np.concatenate([part.rows for part in parts])
    n = int(programs.sum())
    if not n:
        return None, []
    said = _listed(sorted({name for part in parts for name in part.names}))
    if n == len(programs):
        return None, [f"All of these are by programs ({said}): no person said any."]
    return ~programs, [f"Left out: {n:,} by programs ({said}), which are not people."]


def _listed(names: Sequence[str]) -> str:
    more = ", …" if len(names) > _NAMED else ""
    return ", ".join(name[:40] for name in names[:_NAMED]) + more


def _mark(layout: Layout, name: str) -> str | None:
    return next((one for one in layout.marks if one.strip().lower() == name), None)


def _is(column: pd.Series[str], words: Sequence[str]) -> Rows:
    said = column.astype(object).fillna("").astype(str).str.strip().str.lower()
    found: Rows = said.isin(words).to_numpy()
    return found
