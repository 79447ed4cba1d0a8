"""How well predictions fit the references of their instances, and of others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from leaderboard.submissions.preflight.ngrams import (
    count_ngrams,
    mean_by_instance,
    weigh,
)

if TYPE_CHECKING:
    import scipy.sparse as sp

# Unrelated sentences of one domain reach about .17 by chance among a thousand; if
# references are similar to each other, more is required.
EVIDENT = 0.3
# A match counts only if the next best is worse by this much: "yes" fits everywhere.
MARGIN = 0.1
_ROWS_AT_ONCE = 256


@dataclass(frozen=True)
class Fit:
    """The similarity of a sample of predictions to all references.

    Parameters
    ----------
    own : float
        Mean similarity to the references of the same instance, 0 to 1.
    others : float
        Mean similarity to other instances' references.
    best : float
        Mean similarity to the best references.
    share_own : float
        Share of predictions whose clear, mutual best match is their instance.
    share_elsewhere : float
        Share whose clear, mutual best match is another instance.
    n : int
        Number of predictions in the sample.
    """

    own: float
    others: float
    best: float
    share_own: float
    share_elsewhere: float
    n: int

    @property
    def misaligned(self) -> bool:
        """Whether a tenth of the predictions and at least four belong elsewhere.

        They must match another instance clearly and mutually: predictions of bad
        systems match none.
        """
        # four, less rounding: share times n may be just below a whole
        # number
        return self.share_elsewhere >= 0.1 and self.share_elsewhere * self.n >= 4 - 1e-9


def vectors_of(
    predictions: list[str], references: list[list[str]]
) -> tuple[sp.csr_array, sp.csr_array]:
    """Return unit vectors of predictions and of each instance's references.

    Parameters
    ----------
    predictions : list of str, shape (n,)
    references : list of list of str, shape (n, variable)

    Returns
    -------
    tuple of csr_array, each of shape (n, 2**20)

    Examples
    --------
    >>> left, right = vectors_of(["abcd", "wxyz"], [["abcd"], ["wxyz"]])
    >>> (left @ right.T).toarray().round(3).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    flat = [text for texts in references for text in texts]
    predicted, expected = weigh(count_ngrams(predictions), count_ngrams(flat))
    return predicted, mean_by_instance(expected, references)


def fit_of(
    predicted: sp.csr_array, expected: sp.csr_array, rows: NDArray[np.int64]
) -> Fit:
    """Compare some predictions with all references.

    Parameters
    ----------
    predicted, expected : csr_array, shape (n, k)
        Vectors as from `vectors_of`.
    rows : ndarray of int, shape (m,)
        Indices of the predictions.

    Examples
    --------
    >>> texts = ["a red house", "seven small birds", "under the bridge", "cold milk"]
    >>> predicted, expected = vectors_of(texts[1:] + texts[:1], [[text] for text in texts])
    >>> fit = fit_of(predicted, expected, np.arange(4))
    >>> fit.share_own, fit.share_elsewhere, fit.misaligned
    (0.0, 1.0, True)
    """
    n = predicted.shape[0]
    forward, backward = _both_ways(predicted, expected, rows)
    evident = max(EVIDENT, _usual_similarity(expected, rows) + MARGIN)
    columns = forward.column
    # clear, better than the next, and mutual: each test alone fires on
    # similar texts ("yes", templates)
    mutual = (
        (forward.best >= evident)
        & (forward.best - forward.second >= MARGIN)
        & (backward.best - backward.second >= MARGIN)
        & (backward.column == rows)
    )
    at_home = columns == rows
    elsewhere = (forward.total - forward.own) / max(n - 1, 1)
    return Fit(
        own=float(forward.own.mean()),
        others=float(elsewhere.mean()),
        best=float(forward.best.mean()),
        share_own=float((mutual & at_home).mean()),
        share_elsewhere=float((mutual & ~at_home).mean()),
        n=len(rows),
    )


def _usual_similarity(expected: sp.csr_array, rows: NDArray[np.int64]) -> float:
    """Return the usual similarity of references to each other, high for templates."""
    rows = rows[np.diff(expected.indptr)[rows] > 0]
    if not len(rows):
        return 0.0
    nearest = []
    for part, block in similarities(expected[rows], expected):
        # without itself, which is nearest to every reference
        block[np.arange(len(block)), rows[part]] = -1
        nearest.append(block.max(axis=1))
    return float(np.median(np.concatenate(nearest)))


@dataclass(frozen=True)
class _Matches:
    """For each row: similarity to its instance, the best two, their sum, place."""

    own: NDArray[np.float32]
    best: NDArray[np.float32]
    second: NDArray[np.float32]
    total: NDArray[np.float64]
    column: NDArray[np.int64]


def similarities(
    left: sp.csr_array, right: sp.csr_array
) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Yield the products of all pairs of rows, in blocks that bound memory.

    Parameters
    ----------
    left : csr_array, shape (m, k)
    right : csr_array, shape (n, k)

    Yields
    ------
    tuple of slice and ndarray of float32, shape (at most 256, n)
        Which rows of `left`, and their products with all rows of `right`.

    Examples
    --------
    >>> [vectors] = weigh(count_ngrams(["abc", "xyz"]))
    >>> [block.round(3).tolist() for _, block in similarities(vectors, vectors)]
    [[[1.0, 0.0], [0.0, 1.0]]]
    """
    import scipy.sparse as sp

    # transposed once: sparse products are fast with rows on the left
    across = sp.csr_array(right.T)
    for start in range(0, left.shape[0], _ROWS_AT_ONCE):
        rows = slice(start, min(start + _ROWS_AT_ONCE, left.shape[0]))
        yield rows, np.asarray((left[rows] @ across).toarray(), dtype=np.float32)


def _both_ways(
    predicted: sp.csr_array, expected: sp.csr_array, rows: NDArray[np.int64]
) -> tuple[_Matches, _Matches]:
    n = predicted.shape[0]
    if len(rows) < n:
        forward = _best(similarities(predicted[rows], expected), rows)
        columns = forward.column
        return forward, _best(similarities(expected[columns], predicted), columns)
    # of all with all, one product has both directions
    table = np.vstack([block for _, block in similarities(predicted, expected)])
    forward = _best([(slice(0, n), table.copy())], rows)
    columns = forward.column
    return forward, _best([(slice(0, n), table.T[columns])], columns)


def _best(
    blocks: Iterable[tuple[slice, NDArray[np.float32]]], home: NDArray[np.int64]
) -> _Matches:
    n = len(home)
    own, best, second = (np.zeros(n, np.float32) for _ in range(3))
    total, columns = np.zeros(n), np.zeros(n, np.int64)
    for rows, block in blocks:
        indices = np.arange(len(block))
        own[rows] = block[indices, home[rows]]
        total[rows] = block.sum(axis=1, dtype=np.float64)
        columns[rows] = block.argmax(axis=1)
        best[rows] = block[indices, columns[rows]]
        if block.shape[1] > 1:
            block[indices, columns[rows]] = -1
            second[rows] = block.max(axis=1)
    return _Matches(own, best, second, total, columns)
