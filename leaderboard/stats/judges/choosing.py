"""Which instances people are asked about: those on which judges say least.

Every instance keeps a known chance above 0, so that the mean over all of them can still
be estimated without trusting any judge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.resampling import Floats


@dataclass(frozen=True)
class Chosen:
    """Instances for people.

    Parameters
    ----------
    instances : ndarray of int, shape (n,)
        In ascending order.
    propensities : ndarray, shape (m,)
        How likely each of all instances was to be chosen, in (0, 1]; n in all.
    """

    instances: npt.NDArray[np.intp]
    propensities: Floats


def disagreement(scores: npt.ArrayLike) -> Floats:
    """Give by how much judges, or one judge's repeats, differ on each instance.

    Parameters
    ----------
    scores : array_like, shape (m, k)
        Of k judges, at least 2, on m instances.

    Returns
    -------
    ndarray, shape (m,)
        Standard deviations over judges, each judge's scores brought to mean 0 and
        standard deviation 1 first: strict judges do not disagree with mild ones.

    Raises
    ------
    ValueError
        On one judge, or scores that are not finite.

    Examples
    --------
    >>> disagreement([[1, 10], [2, 20], [3, 30]]).round(6).tolist()
    [0.0, 0.0, 0.0]
    """
    told = np.asarray(scores, dtype=np.float64)
    if told.ndim != 2 or told.shape[1] < 2 or not np.isfinite(told).all():
        raise ValueError("Disagreement needs finite scores of two judges or more.")
    spread = told.std(axis=0)
    unit = (told - told.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.asarray(unit.std(axis=1, ddof=1))


def choose_instances(
    uncertainty: npt.ArrayLike, n: int, *, seed: int, floor: float = 0.5
) -> Chosen:
    """Draw instances for people, with known chances that grow with uncertainty.

    Parameters
    ----------
    uncertainty : array_like, shape (m,)
        At least 0, such as what `disagreement` gives.
    n : int
        Instances to draw, 1 <= n <= m.
    seed : int
    floor : float
        Share of the expected squared error that is the same on all instances,
        0 < floor <= 1. No chance is below sqrt(floor) of an equal one.

    Returns
    -------
    Chosen
        Exactly n instances: a systematic draw in random order.

    Raises
    ------
    ValueError
        On a number out of range, or uncertainty below 0 or not finite.

    References
    ----------
    Zrnic and Candès (2024), Active Statistical Inference, section 4 (chances
    proportional to the expected error, kept away from 0); Madow (1949), Annals of
    Mathematical Statistics 20 (systematic sampling with unequal probabilities).

    Examples
    --------
    >>> chosen = choose_instances([0, 0, 0, 1], 2, seed=1, floor=0.5)
    >>> chosen.propensities.round(2).tolist(), len(chosen.instances)
    ([0.38, 0.38, 0.38, 0.85], 2)
    """
    doubt = np.asarray(uncertainty, dtype=np.float64)
    if doubt.ndim != 1 or not (np.isfinite(doubt) & (doubt >= 0)).all():
        raise ValueError("Uncertainty is one number of at least 0 for each instance.")
    if not (1 <= n <= len(doubt) and 0 < floor <= 1):
        raise ValueError(
            f"From 1 to {len(doubt)} instances and a floor above 0 are needed, "
            f"not {n} and {floor}."
        )
    squared = doubt**2
    # what people themselves differ by is about the same everywhere: the floor
    expected = np.sqrt(floor * squared.mean() + (1 - floor) * squared)
    chances = _capped(expected if expected.any() else np.ones(len(doubt)), n)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(doubt))
    ends = np.cumsum(chances[order])
    ends[-1] = n  # rounding must not lose the last one
    steps = rng.random() + np.arange(n)
    picked = order[np.searchsorted(ends, steps, side="right")]
    return Chosen(np.sort(picked), chances)


def _capped(shares: Floats, n: int) -> Floats:
    """Scale shares to n in all, none above 1."""
    chances = np.zeros(len(shares))
    free = np.ones(len(shares), dtype=np.bool_)
    while True:
        left = n - int((~free).sum())
        chances[free] = shares[free] * left / shares[free].sum() if free.any() else 0.0
        over = free & (chances >= 1)
        if not over.any():
            return chances
        chances[over], free = 1.0, free & ~over
