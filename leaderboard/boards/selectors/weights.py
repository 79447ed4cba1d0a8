from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from genie.lib.interval import Interval
from genie.lib.seeds import seed_from
from genie.lib.serving.caches import computed_once
from leaderboard.boards.selectors.certainty import System, ranked_pks, systems
from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.designs.base import Unit
from leaderboard.evaluation.estimates import (
    Compared,
    compare,
    crowds_of,
    labels_of,
    read,
    weights_in,
)
from leaderboard.evaluation.models.board_fit import BoardFit
from leaderboard.evaluation.selectors.board_ratings import (
    board_ratings,
    board_scores,
    current_fit,
    evaluations_of,
    units_of,
    weighed,
)
from leaderboard.stats.intervals import Floats
from leaderboard.stats.ranking import RankRange
from leaderboard.stats.rater_effects import worker_z_scores
from leaderboard.stats.systems.criteria import together, weigh, weighted_mean
from leaderboard.stats.systems.estimates import estimate_systems
from leaderboard.stats.systems.ranks import rank_sum_ranking
from leaderboard.tasks.config import RANK_SUMS, Z_SCORES
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    import pandas as pd

LARGEST = 100.0
_KEPT_SECONDS = 3600
_OUTPUT = ["submission", "instance"]


@dataclass(frozen=True)
class WeightedRow:
    """A system's place under the weights, in points."""

    system: System
    # infinite if only one worker rated the system
    interval: Interval
    ranks: RankRange
    # None: different crowds rated them
    p_first: float | None


def read_weights(
    criteria: list[str], parameters: Mapping[str, str]
) -> dict[str, float]:
    """Read `w.<criterion>=number`; missing is 1, invalid 0; only zeros weigh the same."""
    weights = {name: _weight(parameters.get(f"w.{name}")) for name in criteria}
    return weights if any(weights.values()) else dict.fromkeys(criteria, 1.0)


def _weight(text: str | None) -> float:
    if text is None:
        return 1.0
    try:
        value = float(text)
    except ValueError:
        return 0.0
    # an address can contain inf or nan, which would make every weighted mean the same
    return min(max(value, 0.0), LARGEST) if math.isfinite(value) else 0.0


def weighted_rows(task: Task, weights: Mapping[str, float]) -> list[WeightedRow]:
    """Rank under the weights by the board's own rule; cached until the board changes."""
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
    named = {str(s.pk): s for s in systems(task, ranked_pks(task))}
    if not named:
        return []
    compared = _compare(task, fit, weights)
    of_board = _of_board(task, next(iter(weights))) if len(weights) == 1 else {}
    # magnitudes are averaged as logarithms: 100 for the reference
    z_scores, unit = task.human.estimate == Z_SCORES, _unit(task)
    rows = []
    for row in weigh(
        compared.fit, compared.ranking(named), seed=seed_from("weights", task.slug)
    ):
        points = of_board.get(int(row.system)) or (
            row.interval if z_scores else unit.to_score(row.interval)
        )
        rows.append(WeightedRow(named[row.system], points, row.ranks, row.p_first))
    return sorted(rows, key=lambda row: -row.interval.estimate) if of_board else rows


def _of_board(task: Task, criterion: str) -> dict[int, Interval]:
    rows = board_scores(task).filter(criterion=criterion, n_workers__gt=1)
    found = rows.values_list("submission", "mean", "low", "high")
    return {pk: Interval(*numbers) for pk, *numbers in found}


def _unit(task: Task) -> Unit:
    scores = list(board_scores(task).select_related("evaluation"))
    main = main_criterion(task)
    units = units_of([score for score in scores if score.criterion == main])
    return next(iter(units.values()))


def _compare(task: Task, fit: BoardFit, weights: Mapping[str, float]) -> Compared:
    import pandas as pd

    if len(weights) == 1:
        return read(fit.criteria[next(iter(weights))])
    table = _side_by_side(task, list(weights))
    values, labels = _whole(table, weights)
    if len(values) > len(table) / 2:
        # as in the fit of each criterion
        counted = weighed(pd.DataFrame({"worker": labels[1]}), fit.weights)
        found = estimate_systems(
            *(values, *labels),
            weights=weights_in(counted),
            population=task.human.population,
            campaigns=crowds_of(labels[0], labels[1]),
        )
        return compare(values, *labels, rule=task.human.ranks, fit=found)
    # each criterion has different workers: their errors are independent
    every = [read(fit.criteria[name]).fit for name in weights]
    common = set.intersection(*(set(one.systems) for one in every))
    fits = [one.keep_systems(sorted(common, key=one.systems.index)) for one in every]
    apart = together(fits, list(weights.values()))
    # Rank sums compare outputs, regardless of rater and criterion.
    values, labels = _whole(table.groupby(_OUTPUT).mean(), weights)
    if task.human.ranks != RANK_SUMS or not len(values):
        return Compared(apart)
    of_system, _, instances, _ = labels
    return Compared(apart, rank_sum_ranking(values, of_system, instances))


def _whole(
    table: pd.DataFrame, weights: Mapping[str, float]
) -> tuple[Floats, list[npt.NDArray[Any]]]:
    values = weighted_mean(table.to_numpy(float), list(weights.values()))
    whole = ~np.isnan(values)
    return values[whole], labels_of(table.index[whole].to_frame(index=False))


def _side_by_side(task: Task, criteria: Sequence[str]) -> pd.DataFrame:
    """Return workers' answers: a row per output and worker, a column per criterion."""
    scores = list(board_scores(task).select_related("evaluation"))
    units = units_of(scores)
    ratings = board_ratings(evaluations_of(scores))
    ratings = ratings[ratings["criterion"].isin(criteria)]
    parts = [
        group.assign(
            value=units[int(str(pk)), str(name)].to_averaged(
                group["value"].to_numpy(float)
            )
        )
        for (pk, name), group in ratings.groupby(["submission", "criterion"])
    ]
    import pandas as pd

    ratings = pd.concat(parts, ignore_index=True)
    if task.human.estimate == Z_SCORES:
        ratings = ratings.assign(value=_z_scores)
    # one page, one day; if criteria are asked separately, the first of their days
    first = ratings.groupby([*_OUTPUT, "worker"])["on"].transform("min")
    table = ratings.assign(on=first).pivot_table(
        index=[*_OUTPUT, "worker", "on"], columns="criterion", values="value"
    )
    return table.reindex(columns=list(criteria))


def _z_scores(ratings: pd.DataFrame) -> pd.Series[float]:
    return ratings.groupby("criterion")["value"].transform(
        lambda values: worker_z_scores(
            values.to_numpy(float), ratings.loc[values.index, "worker"].to_numpy()
        )
    )
