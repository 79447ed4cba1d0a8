"""Simulations that check planned studies."""

import math

import numpy as np
import numpy.typing as npt

from genie_research.boards.label_table import draw_estimates, label_table
from leaderboard.stats.intervals import Floats
from leaderboard.stats.mixed import Components
from leaderboard.stats.paired import differences

_CHUNK = 2_000_000


def simulated_half_width(
    values: npt.ArrayLike,
    instances: npt.ArrayLike,
    *,
    n_instances: int,
    ratings_per_instance: int = 1,
    seed: int,
    n_sets: int = 2_000,
) -> float:
    """Simulate a planned study on a pilot's judgments; return its half-width.

    That is half the distance between the two quantiles of `n_sets` simulated means.
    """
    estimates = draw_estimates(
        label_table(values, instances),
        n_instances=n_instances,
        labels_per_instance=ratings_per_instance,
        n_sets=n_sets,
        rng=np.random.default_rng(seed),
    )
    low, high = np.quantile(estimates, [0.025, 0.975])
    return float((high - low) / 2)


def simulated_means(
    components: Components,
    *,
    n_instances: int,
    ratings_per_instance: int = 1,
    n_workers: int,
    n_days: int | None,
    seed: int,
    n_sets: int = 2_000,
) -> Floats:
    """Simulate a planned study with normal effects of instances, workers and days.

    Parameters
    ----------
    n_workers, n_days : int
        Ratings are assigned to the workers in turn, and fill one day after the other,
        so that the numbers of ratings differ by at most one.

    Returns
    -------
    ndarray, shape (n_sets,)
        Simulated means about a true mean of 0; their spread is what
        `leaderboard.stats.mixed.mean_variance` predicts.
    """
    rng = np.random.default_rng(seed)
    n_ratings = n_instances * ratings_per_instance
    turn = np.arange(n_ratings)
    effects = [
        (components.instance, n_instances, turn // ratings_per_instance),
        (components.worker, n_workers, turn % n_workers),
    ]
    if n_days is not None:
        effects.append((components.day, n_days, turn * n_days // n_ratings))
    means = np.empty(n_sets)
    rows = max(1, _CHUNK // n_ratings)
    for start in range(0, n_sets, rows):
        size = min(rows, n_sets - start)
        ratings = rng.normal(0, math.sqrt(components.residual), (size, n_ratings))
        for component, count, level in effects:
            ratings += rng.normal(0, math.sqrt(component), (size, count))[:, level]
        means[start : start + size] = ratings.mean(axis=1)
    return means


def simulated_power(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    n_instances: int,
    *,
    seed: int,
    n_sets: int = 2_000,
) -> float:
    """Simulate a planned comparison on a pilot; return the share that reject at 5%.

    The true difference is that of the pilot, which a significant pilot tends to
    overstate.

    Parameters
    ----------
    a, b : array_like, shape (n,)
        The pilot: ratings of two systems on the same instances.
    n_instances : int
        Instances of the planned comparison, at least 2.

    References
    ----------
    Card et al. (2020), With Little Power Comes Great Responsibility, section 2 and
    algorithm 1.
    """
    from scipy import stats

    gap = np.sort(differences(a, b))
    edge = float(stats.t.ppf(0.975, n_instances - 1))
    rng = np.random.default_rng(seed)
    n_significant = 0
    rows = max(1, _CHUNK // n_instances)
    for start in range(0, n_sets, rows):
        drawn = gap[rng.integers(0, len(gap), (min(rows, n_sets - start), n_instances))]
        means = drawn.mean(axis=1)
        errors = drawn.std(axis=1, ddof=1) / math.sqrt(n_instances)
        # without spread all instances agree: significant unless the difference is 0
        n_significant += int(np.count_nonzero(np.abs(means) > edge * errors))
    return n_significant / n_sets
