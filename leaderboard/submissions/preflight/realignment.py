"""Match predictions to the instances that they were probably written for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from leaderboard.submissions.preflight.ngrams import (
    count_ngrams,
    mean_by_instance,
    weigh,
)
from leaderboard.submissions.preflight.similarity import fit_of, similarities

if TYPE_CHECKING:
    import scipy.sparse as sp

# Up to this many the assignment is solved exactly (50 MB); beyond it, certain pairs are
# fixed first.
_EXACT = 2_500
# Among equals a text stays at its instance.
_STAY = 1e-6


@dataclass(frozen=True, eq=False)
class Realignment:
    """A proposed instance for each prediction.

    Parameters
    ----------
    order : ndarray of int, shape (n,)
        ``order[i]`` is the position, in the submitted file, of the prediction that
        belongs to instance i. A permutation.
    similarity : ndarray of float, shape (n,)
        How well it fits there, 0 to 1.
    """

    order: NDArray[np.int64]
    similarity: NDArray[np.float64]

    @property
    def n_moved(self) -> int:
        """Number of predictions that change their instance."""
        return int((self.order != np.arange(len(self.order))).sum())


def realign(
    predictions: list[str],
    references: list[list[str]],
    others: Sequence[list[str]] = (),
) -> Realignment:
    """Compute the one-to-one assignment with the best fit.

    Similarity is the cosine of tf-idf weighted character 3- and 4-grams, to the
    instance's references and, with half the weight, to other systems' predictions.

    Parameters
    ----------
    predictions : list of str, shape (n,)
    references : list of list of str, shape (n, variable)
    others : sequence of list of str, each of shape (n,), optional
        Other submissions; misaligned ones are left out.

    References
    ----------
    Kuhn (1955), "The Hungarian method for the assignment problem"; scipy's
    implementation of Crouse (2016). Beyond 2,500 instances mutual best pairs are fixed
    first, so that memory stays flat.
    """
    n = len(predictions)
    if len(references) != n or any(len(other) != n for other in others):
        raise ValueError("Predictions, references and others must be aligned.")
    if n == 0:
        return Realignment(np.zeros(0, np.int64), np.zeros(0))
    predicted, expected = _vectors(predictions, references, others)
    order = _assign(predicted, expected)
    fitting = np.asarray(predicted[order].multiply(expected).sum(axis=1)).ravel()
    return Realignment(order, np.clip(fitting.astype(np.float64), 0.0, 1.0))


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
        systems = [s for s in systems if not fit_of(s, target, rows).misaligned]
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
