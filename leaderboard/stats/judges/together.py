"""Comparison of systems by means that judges help to estimate, with shared workers.

Every system has its own forecast by judges, and is estimated as in `with_people`.
Shared effects on two estimates, of a worker who rated both or an instance that both
answered, cancel in their difference: contributions are added up by worker and by
instance for all systems at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.intervals import Floats
from leaderboard.stats.judges.with_people import design_of, influence_of
from leaderboard.stats.systems.estimates import SystemEstimates
from leaderboard.stats.systems.table import Variances, rating_table, variances_of


@dataclass(frozen=True)
class Forecast:
    """A judges' forecast of people's mean rating of one system.

    Parameters
    ----------
    instances : sequence of int
        All that the judges scored, each once, including those that people rated.
    values : array_like, shape (m,)
    """

    instances: npt.NDArray[np.int64]
    values: Floats


def helped_systems(
    values: npt.ArrayLike,
    systems: npt.ArrayLike,
    workers: npt.ArrayLike,
    instances: npt.ArrayLike,
    forecasts: Mapping[str, Forecast],
    *,
    weights: npt.ArrayLike | None = None,
) -> SystemEstimates:
    """Estimate systems' means with judges' help, and their joint covariance.

    Parameters
    ----------
    values, systems, workers : array_like, shape (n,)
        People's ratings, with their systems and workers.
    instances : array_like of int, shape (n,)
    forecasts : mapping of str to Forecast
        By system; one without a forecast has its plain mean.
    weights : array_like, shape (n,), optional
        Weight of each rating, >= 0.

    Returns
    -------
    SystemEstimates
        Covariance by worker and by instance, of ratings and of forecasts; no difference
        has a smaller variance than single ratings beyond workers and instances.

    Raises
    ------
    ValueError
        As `judged_mean`: every system needs two workers and two instances.

    References
    ----------
    Cameron, Gelbach and Miller (2011), JBES 29(2), section 2.2 (two-way clusters of a
    vector of estimates); Carter, Schnepel and Steigerwald (2017), REStat 99(4)
    (effective number of clusters).
    """
    y, who = np.asarray(values, dtype=np.float64), np.asarray(workers)
    place, system = np.asarray(instances), np.asarray(systems).astype(str)
    count = np.ones(len(y)) if weights is None else np.asarray(weights, float)
    kept = count > 0
    y, who, place, system, count = (
        each[kept] for each in (y, who, place, system, count)
    )
    names = sorted(set(system))
    worker_names, worker = np.unique(who, return_inverse=True)
    every = [place, *(forecast.instances for forecast in forecasts.values())]
    numbers = np.unique(np.concatenate(every))
    parts = [
        _contributions(
            (y[own], worker[own], place[own], count[own]),
            forecasts.get(name),
            numbers,
            len(worker_names),
        )
        for name, own in ((name, system == name) for name in names)
    ]
    variances = variances_of(rating_table(y, system, who, place, None))
    return _estimates(names, parts, variances)


@dataclass(frozen=True)
class _Part:
    estimate: float
    by_worker: Floats
    by_instance: Floats
    # contributions of the ratings of one worker of one instance, by cell number
    cells: npt.NDArray[np.int64]
    by_cell: Floats
    shares: Floats
    of_instances: Floats
    n: int
    n_workers: int
    n_rated: int
    squares: float


def _contributions(
    rows: tuple[Floats, npt.NDArray[np.intp], npt.NDArray[np.int64], Floats],
    forecast: Forecast | None,
    numbers: npt.NDArray[np.int64],
    n_workers: int,
) -> _Part:
    values, worker, place, count = rows
    positions, foretold = np.unique(place), None
    if forecast is not None:
        order = np.argsort(forecast.instances, kind="stable")
        positions = np.asarray(forecast.instances)[order]
        foretold = np.asarray(forecast.values, dtype=np.float64)[order]
    at = np.searchsorted(positions, place)
    if at.max() >= len(positions) or (positions[at] != place).any():
        raise ValueError("A rated instance has no forecast.")
    design = design_of(values, worker, at, len(positions), weights=count)
    if foretold is None:
        foretold = np.zeros(len(positions))
    found = influence_of(design, foretold)
    weight = design.weights[design.instance] * design.parts
    shares = np.bincount(worker, weight, n_workers).astype(np.float64)
    own = np.searchsorted(numbers, positions)
    of_instances, moved = np.zeros(len(numbers)), np.zeros(len(numbers))
    of_instances[own[design.rated]] = design.weights
    moved[own] = found.apart
    moved[own[design.rated]] = np.bincount(design.instance, found.moves)
    cells, inverse = np.unique(worker * len(numbers) + own[at], return_inverse=True)
    return _Part(
        estimate=found.estimate,
        # as in the jackknife: the estimate without one
        by_worker=np.bincount(worker, found.moves, n_workers) / (1 - shares),
        by_instance=moved / (1 - of_instances),
        cells=cells,
        by_cell=np.bincount(inverse, found.moves).astype(np.float64),
        shares=shares,
        of_instances=of_instances,
        n=len(values),
        n_workers=len(np.unique(worker)),
        n_rated=len(design.rated),
        squares=float((weight**2).sum()),
    )


def _estimates(
    names: list[str], parts: list[_Part], variances: Variances
) -> SystemEstimates:
    worker = np.stack([part.by_worker for part in parts])
    instance = np.stack([part.by_instance for part in parts])
    shares = np.stack([part.shares for part in parts])
    effective = 1 / (shares**2).sum(axis=1)
    of_instances = np.array([1 / (part.of_instances**2).sum() for part in parts])
    cell = _cells(parts)
    between = worker @ worker.T * _outer((effective - 1) / effective)
    drawn = instance @ instance.T * _outer((of_instances - 1) / of_instances)
    # subtracting one mean reduced the other factor, too
    between = (between - cell) * _outer(1 + 1 / of_instances) + cell
    beyond = (drawn - cell) * _outer(1 + 1 / effective)
    s = len(names)
    return SystemEstimates(
        systems=names,
        means=np.array([part.estimate for part in parts]),
        n=np.array([part.n for part in parts], dtype=np.int64),
        n_workers=np.array([part.n_workers for part in parts], dtype=np.int64),
        effective_workers=effective,
        largest_share=shares.max(axis=1),
        variances=variances,
        worker_part=between,
        instance_part=beyond,
        # the noise of single ratings does not cancel in any difference
        floor=np.diag(variances.residual * np.array([p.squares for p in parts])),
        worker_freedom=_freedom(shares, np.array([part.n for part in parts])),
        n_instances=min(part.n_rated for part in parts),
        day_part=np.zeros((s, s)),
    )


def _outer(factors: Floats) -> Floats:
    root = np.sqrt(factors)
    return np.asarray(root[:, None] * root[None, :], dtype=np.float64)


def _cells(parts: list[_Part]) -> Floats:
    every = np.unique(np.concatenate([part.cells for part in parts]))
    table = np.zeros((len(parts), len(every)))
    for row, part in zip(table, parts, strict=True):
        row[np.searchsorted(every, part.cells)] = part.by_cell
    return np.asarray(table @ table.T, dtype=np.float64)


def _freedom(shares: Floats, n: npt.NDArray[np.int64]) -> Floats:
    sizes = shares / n[:, None]
    alone = 1 / (shares**2).sum(axis=1)
    freedom = np.empty((len(n), len(n)))
    for i in range(len(n)):
        pair = sizes[i] + sizes
        freedom[i] = pair.sum(axis=1) ** 2 / (pair**2).sum(axis=1)
        freedom[i, i] = alone[i]
    return np.maximum(freedom - 1, 1.0)
