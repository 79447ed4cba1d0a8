"""Preferences in tables of pairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from genie.lib.errors import GenieError
from leaderboard.table_stats.layouts import Layout

if TYPE_CHECKING:
    import pandas as pd

_TIES = {
    *("", "tie", "equal", "both", "neither", "draw"),
    *("tie (bothbad)", "both_bad", "bothbad", "both bad"),
}
_FIRST = {"a", "first", "system_a", "model_a"}
_SECOND = {"b", "second", "system_b", "model_b"}


def outcomes(frame: pd.DataFrame, layout: Layout, path: Path) -> npt.NDArray[np.int64]:
    """Read preferences: 1 for system a, -1 for b, 0 for a tie.

    Raises
    ------
    GenieError
        ``same-system`` or ``bad-preference``, with the line.
    """
    a, b, preferred = (
        frame[layout.columns[name]].astype(object).fillna("").astype(str).str.strip()
        for name in ("system_a", "system_b", "preferred")
    )
    lower = preferred.str.lower()
    outcome = np.full(len(frame), 9, dtype=np.int64)
    outcome[lower.isin(_TIES)] = 0
    outcome[lower.isin(_FIRST)] = 1
    outcome[lower.isin(_SECOND)] = -1
    if layout.by_value:
        outcome = _of_numbers(lower, outcome)
    # a system's name takes precedence over the meaning of a letter
    outcome[preferred == a] = 1
    outcome[preferred == b] = -1
    line = frame.index.to_numpy() + 2
    if (a == b).any():
        at = int(line[np.argmax(a == b)])
        raise GenieError(
            f"{path.name}, line {at}: a system is compared with itself.",
            code="same-system",
        )
    if (outcome == 9).any():
        bad = int(np.argmax(outcome == 9))
        raise GenieError(
            f"{path.name}, line {int(line[bad])}, column {layout.columns['preferred']}: "
            f"{preferred.iloc[bad]!r} is neither of the two systems nor a tie.",
            code="bad-preference",
        )
    return outcome


def _of_numbers(
    words: pd.Series[str], outcome: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Read numeric preferences: 1, 0.5, 0 as a share of a, or 1, 0, -1."""
    import pandas as pd

    values = pd.to_numeric(words, errors="coerce").to_numpy(np.float64)
    signed = bool((values == -1).any())
    second, tie = (-1.0, 0.0) if signed else (0.0, 0.5)
    chosen = [values == 1, values == tie, values == second]
    return np.select(chosen, [1, 0, -1], outcome).astype(np.int64)


def as_word(cell: object) -> str:
    if cell is None:
        return ""
    return json.dumps(cell) if isinstance(cell, list) else str(cell)
