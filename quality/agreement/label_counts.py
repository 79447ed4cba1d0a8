"""Ratings as counts of values per item, the input of chance-corrected agreement."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quality.counts import Floats

_FEW = 1_024


@dataclass(frozen=True)
class LabelCounts:
    """How often each item received each value.

    Attributes
    ----------
    values : ndarray, shape (n_values,)
        Distinct values, sorted: numbers, or words for nominal data.
    counts : ndarray of float64, shape (n_items, n_values)
        Ratings per item and value; missing ratings are in no column.
    """

    values: npt.NDArray[np.generic]
    counts: Floats

    @property
    def numbers(self) -> Floats:
        """The values as numbers; raises ValueError for words."""
        try:
            return self.values.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                "Only the nominal level accepts words; give numbers."
            ) from None


def label_counts(ratings: npt.ArrayLike) -> LabelCounts:
    """Count the values of a table of ratings, without the raters.

    Parameters
    ----------
    ratings : array_like, shape (n_items, n_raters)
        Numbers, or words for nominal data; NaN and None are missing.
    """
    table = np.asarray(ratings)
    if table.dtype.kind not in "biuf":
        # As objects, because NumPy turns numbers beside words into words.
        table = np.array(ratings, dtype=object)
    items = np.repeat(np.arange(len(table)), table.shape[1])
    return tally(items, table.ravel(), n_items=len(table))


def tally(
    items: npt.ArrayLike, values: npt.ArrayLike, *, n_items: int | None = None
) -> LabelCounts:
    """Count ratings given one per line.

    Parameters
    ----------
    items : array_like, shape (n_ratings,)
        The rated items: numbers or names.
    values : array_like, shape (n_ratings,)
        The rating; NaN and None are missing.
    n_items : int, optional
        For `items` that are positions 0 to n_items - 1, some without ratings.

    Returns
    -------
    LabelCounts
        Rows in order of first appearance, or of position when `n_items` is given.
    """
    import pandas as pd

    ratings = np.asarray(values).ravel()
    if ratings.dtype.kind not in "iuf":
        # As objects, because NumPy turns numbers beside words into words.
        ratings = np.asarray(values, dtype=object).ravel()
    rows = np.asarray(items).ravel()
    if n_items is None:
        rows, names = pd.factorize(rows)
        n_items = len(names)
    known = ~pd.isna(ratings)
    present = ratings[known]
    words = {isinstance(value, str) for value in present if ratings.dtype == object}
    if len(words) > 1:
        raise ValueError("Ratings must be all words or all numbers, not both.")
    column, distinct = _distinct(present, words == {True})
    shape = n_items, len(distinct)
    cells = rows[known] * shape[1] + column
    counts = np.bincount(cells, minlength=shape[0] * shape[1])
    return LabelCounts(distinct, counts.reshape(shape).astype(np.float64))


def _distinct(
    present: npt.NDArray[np.generic], are_words: bool
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.generic]]:
    if are_words:
        typed = present.astype(str)
    else:
        try:
            typed = present.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError("Ratings must be words or numbers.") from None
        if not np.isfinite(typed).all():
            raise ValueError("Ratings must be finite numbers.")
        if typed.size and np.ptp(typed) < _FEW:
            steps = (typed - typed.min()).astype(np.int64)
            if np.array_equal(steps + typed.min(), typed):
                # counting is faster than sorting
                given = np.bincount(steps) > 0
                column = (np.cumsum(given) - 1)[steps]
                return column, np.flatnonzero(given) + typed.min()
    distinct, column = np.unique(typed, return_inverse=True)
    return column, distinct
