"""Coverage of a board's intervals: simulated crowds rate equally good systems."""

from dataclasses import dataclass

import numpy as np

from leaderboard.stats.bounds import normal_quantile
from leaderboard.stats.intervals import Floats
from leaderboard.stats.systems.estimates import estimate_systems
from leaderboard.stats.systems.table import Codes

_TRUTH = 60.0
#: Standard deviations of instances, of systems on an instance, and of single ratings.
INSTANCE_SD, OUTPUT_SD, NOISE_SD = 15.0, 8.0, 24.0
_LEVEL = 0.05
# Standard deviation of the logarithm of days' shares of the work.
_DAY_SPREAD = 0.5


@dataclass(frozen=True)
class Crowd:
    """The crowd and the task of one cell of a study.

    Parameters
    ----------
    n_workers : int
        Workers, of each system where `same` is False.
    bias_sd : float
        Standard deviation of workers' strictness, on a scale of 100.
    workload_sd : float
        Standard deviation of the logarithm of workers' shares; 0 is equal shares.
    spread_sd : float
        Standard deviation of the logarithm of workers' scatter.
    same : bool
        Whether the same workers rated all systems.
    n_days : int
        Days with ratings; a worker works on at most two of them.
    day_sd : float
        Standard deviation of days' effects on the ratings.
    taste_sd : float
        Standard deviation of workers' preferences for single systems.
    """

    n_workers: int
    bias_sd: float
    n_instances: int
    n_systems: int = 5
    workload_sd: float = 1.0
    spread_sd: float = 0.0
    same: bool = True
    n_days: int = 1
    day_sd: float = 0.0
    taste_sd: float = 0.0

    def __post_init__(self) -> None:
        if self.n_workers < 2 or self.n_instances < 2 or self.n_systems < 2:
            raise ValueError(
                "A crowd needs two workers, instances and systems at least."
            )
        if self.n_days < 1:
            raise ValueError("A crowd needs a day.")
        spreads = (self.bias_sd, self.workload_sd, self.spread_sd)
        if min(*spreads, self.day_sd, self.taste_sd) < 0:
            raise ValueError("A standard deviation cannot be negative.")


@dataclass(frozen=True)
class Share:
    value: float
    error: float


@dataclass(frozen=True)
class CrowdResult:
    """Means over the tasks of a cell, with Monte-Carlo errors.

    Parameters
    ----------
    coverage, coverage_crowd : Share
        Share of systems whose 95% interval contains the truth: the estimate's, and
        that of the plain mean over instances for this crowd.
    separated, separated_crowd : Share
        Share of pairs of equal systems found different at 5%: by the estimate, and by
        a paired test over instances.
    bias : Share
        Of the estimate.
    rmse_ratio : Share
        Root mean squared error as a multiple of the plain mean's.
    n_ratings : int
        Of one task.
    """

    crowd: Crowd
    n_tasks: int
    coverage: Share
    coverage_crowd: Share
    separated: Share
    separated_crowd: Share
    bias: Share
    rmse_ratio: Share
    half_width: float
    half_width_crowd: float
    n_ratings: int


def draw_ratings(
    crowd: Crowd, rng: np.random.Generator
) -> tuple[Floats, Codes, Codes, Codes, Codes]:
    """Draw one task's ratings: every output is rated once."""
    n, s = crowd.n_instances, crowd.n_systems
    n_workers = crowd.n_workers * (1 if crowd.same else s)
    difficulty = rng.normal(0, INSTANCE_SD, n)
    strictness = rng.normal(0, crowd.bias_sd, n_workers)
    scatter = np.exp(rng.normal(0, crowd.spread_sd, n_workers))
    busy = np.exp(rng.normal(0, crowd.workload_sd, n_workers))
    values, workers = np.empty((s, n)), np.empty((s, n), dtype=np.intp)
    for k in range(s):
        first = 0 if crowd.same else k * crowd.n_workers
        share = busy[first : first + crowd.n_workers]
        who = first + rng.choice(crowd.n_workers, size=n, p=share / share.sum())
        noise = scatter[who] * rng.normal(0, NOISE_SD, n)
        own = rng.normal(0, OUTPUT_SD, n)
        values[k] = _TRUTH + difficulty + own + strictness[who] + noise
        workers[k] = who
    rows = np.arange(s * n, dtype=np.intp)
    days = np.zeros(s * n, dtype=np.intp)
    # drawn last, so that the other draws do not depend on the number of days
    if crowd.n_days > 1:
        busy = np.exp(rng.normal(0, _DAY_SPREAD, crowd.n_days))
        two = rng.choice(crowd.n_days, size=(n_workers, 2), p=busy / busy.sum())
        days = two[workers.ravel(), rng.integers(0, 2, s * n)]
        values += rng.normal(0, crowd.day_sd, crowd.n_days)[days].reshape(s, n)
    if crowd.taste_sd:
        tastes = rng.normal(0, crowd.taste_sd, (n_workers, s))
        values += tastes[workers, np.arange(s)[:, None]]
    return values.ravel(), rows // n, workers.ravel(), rows % n, days


