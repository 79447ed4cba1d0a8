"""Krippendorff's alpha: any number of raters, missing ratings, four levels."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from quality.agreement.item_bootstrap import item_interval
from quality.agreement.kappa import Agreement
from quality.agreement.label_counts import LabelCounts, label_counts
from quality.counts import Floats

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = get_args(Level)

#: Maps draws of the items, (n, n_items), to observed and expected disagreement, (n,).
_Disagreement = Callable[[Floats], tuple[Floats, Floats]]


@dataclass(frozen=True)
class Alpha(Agreement):
    """Krippendorff's alpha with a bootstrap interval, of items with two ratings or more.

    Attributes
    ----------
    n_undefined : int
        Resamples left out because they had no variation.
    """

    level: Level
    n_ratings: int
    n_undefined: int


def krippendorff_alpha(
    ratings: npt.ArrayLike | LabelCounts,
    level: Level = "nominal",
    *,
    n_resamples: int = 1_000,
    seed: int = 0,
) -> Alpha:
    """Estimate the agreement of raters beyond chance.

    Parameters
    ----------
    ratings : array_like, shape (n_items, n_raters), or LabelCounts
        Numbers, or words for the nominal level; NaN and None are missing.
    level : {"nominal", "ordinal", "interval", "ratio"}, default "nominal"
        Distance of two values: different or not; ranks between them; difference;
        difference relative to their sum (values from 0 on).

    References
    ----------
    K. Krippendorff, "Content Analysis" (2004), section 11.3 (coincidences; metrics
    of the four levels). A. Hayes and K. Krippendorff, "Answering the call for a
    standard reliability measure for coding data", Commun. Methods Meas. 1 (2007). Here
    the bootstrap draws whole items, because the pairs within an item are dependent.
    """
    labels = ratings if isinstance(ratings, LabelCounts) else label_counts(ratings)
    usable = labels.counts[labels.counts.sum(axis=1) >= 2]
    n_items = len(usable)
    disagreement = _disagreement(usable, labels, level)

    def statistic(drawn: Floats) -> Floats:
        observed, expected = disagreement(drawn)
        with np.errstate(divide="ignore", invalid="ignore"):
            values: Floats = np.where(expected > 0, 1 - observed / expected, np.nan)
        return values

    low, high, n_undefined = item_interval(
        statistic, n_items, n_resamples=n_resamples, seed=seed
    )
    return Alpha(
        float(statistic(np.ones((1, n_items)))[0]) if n_items else float("nan"),
        low,
        high,
        n_items,
        level=level,
        n_ratings=int(usable.sum()),
        n_undefined=n_undefined,
    )


def _disagreement(counts: Floats, labels: LabelCounts, level: Level) -> _Disagreement:
    numbers = labels.numbers if level != "nominal" else np.zeros(0)
    if level == "nominal":
        return _with_distances(counts, 1 - np.eye(counts.shape[1]))
    if level == "ratio":
        if (numbers < 0).any():
            raise ValueError("The ratio level needs values from 0 on.")
        total = numbers[:, None] + numbers
        gap = numbers[:, None] - numbers
        return _with_distances(counts, (gap / np.where(total > 0, total, 1)) ** 2)
    if level == "interval":
        return _with_numbers(counts, numbers)
    return _with_ranks(counts)


def _with_distances(counts: Floats, squared: Floats) -> _Disagreement:
    sizes = counts.sum(axis=1)
    within = ((counts @ squared) * counts).sum(axis=1) / np.maximum(sizes - 1, 1)
    columns = np.column_stack([sizes, within, counts])

    def disagreement(drawn: Floats) -> tuple[Floats, Floats]:
        sums = drawn @ columns
        total, margins = sums[:, 0], sums[:, 2:]
        pairs = ((margins @ squared) * margins).sum(axis=1)
        return sums[:, 1] / total, pairs / (total * (total - 1))

    return disagreement


def _with_numbers(counts: Floats, numbers: Floats) -> _Disagreement:
    sizes = counts.sum(axis=1)
    # Centered: squares of large numbers would drown their differences.
    n = sizes.sum()
    at = numbers - (counts.sum(axis=0) @ numbers / n if n else 0.0)
    sums, squares = counts @ at, counts @ at**2
    within = 2 * (sizes * squares - sums**2) / np.maximum(sizes - 1, 1)
    columns = np.column_stack([sizes, np.maximum(within, 0.0), sums, squares])

    def disagreement(drawn: Floats) -> tuple[Floats, Floats]:
        total, observed, first, second = (drawn @ columns).T
        return observed / total, 2 * (second - first**2 / total) / (total - 1)

    return disagreement


def _with_ranks(counts: Floats) -> _Disagreement:
    """Return disagreement under squared differences of the number of ratings between.

    Positions depend on the draw; no table of all pairs of values is needed, so that there
    may be thousands of them.
    """
    sizes = counts.sum(axis=1)

    def disagreement(drawn: Floats) -> tuple[Floats, Floats]:
        margins = drawn @ counts
        total = drawn @ sizes
        # The distance of two values is the number of ratings between them, with half of
        # their own.
        at = np.cumsum(margins, axis=1) - margins / 2
        # Centered as numbers are; distances stay as they are.
        at = at - ((margins * at).sum(axis=1) / total)[:, None]
        squares, sums = at**2 @ counts.T, at @ counts.T
        within = 2 * (sizes * squares - sums**2) / np.maximum(sizes - 1, 1)
        observed = (drawn * np.maximum(within, 0.0)).sum(axis=1) / total
        return observed, (2 * (margins * at**2).sum(axis=1) / (total - 1))

    return disagreement
