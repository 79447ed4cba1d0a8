"""Percentage agreement, Cohen's and Fleiss' kappa."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from genie.lib.interval import Interval
from quality.agreement.item_bootstrap import item_interval
from quality.agreement.label_counts import LabelCounts, label_counts, tally
from quality.counts import Floats

Weights = Literal["linear", "quadratic"]


@dataclass(frozen=True)
class Agreement(Interval):
    """A coefficient of agreement, at most 1; NaN if undefined."""

    n_items: int


@dataclass(frozen=True)
class Kappa(Agreement):
    """Agreement beyond chance; 0 is chance.

    Attributes
    ----------
    observed, expected : float
        Share of agreement, and its expectation by chance.
    """

    observed: float
    expected: float


def percentage_agreement(
    ratings: npt.ArrayLike | LabelCounts, *, n_resamples: int = 1_000, seed: int = 0
) -> Agreement:
    """Compute the share of pairs of raters that gave an item the same value.

    Parameters
    ----------
    ratings : array_like, shape (n_items, n_raters), or LabelCounts
        Numbers or words; NaN and None are missing.

    Returns
    -------
    Agreement
        A share with a percentile interval over items; NaN without pairs. Each item
        with at least two ratings counts once.

    References
    ----------
    J. Fleiss, "Measuring nominal scale agreement among many raters", Psychol. Bull. 76
    (1971), eq. 2-3.
    """
    labels = ratings if isinstance(ratings, LabelCounts) else label_counts(ratings)
    share = _agreeing_share(labels.counts[labels.counts.sum(axis=1) >= 2])
    low, high, _ = item_interval(
        lambda drawn: drawn @ share / len(share),
        len(share),
        n_resamples=n_resamples,
        seed=seed,
    )
    return Agreement(
        float(share.mean()) if share.size else float("nan"), low, high, len(share)
    )


def _agreeing_share(counts: Floats) -> Floats:
    sizes = counts.sum(axis=1)
    share: Floats = ((counts**2).sum(axis=1) - sizes) / (sizes * (sizes - 1))
    return share


def fleiss_kappa(
    ratings: npt.ArrayLike | LabelCounts, *, n_resamples: int = 1_000, seed: int = 0
) -> Kappa:
    """Estimate the agreement of several raters on nominal values beyond chance.

    The interval is a percentile interval over items.

    Parameters
    ----------
    ratings : array_like, shape (n_items, n_raters), or LabelCounts
        Numbers or words, the same number of ratings for each item. The raters need not
        be the same people.

    Raises
    ------
    ValueError
        If there is no item, or items have different numbers of ratings or fewer than
        two: use Krippendorff's alpha for those.

    References
    ----------
    J. Fleiss, "Measuring nominal scale agreement among many raters", Psychol. Bull. 76
    (1971), eq. 1-8.

    Examples
    --------
    >>> estimate = fleiss_kappa([["a", "a"], ["a", "b"], ["b", "b"], ["b", "b"]])
    >>> round(estimate.estimate, 4), estimate.observed
    (0.4667, 0.75)
    """
    counts = (
        ratings if isinstance(ratings, LabelCounts) else label_counts(ratings)
    ).counts
    sizes = counts.sum(axis=1)
    if not len(counts) or sizes.min() < 2 or sizes.min() != sizes.max():
        raise ValueError(
            "Fleiss' kappa needs the same number of ratings, at least two, for each "
            "item; Krippendorff's alpha allows missing ratings."
        )
    share = _agreeing_share(counts)

    def parts(drawn: Floats) -> tuple[Floats, Floats]:
        margins = drawn @ counts / (len(counts) * sizes[0])
        return drawn @ share / len(counts), (margins**2).sum(axis=1)

    low, high, _ = item_interval(
        lambda drawn: _beyond(*parts(drawn)),
        len(counts),
        n_resamples=n_resamples,
        seed=seed,
    )
    observed, expected = parts(np.ones((1, len(counts))))
    value = float(_beyond(observed, expected)[0])
    return Kappa(value, low, high, len(counts), float(observed[0]), float(expected[0]))


def _beyond(observed: Floats, expected: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        # If chance explains all agreement, kappa would be 0 / 0.
        kappa: Floats = np.where(
            expected < 1 - 1e-12, (observed - expected) / (1 - expected), np.nan
        )
    return kappa


def cohen_kappa(
    first: npt.ArrayLike, second: npt.ArrayLike, *, weights: Weights | None = None
) -> Kappa:
    """Estimate the agreement of two raters beyond chance, each with their own habits.

    The interval is from the asymptotic standard error.

    Parameters
    ----------
    first, second : array_like, shape (n_items,)
        The two raters' values, numbers or words; items that one of them left out (NaN
        or None) are left out.
    weights : {"linear", "quadratic"}, optional
        Count near misses of ordered values as partial agreement, by their distance in
        ranks. Without it any difference is a disagreement.

    References
    ----------
    J. Cohen, "A coefficient of agreement for nominal scales", Educ. Psychol. Meas. 20
    (1960). J. Fleiss, J. Cohen and B. Everitt, "Large sample standard errors of kappa
    and weighted kappa", Psychol. Bull. 72 (1969), eq. 13.

    Examples
    --------
    >>> estimate = cohen_kappa([1, 1, 2, 2, 2], [1, 1, 2, 2, 1])
    >>> round(estimate.estimate, 4), estimate.observed
    (0.6154, 0.8)
    """
    from scipy import stats

    table = _cross_table(first, second)
    n = float(table.sum())
    if n == 0:
        nan = float("nan")
        return Kappa(nan, nan, nan, 0, nan, nan)
    share = table / n
    credit = _credit(len(table), weights)
    rows, columns = share.sum(axis=1), share.sum(axis=0)
    observed = float((share * credit).sum())
    expected = float(rows @ credit @ columns)
    value = float(_beyond(np.array([observed]), np.array([expected]))[0])
    # The terms of Fleiss, Cohen and Everitt's equation 13.
    typical = (credit @ columns)[:, None] + rows @ credit
    spread = float((share * (credit - typical * (1 - value)) ** 2).sum())
    # Rounding alone may make it negative.
    variance = max(spread - (value - expected * (1 - value)) ** 2, 0.0)
    half = stats.norm.ppf(0.975) * np.sqrt(variance / n)
    reach = float(half / (1 - expected)) if expected < 1 else float("nan")
    return Kappa(value, value - reach, value + reach, int(n), observed, expected)


def _cross_table(first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
    first_values, second_values = (
        np.asarray(side, dtype=object).ravel() for side in (first, second)
    )
    both = tally(
        np.arange(2 * len(first_values)),
        np.concatenate([first_values, second_values]),
        n_items=2 * len(first_values),
    )
    left, right = both.counts[: len(first_values)], both.counts[len(first_values) :]
    return left.T @ right


def _credit(n_values: int, weights: Weights | None) -> Floats:
    rank = np.arange(n_values, dtype=np.float64)
    apart = np.abs(rank[:, None] - rank) / max(n_values - 1, 1)
    if weights is None:
        return np.eye(n_values)
    return 1 - apart if weights == "linear" else 1 - apart**2
