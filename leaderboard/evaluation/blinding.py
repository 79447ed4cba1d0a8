"""Whether a board's ratings follow what they should not: order, length and style."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from leaderboard.designs.unit import Unit
from leaderboard.evaluation.estimates import groups_of
from leaderboard.evaluation.stored_fit import DIGITS
from leaderboard.stats.blinding.effects import Effect, effect
from leaderboard.stats.blinding.style import style_share

if TYPE_CHECKING:
    import pandas as pd

# Beyond so many ratings the search takes minutes.
_SEARCHED = 200_000


def board_blinding(
    shown: pd.DataFrame, unit_of: Mapping[tuple[int, str], Unit], *, seed: int
) -> dict[str, dict[str, Any]]:
    """Give, by criterion, what a later place, twice the length and style do to ratings.

    `shown` are the board's ratings with what `selectors.shown` adds. Effects are in points
    of the score (in percent, where scores are ratios), each None where it cannot be told.
    """
    return {
        criterion: _of(group, unit, seed)
        for criterion, unit, group in groups_of(shown, unit_of)
        if len(group) <= _SEARCHED
    }


def _of(group: pd.DataFrame, unit: Unit, seed: int) -> dict[str, Any]:
    values = unit.averaged(group["value"].to_numpy(float))
    worker, system, instance = (
        group[name].to_numpy() for name in ("worker", "submission", "instance")
    )
    texts = group["text"].tolist()
    length = np.log2([1 + len(text.split()) for text in texts])
    held = [system, instance]
    style = style_share(values, texts, worker, system, instance, seed=seed)
    return {
        "unit": "percent" if unit.logarithmic else "points",
        "order": _shown(effect(values, group["late"], worker, held), unit),
        "length": _shown(effect(values, length, worker, held), unit),
        "style": style
        and {
            "estimate": _short(100 * style.share),
            "low": _short(100 * style.low),
            "high": _short(100 * style.high),
        },
    }


def _shown(found: Effect | None, unit: Unit) -> dict[str, Any] | None:
    if found is None:
        return None
    ends = [found.estimate, found.low, found.high]
    if unit.logarithmic:
        ends = [100 * math.expm1(min(end, 50.0)) for end in ends]
    estimate, low, high = (_short(end) for end in ends)
    return {"estimate": estimate, "low": low, "high": high}


def _short(value: float) -> float | None:
    return round(value, DIGITS) if math.isfinite(value) else None
