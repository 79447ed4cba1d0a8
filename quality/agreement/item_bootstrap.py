"""Percentile bootstrap over items: whole items are drawn, with all their ratings."""

from collections.abc import Callable

import numpy as np

from quality.counts import Floats

#: (resample, item) weights held at once: 16 MB.
_LARGEST_BLOCK = 2_000_000


def item_interval(
    statistic: Callable[[Floats], Floats], n_items: int, *, n_resamples: int, seed: int
) -> tuple[float, float, int]:
    """Compute the 95% percentile interval of a statistic by resampling items.

    Parameters
    ----------
    statistic : callable
        Maps how often each item was drawn, shape (n, n_items), to values, shape (n,).
    n_resamples : int
        Resamples; 0 gives NaN.

    Returns
    -------
    tuple of (float, float, int)
        Low, high, and in how many resamples the statistic was undefined (NaN).

    References
    ----------
    B. Efron and R. Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13.
    """
    if n_resamples == 0 or n_items == 0:
        return float("nan"), float("nan"), 0
    rng = np.random.default_rng(seed)
    block = max(1, _LARGEST_BLOCK // n_items)
    values = np.concatenate(
        [
            statistic(_draw(rng, min(block, n_resamples - start), n_items))
            for start in range(0, n_resamples, block)
        ]
    )
    # A resample without variation has no value; it is counted and not replaced.

    known = values[~np.isnan(values)]
    if not known.size:
        return float("nan"), float("nan"), n_resamples
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high), int(n_resamples - known.size)


def _draw(rng: np.random.Generator, n: int, n_items: int) -> Floats:
    """Return how often each item is in each of n resamples, shape (n, n_items)."""
    cells = rng.integers(n_items, size=(n, n_items))
    cells += np.arange(n)[:, None] * n_items
    counts = np.bincount(cells.ravel(), minlength=n * n_items)
    return counts.reshape(n, n_items).astype(np.float64)
