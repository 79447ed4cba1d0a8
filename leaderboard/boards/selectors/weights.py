"""A board under a visitor's own weights over its criteria."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from genie.lib.seeds import seed_from
from genie.lib.serving.computed_once import computed_once
from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.boards.selectors.systems import System, ranked_pks, systems
from leaderboard.designs.unit import Unit
from leaderboard.evaluation.estimates import from_json, weights_in
from leaderboard.evaluation.models.board_fit import BoardFit
from leaderboard.evaluation.selectors.board_ratings import (
    board_ratings,
    board_scores,
    current_fit,
    evaluations_of,
    units_of,
    weighed,
)
from leaderboard.stats.ranking import RankRange
from leaderboard.stats.systems.criteria import together, weigh, weighted_mean
from leaderboard.stats.systems.estimates import SystemEstimates, estimate_systems
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    import pandas as pd

LARGEST = 100.0
_KEPT_SECONDS = 3600


@dataclass(frozen=True)
class WeightedRow:
    """A system's place under the weights, in points."""

    system: System
    estimate: float
    # None where only one worker rated the system
    low: float | None
    high: float | None
    ranks: RankRange
    p_first: float


def read_weights(
    criteria: list[str], parameters: Mapping[str, str]
) -> dict[str, float]:
    """Read `w.<criterion>=number`; what is missing or no weight is 1 or 0.

    Where nothing is left but zeros, all criteria weigh the same.
    """
    weights = {name: _weight(parameters.get(f"w.{name}")) for name in criteria}
    return weights if any(weights.values()) else dict.fromkeys(criteria, 1.0)


def _weight(text: str | None) -> float:
    if text is None:
        return 1.0
    try:
        value = float(text)
    except ValueError:
        return 0.0
    # an address can say inf or nan, which would make every weighted mean the same
    return min(max(value, 0.0), LARGEST) if math.isfinite(value) else 0.0


def weighted_rows(task: Task, weights: Mapping[str, float]) -> list[WeightedRow]:
    """Rank under the weights, by the board's own rule; kept until the board changes."""
    fit = current_fit(task)
    if fit is None:
        return []
    chosen = {name: weight for name, weight in weights.items() if weight}
    if not all(name in fit.criteria for name in chosen):
        return []
    shares = "-".join(f"{name}={weight:g}" for name, weight in weights.items())
    return computed_once(
        f"weights-{fit.pk}-{shares}", lambda: _rows(task, fit, chosen), _KEPT_SECONDS
    )


def _rows(task: Task, fit: BoardFit, weights: Mapping[str, float]) -> list[WeightedRow]:
    estimates = _estimates(task, fit, weights)
    named = {str(s.pk): s for s in systems(task, ranked_pks(task))}
    ranked = [name for name in estimates.systems if name in named]
    logarithmic = _unit(task).logarithmic
    rows = []
    for row in weigh(estimates, ranked, seed=seed_from("weights", task.slug)):
        low, high = (
            (row.interval.low, row.interval.high) if row.interval else (None, None)
        )
        rows.append(
            WeightedRow(
                named[row.system],
                _points(row.estimate, logarithmic),
                None if low is None else _points(low, logarithmic),
                None if high is None else _points(high, logarithmic),
                row.ranks,
                row.p_first,
            )
        )
    return rows


def _points(value: float, logarithmic: bool) -> float:
    # magnitudes are averaged as logarithms: back to geometric means, 100 for the
    # reference
    return 100 * math.exp(value) if logarithmic else value


def _unit(task: Task) -> Unit:
    scores = list(board_scores(task).select_related("evaluation"))
    main = main_criterion(task)
    units = units_of([score for score in scores if score.criterion == main])
    return next(iter(units.values()))


def _estimates(
    task: Task, fit: BoardFit, weights: Mapping[str, float]
) -> SystemEstimates:
    if len(weights) == 1:
        return from_json(fit.criteria[next(iter(weights))])
    table = _side_by_side(task, list(weights))
    values = weighted_mean(table.to_numpy(float), list(weights.values()))
    whole = ~np.isnan(values)
    if whole.mean() > 0.5:
        labels = table.index[whole].to_frame(index=False)
        return estimate_systems(
            values[whole],
            labels["submission"].to_numpy(),
            labels["worker"].to_numpy(),
            labels["instance"].to_numpy(),
            # as in the fit of each criterion
            weights=weights_in(weighed(labels, fit.weights)),
        )
    # each criterion asked of other workers: their errors have nothing in common
    fits = _of_all([from_json(fit.criteria[name]) for name in weights])
    return together(fits, list(weights.values()))


def _of_all(fits: Sequence[SystemEstimates]) -> list[SystemEstimates]:
    """Keep the systems that every criterion has."""
    common = set.intersection(*(set(fit.systems) for fit in fits))
    return [fit.of(sorted(common, key=fit.systems.index)) for fit in fits]


def _side_by_side(task: Task, criteria: Sequence[str]) -> pd.DataFrame:
    """Give what each worker said of an output: a row a rating, a column a criterion."""
    scores = list(board_scores(task).select_related("evaluation"))
    units = units_of(scores)
    ratings = board_ratings(evaluations_of(scores))
    ratings = ratings[ratings["criterion"].isin(criteria)]
    parts = [
        group.assign(
            value=units[int(str(pk)), str(name)].averaged(
                group["value"].to_numpy(float)
            )
        )
        for (pk, name), group in ratings.groupby(["submission", "criterion"])
    ]
    import pandas as pd

    table = pd.concat(parts).pivot_table(
        index=["submission", "instance", "worker"], columns="criterion", values="value"
    )
    return table.reindex(columns=list(criteria))
