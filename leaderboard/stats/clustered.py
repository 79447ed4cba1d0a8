"""Means whose interval also covers the draw of workers, days or documents.

Ratings of one worker resemble each other, and so do ratings of one day; an interval
that treats them as independent is too narrow. Whole workers (days, ...) are drawn with
replacement instead, separately for each factor, and a rating is weighted by the
product. Such products overstate the noise inside the cells, so the draws are scaled to
the multiway variance, which counts every source once.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.intervals import (
    CoveredInterval,
    Floats,
    as_ratings,
)

Codes = npt.NDArray[np.intp]
_CHUNK = 2_000_000


def factor_codes(
    factors: Mapping[str, npt.ArrayLike], n: int
) -> dict[str, tuple[Codes, int]]:
    """Map the levels of each factor to numbers from 0.

    Parameters
    ----------
    factors : mapping of name to array_like, shape (n,)
        For each rating the label of its instance, worker, day, ...

    Examples
    --------
    >>> codes, n_levels = factor_codes({"worker": ["b", "a", "b"]}, 3)["worker"]
    >>> codes.tolist(), n_levels
    ([1, 0, 1], 2)
    """
    # hashes, because numpy would sort a million strings
    import pandas as pd

    numbered: dict[str, tuple[Codes, int]] = {}
    for name, labels in factors.items():
        array = np.asarray(labels)
        seen, found = pd.factorize(array, use_na_sentinel=False)
        levels, place = np.unique(found.astype(str), return_inverse=True)
        numbered[name] = (place[seen].astype(np.intp), len(levels))
    return numbered


def is_nested(inner: Codes, outer: Codes) -> bool:
    """Return whether each level of `inner` occurs in one level of `outer` only."""
    # stores one outer level of each inner one; nested if it is right for all ratings
    first = np.full(int(inner.max()) + 1, -1)
    first[inner] = outer
    return bool(np.all(first[inner] == outer))


@dataclass(frozen=True)
class _Crossing:
    kept: dict[str, tuple[Codes, int]]
    covers: str


def _cross_factors(factors: dict[str, tuple[Codes, int]]) -> _Crossing:
    several = {name: pair for name, pair in factors.items() if pair[1] > 1}
    kept: dict[str, tuple[Codes, int]] = {}
    # large factors first: they are the ones nested in (and carried by) smaller ones
    for name in sorted(several, key=lambda name: -several[name][1]):
        codes, _ = several[name]
        coarser = [
            other
            for other in several
            if other != name and (other in kept or several[other][1] < several[name][1])
        ]
        if not any(is_nested(codes, several[other][0]) for other in coarser):
            kept[name] = several[name]
    sentence = ", ".join(f"{name} ({factors[name][1]})" for name in several)
    single = [name for name in factors if name not in several]
    if single:
        sentence += f"; not {', '.join(single)} (only one)"
    return _Crossing(kept, sentence)


def clustered_mean(
    values: npt.ArrayLike,
    factors: Mapping[str, npt.ArrayLike],
    *,
    seed: int,
    n_resamples: int = 2_000,
    confidence: float = 0.95,
) -> CoveredInterval:
    """Return the mean of ratings with an interval that covers the named factors.

    Parameters
    ----------
    values : array_like, shape (n,)
        Ratings, finite.
    factors : mapping of name to array_like, shape (n,)
        For each rating the label of its instance, worker, day, ... One factor gives
        the cluster bootstrap, several the crossed one. A factor whose levels are
        inside levels of another (instances rated once each, by worker) is covered by
        the other one.

    Returns
    -------
    CoveredInterval
        `covers` names the factors with their numbers of levels, and those that could
        not be covered because they have only one level. With few levels the interval
        is widened as Student's t is against the normal, by Satterthwaite's degrees of
        freedom.

    Notes
    -----
    Levels count as a sample of many. If the three days of an experiment are the
    days of interest, leave the day out.

    References
    ----------
    Davison and Hinkley (1997), section 3.8 (clusters); Owen (2007), The pigeonhole
    bootstrap, Annals of Applied Statistics 1(2), and Owen and Eckles (2012), section 3
    (crossed factors); Cameron, Gelbach and Miller (2011), JBES 29(2), equation 2.9
    (multiway variance); Hesterberg (2015), American Statistician 69(4), section 5.2
    (widening).
    """
    from scipy import special, stats

    ratings = as_ratings(values)
    crossing = _cross_factors(factor_codes(factors, len(ratings)))
    if not crossing.kept:
        raise ValueError(
            f"There is only one {' and one '.join(factors)}, so their variation "
            "cannot be estimated."
        )
    ratings, factors_in_order = _canonical(ratings, crossing.kept)
    estimate = float(ratings.mean())
    variance, freedom = multiway_variance(ratings - estimate, factors_in_order)
    if np.ptp(ratings) == 0 or variance <= 1e-24 * max(float(np.ptp(ratings)), 1.0):
        low = high = estimate
    else:
        rng = np.random.default_rng(seed)
        moved = _product_resamples(
            ratings - estimate, factors_in_order, n_resamples, rng
        )
        tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
        # with few workers the variance itself is uncertain (Hesterberg 2015, section
        # 5.2)
        widened = stats.t.ppf(tails[1], freedom) / special.ndtri(tails[1])
        scale = widened * np.sqrt(variance) / moved.std()
        low, high = (estimate + scale * np.quantile(moved, tails)).tolist()
    return CoveredInterval(estimate, low, high, crossing.covers)


def _canonical(
    ratings: Floats, kept: dict[str, tuple[Codes, int]]
) -> tuple[Floats, list[tuple[Codes, int]]]:
    # levels are numbered by their ratings: names and order do not matter
    by_value = np.argsort(ratings, kind="stable")
    renumbered: list[Codes] = []
    for name in sorted(kept):
        codes, n_levels = kept[name]
        sums = np.bincount(codes[by_value], ratings[by_value], n_levels)
        counts = np.bincount(codes, minlength=n_levels)
        new_code = np.empty(n_levels, dtype=np.intp)
        new_code[np.lexsort((sums, counts))] = np.arange(n_levels)
        renumbered.append(new_code[codes])
    order = np.lexsort((ratings, *renumbered))
    levels = [kept[name][1] for name in sorted(kept)]
    return ratings[order], [
        (codes[order], n) for codes, n in zip(renumbered, levels, strict=True)
    ]


def multiway_variance(
    residuals: Floats, factors: list[tuple[Codes, int]]
) -> tuple[float, float]:
    """Return the variance of a mean under crossed factors, and its degrees of freedom.

    Parameters
    ----------
    residuals : ndarray, shape (n,)
        Ratings minus their mean.
    factors : list of (codes, number of levels)
        Crossed factors, two levels or more each.

    Returns
    -------
    variance : float
        Sum over all combinations of factors, with alternating signs, of the jackknife
        variance that leaves out one of their cells at a time; never below that of one
        factor alone.
    freedom : float
        Satterthwaite's approximation, at least 1.

    References
    ----------
    Cameron, Gelbach and Miller (2011), JBES 29(2), equations 2.9-2.13; Carter,
    Schnepel and Steigerwald (2017), REStat 99(4), for the effective number of clusters.

    Examples
    --------
    >>> residuals = np.array([-1.0, 1.0, -1.0, 1.0])
    >>> variance, freedom = multiway_variance(residuals, [(np.arange(4), 4)])
    >>> round(variance, 6), freedom
    (0.333333, 3.0)
    """
    total = 0.0
    alone: list[_Part] = []
    part = _Part(0.0, 1.0, 1.0)
    for size in range(1, len(factors) + 1):
        for chosen in itertools.combinations(factors, size):
            part = _part(residuals, _cells(chosen))
            total += part.variance if size % 2 else -part.variance
            if size == 1:
                alone.append(part)
    # alternating signs can be too small, even negative: one factor alone is a
    # lower limit
    variance = max(total, *(p.variance for p in alone))
    if variance == 0:
        return 0.0, 1.0
    # subtracting one mean reduced the variance of every factor
    lost = sum((1 - p.variance / variance) / p.effective for p in alone)
    within = part if len(factors) > 1 else _Part(0.0, 1.0, 1.0)
    pieces = [
        _Part(max(p.variance - within.variance, 0.0), p.effective, p.freedom)
        for p in alone
    ]
    pieces.append(within)
    total_variance = sum(p.variance for p in pieces)
    spread = sum(p.variance**2 / p.freedom for p in pieces)
    return variance * (1 + lost), max(1.0, total_variance**2 / spread)


@dataclass(frozen=True)
class _Part:
    variance: float
    effective: float
    freedom: float


def _part(residuals: Floats, cells: Codes) -> _Part:
    n = len(residuals)
    sums = np.bincount(cells, residuals)
    sizes = np.bincount(cells).astype(np.float64)
    n_cells = len(sizes)
    # the jackknife over cells: right on average for cells of unequal size too
    variance = (n_cells - 1) / n_cells * np.sum((sums / (n - sizes)) ** 2)
    effective = n**2 / np.sum(sizes**2)
    return _Part(float(variance), float(effective), max(float(effective) - 1, 1.0))


def _cells(chosen: tuple[tuple[Codes, int], ...]) -> Codes:
    combined = chosen[0][0]
    for codes, n_levels in chosen[1:]:
        combined = combined * n_levels + codes
    _, cells = np.unique(combined, return_inverse=True)
    return cells.astype(np.intp)


def _product_resamples(
    residuals: Floats,
    factors: list[tuple[Codes, int]],
    n_resamples: int,
    rng: np.random.Generator,
) -> Floats:
    cells = _cells(tuple(factors))
    sums = np.bincount(cells, residuals)
    sizes = np.bincount(cells).astype(np.float64)
    # one rating of each cell has the levels of all of them
    _, first_of_cell = np.unique(cells, return_index=True)
    weights = [
        (rng.multinomial(g, np.full(g, 1 / g), size=n_resamples), codes[first_of_cell])
        for codes, g in factors
    ]
    moved = np.empty(n_resamples)
    rows = max(1, _CHUNK // len(sums))
    for start in range(0, n_resamples, rows):
        part = slice(start, start + rows)
        product = np.ones((len(moved[part]), len(sums)))
        for drawn, codes in weights:
            product *= drawn[part][:, codes]
        count = product @ sizes
        with np.errstate(invalid="ignore"):
            moved[part] = (product @ sums) / count
    # sparse crossings leave some resamples without ratings: they have no mean
    defined = moved[np.isfinite(moved)]
    return defined if len(defined) > 1 else np.array([-1.0, 1.0])