def simulate_crowd(
    crowd: Crowd,
    *,
    n_tasks: int,
    seed: int,
) -> CrowdResult:
    """Simulate tasks of equally good systems and measure coverage and errors.

    The first tasks of a longer study are those of a shorter one with the same seed.

    References
    ----------
    Morris, White and Crowther (2019), Using simulation studies to evaluate statistical
    methods, Statistics in Medicine 38, tables 6 and 7 (measures, Monte-Carlo errors).
    """
    if n_tasks < 2:
        raise ValueError("At least two tasks are needed.")
    rows = []
    for task in range(n_tasks):
        rows.append(_one_task(crowd, np.random.default_rng([seed, task])))
    table = np.array(rows)
    shares = [_share(table[:, column]) for column in range(5)]
    return CrowdResult(
        crowd,
        n_tasks,
        shares[0],
        shares[1],
        shares[2],
        shares[3],
        shares[4],
        _ratio(table[:, 5], table[:, 6]),
        float(table[:, 7].mean()),
        float(table[:, 8].mean()),
        crowd.n_systems * crowd.n_instances,
    )


def _one_task(crowd: Crowd, rng: np.random.Generator) -> list[float]:
    values, systems, workers, instances, days = draw_ratings(crowd, rng)
    found = estimate_systems(values, systems, workers, instances, days)
    order = [int(name) for name in found.systems]
    reach = _t_reach(np.diag(found.variance), np.diag(found.freedom))
    off = found.means - _TRUTH
    upper = np.triu_indices(crowd.n_systems, 1)
    table = values.reshape(crowd.n_systems, crowd.n_instances)[order]
    plain = table.mean(axis=1) - _TRUTH
    n = crowd.n_instances
    z = normal_quantile(1 - _LEVEL)
    plain_reach = z * table.std(axis=1, ddof=1) / n**0.5
    gaps = table[upper[0]] - table[upper[1]]
    paired = np.abs(gaps.mean(axis=1)) > z * gaps.std(axis=1, ddof=1) / n**0.5
    return [
        float((np.abs(off) <= reach).mean()),
        float((np.abs(plain) <= plain_reach).mean()),
        float((found.p_values[upper] <= _LEVEL).mean()),
        float(paired.mean()),
        float(off.mean()),
        float((off**2).mean()),
        float((plain**2).mean()),
        float(reach.mean()),
        float(plain_reach.mean()),
    ]


def _t_reach(variance: Floats, freedom: Floats) -> Floats:
    from scipy import special

    # a system with one worker has an infinite interval
    quantile = special.stdtrit(np.nan_to_num(freedom, nan=1.0), 1 - _LEVEL / 2)
    return np.asarray(quantile * np.sqrt(variance), dtype=np.float64)


def _share(column: Floats) -> Share:
    # systems of a task depend on each other; tasks do not
    error = column.std(ddof=1) / len(column) ** 0.5
    return Share(float(column.mean()), float(error))


def _ratio(squares: Floats, plain: Floats) -> Share:
    ratio = float((squares.mean() / plain.mean()) ** 0.5)
    moved = squares / squares.mean() - plain / plain.mean()
    error = ratio / 2 * float(moved.std(ddof=1)) / len(squares) ** 0.5
    return Share(ratio, error)
