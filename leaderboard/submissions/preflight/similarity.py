"""How well predictions fit the references of their instances, and of others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import scipy.sparse as sp


# Texts as sparse vectors of their character n-grams.
#
# numpy counts code points, so a thousand sentences take about a tenth of a second, in any
# language and without a tokenizer.

ORDERS = (3, 4)
_N_BUCKETS = 1 << 20
# Enough to identify a text, and a bound on memory for any file.
MAX_CHARACTERS = 1_000
_TEXTS_AT_ONCE = 2_000


def count_ngrams(texts: Sequence[str]) -> sp.csr_array:
    """Count hashed character 3- and 4-grams.

    Parameters
    ----------
    texts : sequence of str, shape (n,)
        Case and the amount of white space do not count; of long texts only the first
        1,000 characters do.

    Returns
    -------
    csr_array of float32, shape (n, 2**20)

    Examples
    --------
    >>> count_ngrams(["Ab", "ab  "]).sum(axis=1).tolist()
    [3.0, 3.0]
    """
    import scipy.sparse as sp

    parts = [
        _count(texts[start : start + _TEXTS_AT_ONCE])
        for start in range(0, len(texts), _TEXTS_AT_ONCE)
    ]
    if not parts:
        parts = [_count([""])[:0]]
    return sp.csr_array(sp.vstack(parts, format="csr"))


def _count(texts: Sequence[str]) -> sp.csr_array:
    import scipy.sparse as sp

    # spaces at both ends make beginnings and ends of words distinct n-grams
    padded = [f" {' '.join(text.lower().split())[:MAX_CHARACTERS]} " for text in texts]
    lengths = np.array([len(text) for text in padded], dtype=np.int64)
    points = np.frombuffer(
        "".join(padded).encode("utf-32-le", "surrogatepass"), dtype=np.uint32
    ).astype(np.uint64)
    row = np.repeat(np.arange(len(padded), dtype=np.int32), lengths)
    end = np.repeat(np.cumsum(lengths), lengths)
    rows, buckets = [], []
    for order in ORDERS:
        hashed = _hashes(points, order)
        # n-grams across two texts are left out
        within = np.arange(len(hashed)) + order <= end[: len(hashed)]
        rows.append(row[: len(hashed)][within])
        buckets.append(hashed[within])
    columns = np.concatenate(buckets)
    counts = sp.coo_array(
        (np.ones(len(columns), np.float32), (np.concatenate(rows), columns)),
        shape=(len(padded), _N_BUCKETS),
    )
    return sp.csr_array(counts.tocsr())  # sums counts in the same bucket


def _hashes(points: NDArray[np.uint64], order: int) -> NDArray[np.int32]:
    n = max(len(points) - order + 1, 0)
    value = np.full(n, order, dtype=np.uint64)
    for offset in range(order):
        # a polynomial hash, then Fibonacci hashing: the upper 20 bits are well mixed
        value = value * np.uint64(1_000_003) + points[offset : offset + n]
    value *= np.uint64(0x9E3779B97F4A7C15)
    return np.asarray(value >> np.uint64(44), dtype=np.int32)


def mean_by_instance(
    vectors: sp.csr_array, references: Sequence[Sequence[str]]
) -> sp.csr_array:
    """Return the mean vector of each instance's references.

    Parameters
    ----------
    vectors : csr_array, shape (number of references, k)
        Of all references, instance by instance.
    references : sequence of sequences of str, shape (n, variable)

    Returns
    -------
    csr_array, shape (n, k)
        Zero for instances without references.

    Examples
    --------
    >>> [vectors] = weigh(count_ngrams(["abc", "xyz"]))
    >>> means = mean_by_instance(vectors, [["abc", "xyz"], []])
    >>> (means @ vectors.T).toarray().round(3).tolist()
    [[0.5, 0.5], [0.0, 0.0]]
    """
    import scipy.sparse as sp

    sizes = np.array([len(row) for row in references], dtype=np.int64)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    gather = sp.coo_array(
        ((1 / sizes[owner]).astype(np.float32), (owner, np.arange(len(owner)))),
        shape=(len(sizes), len(owner)),
    )
    return sp.csr_array(gather.tocsr() @ vectors)


def weigh(*counted: sp.csr_array) -> list[sp.csr_array]:
    """Return counts as unit vectors: rare n-grams weigh more than common ones.

    Parameters
    ----------
    *counted : csr_array, shapes (n_i, 2**20)
        Sets of texts in one comparison; rarity is computed over all of them.

    Returns
    -------
    list of csr_array of float32, same shapes
        Rows of Euclidean length 1; all zero for texts without n-grams.

    References
    ----------
    Salton, Buckley (1988), "Term-weighting approaches in automatic text retrieval":
    (1 + log tf) log(N / df), cosine normalized.

    Examples
    --------
    >>> [vectors] = weigh(count_ngrams(["abc", "xyz", ""]))
    >>> (vectors @ vectors.T).toarray().round(3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    n_texts = sum(counts.shape[0] for counts in counted)
    in_texts = sum(
        np.bincount(counts.indices, minlength=_N_BUCKETS) for counts in counted
    )
    # one added on either side, for empty buckets
    rarity = np.log((1 + n_texts) / (1 + np.asarray(in_texts))).astype(np.float32)
    return [_unit(counts, rarity) for counts in counted]


def _unit(counts: sp.csr_array, rarity: NDArray[np.float32]) -> sp.csr_array:
    import scipy.sparse as sp

    data = (1 + np.log(counts.data)) * rarity[counts.indices]
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    length = np.sqrt(np.bincount(row, weights=data**2, minlength=counts.shape[0]))
    length[length == 0] = 1
    unit = (data / length[row]).astype(np.float32)
    return sp.csr_array((unit, counts.indices, counts.indptr), shape=counts.shape)


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
    def is_misaligned(self) -> bool:
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
    >>> fit.share_own, fit.share_elsewhere, fit.is_misaligned
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


# Match predictions to the instances that they were probably written for.

# Up to this many the assignment is solved exactly (50 MB); beyond it, certain pairs are
# fixed first.
_EXACT = 2_500
# Among equals a text stays at its instance.
_STAY = 1e-6


def realign(
    predictions: list[str],
    references: list[list[str]],
    others: Sequence[list[str]] = (),
) -> NDArray[np.int64]:
    """Compute the one-to-one assignment with the best fit.

    Similarity is the cosine of tf-idf weighted character 3- and 4-grams, to the
    instance's references and, with half the weight, to other systems' predictions.

    Parameters
    ----------
    predictions : list of str, shape (n,)
    references : list of list of str, shape (n, variable)
    others : sequence of list of str, each of shape (n,), optional
        Other submissions; misaligned ones are left out.

    Returns
    -------
    ndarray of int, shape (n,)
        Entry i is the position, in the submitted file, of the prediction that belongs to
        instance i: a permutation.

    References
    ----------
    Kuhn (1955), "The Hungarian method for the assignment problem"; scipy's
    implementation of Crouse (2016). Beyond 2,500 instances mutual best pairs are fixed
    first, so that memory stays flat.
    """
    n = len(predictions)
    if n == 0:
        return np.zeros(0, np.int64)
    return _assign(*_vectors(predictions, references, others))


def _vectors(
    predictions: list[str], references: list[list[str]], others: Sequence[list[str]]
) -> tuple[sp.csr_array, sp.csr_array]:
    import scipy.sparse as sp

    flat = [text for row in references for text in row]
    predicted, written, *systems = weigh(
        count_ngrams(predictions),
        count_ngrams(flat),
        *(count_ngrams(typical) for typical in others),
    )
    target = mean_by_instance(written, references)
    # a few hundred show whether another submission is aligned
    rows = np.unique(np.linspace(0, len(predictions) - 1, 200, dtype=np.int64))
    if flat:
        systems = [s for s in systems if not fit_of(s, target, rows).is_misaligned]
    if systems:
        # the cosine with a sum is the sum of cosines: all in one product
        typical = sum(systems[1:], start=systems[0]) * (1 / len(systems))
        # references count twice as much as other systems' texts
        target = (target * 2 + typical) * (1 / 3) if flat else typical
    return predicted, sp.csr_array(target)


def _assign(predicted: sp.csr_array, expected: sp.csr_array) -> NDArray[np.int64]:
    order = np.full(predicted.shape[0], -1, np.int64)
    rows = columns = np.arange(predicted.shape[0])
    while len(rows) > _EXACT:
        certain, partner = _mutual(predicted[rows], expected[columns])
        if len(certain) < 0.02 * len(rows):
            break  # texts that fit no instance: no more pairs are certain
        order[columns[partner]] = rows[certain]
        rows, columns = np.delete(rows, certain), np.delete(columns, partner)
    # the rest of a hopeless file is solved in pieces
    for start in range(0, len(rows), _EXACT):
        piece = slice(start, start + _EXACT)
        _solve(predicted, expected, rows[piece], columns[piece], order)
    return order


def _solve(
    predicted: sp.csr_array,
    expected: sp.csr_array,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    order: NDArray[np.int64],
) -> None:
    from scipy.optimize import linear_sum_assignment

    likeness = np.vstack(
        [block for _, block in similarities(predicted[rows], expected[columns])]
    )
    likeness += _STAY * (rows[:, None] == columns[None, :])
    assigned, partner = linear_sum_assignment(likeness, maximize=True)
    order[columns[partner]] = rows[assigned]


def _mutual(
    predicted: sp.csr_array, expected: sp.csr_array
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    n = expected.shape[0]
    best = np.full(n, -1.0, np.float32)
    best_row = np.zeros(n, np.int64)
    choice = np.zeros(predicted.shape[0], np.int64)
    for rows, block in similarities(predicted, expected):
        choice[rows] = block.argmax(axis=1)
        top = block.argmax(axis=0)
        value = block[top, np.arange(n)]
        better = value > best
        best[better] = value[better]
        best_row[better] = top[better] + rows.start
    mutual = best_row[choice] == np.arange(predicted.shape[0])
    pairs = np.flatnonzero(mutual & (best[choice] > 0))
    return pairs, choice[pairs]
