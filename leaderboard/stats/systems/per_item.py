"""Systems ranked by one score for each item, such as the lines of any leaderboard.

These scores have no known raters: the ranks only cover other items of the same kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from genie.lib.interval import Interval
from leaderboard.stats.bounds import normal_quantile
from leaderboard.stats.intervals import Floats
from leaderboard.stats.systems.ranks import ALPHA, Ranking, rank_by_p
from leaderboard.stats.systems.weighting import contrasts

CONFIDENCE = 0.95


def as_table(scores: npt.ArrayLike) -> Floats:
    """Check a table of ratings with a row per instance and a column per system.

    Examples
    --------
    >>> as_table([[1, 2], [3, float("nan")]])
    Traceback (most recent call last):
        ...
    ValueError: System 2 has no finite rating for instance 2. Compare systems on the instances they share.
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.size == 0:
        raise ValueError("The scores must be a table: instances down, systems across.")
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise ValueError(
            f"System {column + 1} has no finite rating for instance {row + 1}. "
            "Compare systems on the instances they share."
        )
    return table


@dataclass(frozen=True)
class ItemEstimates:
    """Means of systems on the same items, with the uncertainty of their differences.

    Parameters
    ----------
    intervals : dict of str to Interval
        Mean score, in its own unit, with 95% confidence, each system by itself; NaN
        with only one item or group, except for two-valued scores, which have Wilson's
        interval.
    p_values : ndarray, shape (s, s)
        Two-sided p-value of each difference by itself; 1 on the diagonal.
    ranking : Ranking
        By simultaneous comparisons of all pairs; holds jointly with 95% confidence.
    n_items, n_groups : int
        `n_groups` equals `n_items` without groups.
    """

    systems: list[str]
    intervals: dict[str, Interval]
    p_values: Floats
    ranking: Ranking
    n_items: int
    n_groups: int
    method: str

    @property
    def n_pairs(self) -> int:
        return len(self.systems) * (len(self.systems) - 1) // 2

    @property
    def n_significant(self) -> int:
        """The number of significant pairs after correction for all pairs."""
        return int(
            (
                self.ranking.p_values[np.triu_indices(len(self.systems), 1)] <= ALPHA
            ).sum()
        )


def estimate_by_items(
    systems: Sequence[str], scores: npt.ArrayLike, groups: Sequence[str] | None = None
) -> ItemEstimates:
    """Rank systems by their mean over items, as one draw of many items.

    Parameters
    ----------
    systems : sequence of str, length s
        Names, all different; at least 1.
    scores : array_like, shape (m, s)
        Finite; a row for each item, higher is better.
    groups : sequence of str, length m, optional
        The group of each item, such as the questions on one text: groups are then
        the units of sampling, and items of one may be
        dependent.

    Returns
    -------
    ItemEstimates
        Without groups, scores of two values (right or wrong) are compared by the exact
        sign test on the items where two systems differ, all others by the paired
        t-test; with groups, by the t-test with errors clustered by group and
        g - 1 degrees of freedom.

    References
    ----------
    McNemar (1947), Psychometrika 12 (its exact form is the sign test); Cameron and
    Miller (2015), Journal of Human Resources 50(2), section II (clustered errors);
    Mogstad, Romano, Shaikh and Wilhelm (2024), Review of Economic Studies 91(1),
    section 3 (ranks from simultaneous differences); Holm (1979).

    Examples
    --------
    >>> right = np.zeros((100, 3))
    >>> right[:90, 0] = right[:88, 1] = right[:40, 2] = 1
    >>> found = estimate_by_items(["a", "b", "c"], right)
    >>> [str(rank) for rank in found.ranking.ranks], found.ranking.clusters
    (['1-2', '1-2', '3'], [1, 1, 2])
    >>> found.n_significant, found.n_pairs
    (2, 3)
    """
    names, table = list(systems), as_table(scores)
    if len(set(names)) < len(names):
        raise ValueError("Each system needs a different name.")
    codes = _codes(groups, len(table))
    n_groups = len(table) if codes is None else int(codes.max()) + 1
    means = table.mean(axis=0)
    covariance = _covariance_of_means(table - means, codes, n_groups)
    if codes is None and len(np.unique(table)) <= 2:
        p_values, method = _sign_tests(table), "exact sign test"
        lows, highs = _wilson(table)
    else:
        p_values = _t_tests(means, covariance, n_groups)
        method = "paired t-test" if codes is None else "t-test clustered by group"
        _mend_constant(p_values, means, covariance, n_groups)
        half = _t_quantile(n_groups) * np.sqrt(np.clip(np.diag(covariance), 0, None))
        lows, highs = means - half, means + half
    return ItemEstimates(
        systems=names,
        intervals={
            name: Interval(*numbers)
            for name, *numbers in zip(
                names, means.tolist(), lows.tolist(), highs.tolist(), strict=True
            )
        },
        p_values=p_values,
        ranking=rank_by_p(names, means, p_values),
        n_items=len(table),
        n_groups=n_groups,
        method=method,
    )


