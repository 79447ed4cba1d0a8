"""A whole metric board from tables of scores, with every number that its page shows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leaderboard.metric_board.stats.lines import metric_line
from leaderboard.metric_board.stats.person import one_person
from leaderboard.metric_board.stats.ranks import rankings
from leaderboard.stats.intervals import Floats

#: Fewest systems for which statistics of metrics are meaningful.
FEWEST = 3
#: With fewer systems metrics are not ranked. At least one of twelve uninformative metrics
#: orders all s systems as people do with a probability of 1 - (1 - 1/s!)^12: 89%, 40%,
#: 10% and 2% with 3, 4, 5 and 6 systems.
FEWEST_RANKED = 6
#: With fewer systems chance alone gives high correlations, and pages show how high.
ENOUGH = 20


@dataclass(frozen=True)
class MetricScores:
    """One metric's scores of all systems, higher being better.

    Parameters
    ----------
    overall : ndarray, shape (s,)
        One value per system; NaN if the metric has none.
    by_instance : ndarray, shape (s, n) or None
        One value for each output; rows of NaN for systems without. None for a metric
        that scores whole systems only.
    """

    slug: str
    overall: Floats
    by_instance: Floats | None


@dataclass(frozen=True)
class EachRating:
    """Single ratings of the systems and instances of `BoardScores.human`.

    Parameters
    ----------
    values, workers : ndarray, shape (n,)
    systems, instances : ndarray of int, shape (n,)
        Row and column in `BoardScores.human`.
    """

    values: Floats
    workers: npt.NDArray[Any]
    systems: npt.NDArray[np.int64]
    instances: npt.NDArray[np.int64]


@dataclass(frozen=True)
class BoardScores:
    """Input of a metric board.

    Parameters
    ----------
    human : ndarray, shape (s, n)
        People's mean rating of s systems on n instances; NaN if unrated. Higher is better.
    ratings : EachRating, optional
        The single ratings averaged in `human`.
    """

    human: Floats
    metrics: Sequence[MetricScores]
    ratings: EachRating | None = None


def metric_board(scores: BoardScores, *, seed: int) -> dict[str, Any]:
    """Compute all statistics, intervals, tests and clusters of one board.

    Parameters
    ----------
    scores : BoardScores
        At least `FEWEST` systems with human scores.

    Returns
    -------
    dict
        JSON-serializable, undefined numbers as None: ``metrics`` (a line each, see
        `leaderboard.metric_board.stats.lines.metric_line`), ``rankings`` (see
        `leaderboard.metric_board.stats.ranks.rankings`; none with fewer systems than
        `FEWEST_RANKED`), ``person`` (see
        `leaderboard.metric_board.stats.person.one_person`; None without `ratings`).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> human = rng.normal(size=(6, 40)) + np.arange(6)[:, None]
    >>> table = human + rng.normal(size=(6, 40))
    >>> metric = MetricScores("one", table.mean(axis=1), table)
    >>> board = metric_board(BoardScores(human, [metric]), seed=1)
    >>> board["metrics"][0]["slug"], sorted(board)
    ('one', ['compared', 'metrics', 'person', 'rankings'])
    """
    human = np.asarray(scores.human, dtype=np.float64)
    if human.ndim != 2 or len(human) < FEWEST:
        raise ValueError(f"A metric board needs at least {FEWEST} systems.")
    judged = np.asarray((~np.isnan(human)).any(axis=0))
    # metrics are compared on the same systems only: one that lacks some may lack the
    # difficult ones
    complete = [m for m in scores.metrics if np.isfinite(m.overall).all()]
    return {
        "metrics": [
            metric_line(
                metric.slug,
                human[:, judged],
                metric.overall,
                metric.by_instance,
                judged=judged,
                seed=seed,
            )
            for metric in scores.metrics
        ],
        "compared": [metric.slug for metric in complete],
        "rankings": rankings(
            human[:, judged],
            [(m.slug, m.overall, _judged_part(m, judged)) for m in complete],
            seed=seed,
        )
        if len(human) >= FEWEST_RANKED
        else {},
        "person": _person(scores, human.shape),
    }


def _person(scores: BoardScores, shape: tuple[int, ...]) -> dict[str, Any] | None:
    each = scores.ratings
    if each is None:
        return None
    return one_person(
        each.values,
        each.workers,
        each.systems,
        each.instances,
        n_systems=shape[0],
        n_instances=shape[1],
    )


def _judged_part(metric: MetricScores, judged: npt.NDArray[np.bool_]) -> Floats | None:
    return None if metric.by_instance is None else metric.by_instance[:, judged]
