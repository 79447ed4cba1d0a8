"""Intraclass correlation: all six forms, with intervals from the F distribution."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from quality.agreement.kappa import Agreement
from quality.counts import Floats

#: One-way random, two-way random (absolute agreement) and two-way mixed (consistency);
#: of one rating and of the mean of k ratings.
IccForm = Literal["ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k"]
ICC_FORMS: tuple[IccForm, ...] = get_args(IccForm)


@dataclass(frozen=True)
class Icc(Agreement):
    """One intraclass correlation; may be negative.

    Attributes
    ----------
    n_raters : float
        Ratings per item; for unequal numbers their effective number.
    """

    form: IccForm
    f: float
    p: float
    df: tuple[float, float]
    n_raters: float


@dataclass(frozen=True)
class _MeanSquares:
    """Sizes; mean squares of rows (items), within rows, of columns (raters), of error."""

    n: int
    k: float
    rows: float
    within: float
    columns: float
    error: float


def icc(ratings: npt.ArrayLike, form: IccForm = "ICC1k") -> Icc:
    """Estimate an intraclass correlation of complete ratings.

    Parameters
    ----------
    ratings : array_like of float, shape (n_items, n_raters)
        At least two of each and nothing missing. For ICC1 and ICC1k the columns need
        not be the same people; for the others column j is rater j.
    form : {"ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k"}, default "ICC1k"
        One-way random; two-way random, absolute agreement; two-way mixed, consistency;
        of a single rating or (k) of the mean over the raters.

    Returns
    -------
    Icc
        NaN when no rating differs from another; 1 with interval (1, 1) when raters
        agree perfectly on items that differ.

    References
    ----------
    P. Shrout and J. Fleiss, "Intraclass correlations", Psychol. Bull. 86 (1979), table
    4 and the appendix on intervals. K. McGraw and S. Wong, "Forming inferences about
    some intraclass correlation coefficients", Psychol. Methods 1 (1996), tables 4 and 7.
    """
    return _estimate(_two_way(_table(ratings)), form)


def icc_forms(ratings: npt.ArrayLike) -> dict[IccForm, Icc]:
    """Estimate all six forms.

    Parameters
    ----------
    ratings : array_like of float, shape (n_items, n_raters)
        As for :func:`icc`.
    """
    squares = _two_way(_table(ratings))
    return {form: _estimate(squares, form) for form in ICC_FORMS}


def icc_one_way(groups: Sequence[npt.ArrayLike], *, average: bool = True) -> Icc:
    """Estimate ICC1 or ICC1k of items with different numbers of ratings.

    Parameters
    ----------
    groups : sequence of array_like of float
        The ratings of each item, at least one each, from any raters.
    average : bool, default True
        ICC1k (of an item's mean) instead of ICC1 (of a single rating).

    Returns
    -------
    Icc
        Its `n_raters` is the effective number n0 of ratings per item; its interval is
        approximate when the numbers differ.

    Raises
    ------
    ValueError
        If there are fewer than two items, an item has no rating, or no item has two.

    References
    ----------
    S. Searle, G. Casella and C. McCulloch, "Variance Components" (1992), section 3.6
    (analysis of variance of unbalanced data; n0).
    """
    rated = [np.asarray(group, dtype=np.float64).ravel() for group in groups]
    if len(rated) < 2 or min(group.size for group in rated) < 1:
        raise ValueError(
            "An ICC needs at least two items with at least one rating each."
        )
    values = np.concatenate(rated)
    sizes = np.array([group.size for group in rated])
    n, total = len(rated), int(sizes.sum())
    if total == n:
        raise ValueError("An ICC needs an item with at least two ratings.")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    means = np.add.reduceat(values, starts) / sizes
    rows = float((sizes * (means - values.mean()) ** 2).sum()) / (n - 1)
    within = float(((values - np.repeat(means, sizes)) ** 2).sum()) / (total - n)
    # n0: below the mean number of ratings if the numbers differ.
    effective = float((total - (sizes**2).sum() / total) / (n - 1))
    squares = _without_rounding(
        values, _MeanSquares(n, effective, rows, within, 0.0, 0.0)
    )
    form: IccForm = "ICC1k" if average else "ICC1"
    return _estimate(squares, form, df_within=float(total - n))


def _table(ratings: npt.ArrayLike) -> Floats:
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2 or min(table.shape) < 2:
        raise ValueError("An ICC needs at least two items and two raters.")
    if not np.isfinite(table).all():
        raise ValueError(
            "These forms of the ICC need every rating; use icc_one_way, or "
            "Krippendorff's alpha, where some are missing."
        )
    return table


def _two_way(table: Floats) -> _MeanSquares:
    n, k = table.shape
    centered = table - table.mean()
    item, rater = centered.mean(axis=1), centered.mean(axis=0)
    rows = k * float((item**2).sum()) / (n - 1)
    columns = n * float((rater**2).sum()) / (k - 1)
    within = float(((centered - item[:, None]) ** 2).sum()) / (n * (k - 1))
    residual = centered - item[:, None] - rater
    error = float((residual**2).sum()) / ((n - 1) * (k - 1))
    squares = _MeanSquares(n, float(k), rows, within, columns, error)
    return _without_rounding(table, squares)


def _without_rounding(values: Floats, ms: _MeanSquares) -> _MeanSquares:
    """Set mean squares that are rounding noise to 0, so that ties are exact."""
    # Squared, because it is compared with mean squares.
    noise = (1e-13 * float(np.abs(values).max(initial=0.0))) ** 2
    rows, within, columns, error = (
        0.0 if square <= noise else square
        for square in (ms.rows, ms.within, ms.columns, ms.error)
    )
    return _MeanSquares(ms.n, ms.k, rows, within, columns, error)


def _estimate(ms: _MeanSquares, form: IccForm, df_within: float | None = None) -> Icc:
    from scipy import stats

    df1 = float(ms.n - 1)
    if form.startswith("ICC1"):
        other, df2 = ms.within, df_within or ms.n * (ms.k - 1)
    else:
        other, df2 = ms.error, df1 * (ms.k - 1)
    if ms.rows == 0 and other == 0 and ms.columns == 0:
        nan = float("nan")
        return Icc(nan, nan, nan, ms.n, form, nan, nan, (df1, df2), ms.k)
    f = ms.rows / other if other > 0 else (np.inf if ms.rows > 0 else np.nan)
    if form.startswith("ICC2"):
        value, low, high = _agreement(ms)
    else:
        low = _from_f(f / stats.f.ppf(0.975, df1, df2), ms.k)
        high = _from_f(f * stats.f.ppf(0.975, df2, df1), ms.k)
        value = _from_f(f, ms.k)
    if form.endswith("k"):
        value, low, high = (_of_the_mean(single, ms.k) for single in (value, low, high))
    return Icc(
        value, low, high, ms.n, form, float(f), float(stats.f.sf(f, df1, df2)),
        (df1, df2), ms.k,
    )  # fmt: skip


def _from_f(f: float, k: float) -> float:
    return 1.0 if np.isinf(f) else float((f - 1) / (f + k - 1))


def _of_the_mean(single: float, k: float) -> float:
    denominator = 1 + (k - 1) * single
    return float(k * single / denominator) if denominator > 0 else float("-inf")


def _agreement(ms: _MeanSquares) -> tuple[float, float, float]:
    """ICC2 with Satterthwaite's degrees of freedom (McGraw and Wong, table 7)."""
    from scipy import stats

    n, k = ms.n, ms.k
    shared = k * ms.columns + (k * n - k - n) * ms.error
    whole = ms.rows + (k - 1) * ms.error + k / n * (ms.columns - ms.error)
    value = (ms.rows - ms.error) / whole if whole > 0 else float("nan")
    a = k * value * ms.columns
    b = (n * (1 + (k - 1) * value) - k * value) * ms.error
    spread = a**2 / (k - 1) + b**2 / ((n - 1) * (k - 1))
    df = max((a + b) ** 2 / spread, 1.0) if spread > 0 else 1.0
    upper, lower = (stats.f.ppf(0.975, n - 1, df), stats.f.ppf(0.975, df, n - 1))
    below, above = upper * shared + n * ms.rows, shared + n * lower * ms.rows
    low = n * (ms.rows - upper * ms.error) / below if below > 0 else float("nan")
    high = n * (lower * ms.rows - ms.error) / above if above > 0 else float("nan")
    # Rounding can lift perfect agreement above 1.
    return min(float(value), 1.0), min(float(low), 1.0), min(float(high), 1.0)