def _codes(groups: Sequence[str] | None, n: int) -> npt.NDArray[np.intp] | None:
    if groups is None:
        return None
    codes: npt.NDArray[np.intp] = np.unique(np.asarray(groups), return_inverse=True)[1]
    return codes


def _covariance_of_means(
    residuals: Floats, codes: npt.NDArray[np.intp] | None, n_groups: int
) -> Floats:
    """Return covariances (s, s), clustered by group; NaN from one group."""
    n = len(residuals)
    if n_groups < 2:
        return np.full((residuals.shape[1],) * 2, np.nan)
    sums = residuals
    if codes is not None:
        sums = np.zeros((n_groups, residuals.shape[1]))
        np.add.at(sums, codes, residuals)
    covariance: Floats = sums.T @ sums / n**2 * n_groups / (n_groups - 1)
    return covariance


def _t_tests(means: Floats, covariance: Floats, n_groups: int) -> Floats:
    from scipy.special import stdtr

    if n_groups < 2:
        return np.ones_like(covariance)
    errors = np.sqrt(np.maximum(contrasts(covariance), 0.0))
    gaps = np.abs(means[:, None] - means[None, :])
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(gaps > 0, gaps / errors, 0.0)
    p_values: Floats = 2 * stdtr(n_groups - 1, -t)
    np.fill_diagonal(p_values, 1.0)
    return np.minimum(p_values, 1.0)


def _mend_constant(
    p_values: Floats, means: Floats, covariance: Floats, n_groups: int
) -> None:
    """Use the sign test if two systems differ by the same on every item.

    The t-test would be certain from two items on.
    """
    if n_groups < 2:
        return
    variances = contrasts(covariance)
    scale = np.maximum(np.diag(covariance)[:, None], means[:, None] ** 2) + 1e-300
    constant = (variances <= 1e-20 * scale) & (means[:, None] != means[None, :])
    p_values[constant] = np.maximum(p_values[constant], 2.0 ** (1 - n_groups))


def _sign_tests(table: Floats) -> Floats:
    from scipy.stats import binom

    right = (table == table.max()).astype(np.float64)
    # entry i, j: items that i gets right and j does not
    wins = right.T @ (1 - right)
    p_values: Floats = 2 * binom.cdf(np.minimum(wins, wins.T), wins + wins.T, 0.5)
    np.fill_diagonal(p_values, 1.0)
    return np.minimum(p_values, 1.0)


def _wilson(table: Floats) -> tuple[Floats, Floats]:
    """Return Wilson's interval (1927) of each share, on the scores' own scale."""
    n, (low, high) = len(table), (table.min(), table.max())
    width = high - low
    share = (table.mean(axis=0) - low) / width if width else np.zeros(table.shape[1])
    z2 = normal_quantile(CONFIDENCE) ** 2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(share * (1 - share) * z2 / n + (z2 / (2 * n)) ** 2) / (1 + z2 / n)
    if not width:
        return table.mean(axis=0), table.mean(axis=0)
    return low + width * (centre - half), low + width * (centre + half)


def _t_quantile(n_groups: int) -> float:
    from scipy.special import stdtrit

    if n_groups < 2:
        return float("nan")
    return float(stdtrit(n_groups - 1, (1 + CONFIDENCE) / 2))
