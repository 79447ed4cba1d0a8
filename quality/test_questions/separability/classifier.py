"""A small classifier: cross-validated logistic ridge regression with quadratic terms."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RIDGE = 100.0
# Each of the many products is weak: with a small ridge they would hide the strong
# terms.
RIDGE_OF_PRODUCTS = 1000.0
FARTHEST = 4.0
N_STEPS = 60


def quadratic(features: Floats) -> tuple[Floats, Floats]:
    """Standardize features, a row for each item, and add their squares and products.

    Columns without variance are left out. Far values are clipped, so that one odd item
    does not decide. Returns the design and the ridge of each column.
    """
    first = _standardize(features)
    rows, columns = np.triu_indices(first.shape[1], 1)
    blocks = [
        first,
        _standardize(first**2),
        _standardize(first[:, rows] * first[:, columns]),
    ]
    ridge = np.repeat(
        [RIDGE, RIDGE, RIDGE_OF_PRODUCTS], [block.shape[1] for block in blocks]
    )
    return np.hstack(blocks), ridge


def _standardize(values: Floats) -> Floats:
    spread = values.std(axis=0)
    kept = spread > 1e-9 * (1 + np.abs(values).max(axis=0, initial=0.0))
    scaled: Floats = (values[:, kept] - values[:, kept].mean(axis=0)) / spread[kept]
    return np.clip(scaled, -FARTHEST, FARTHEST)


def folds_of(
    labels: NDArray[np.bool_], groups: Ints, n_folds: int, rng: np.random.Generator
) -> Ints:
    """Assign tests and items evenly to folds, at random; groups stay together.

    An edited output and the output itself are one group: a model that had seen one
    would recognize the other.
    """
    names, index = np.unique(groups, return_inverse=True)
    n_tests = np.bincount(index, weights=labels, minlength=len(names))
    order = rng.permutation(len(names))
    order = order[np.argsort(-n_tests[order], kind="stable")]
    of_group = np.empty(len(names), dtype=np.int64)
    of_group[order] = np.arange(len(names)) % n_folds
    return of_group[index]


def held_out_scores(
    design: Floats, ridge: Floats, labels: NDArray[np.bool_], folds: Ints
) -> Floats:
    """Score each item by a model that was fitted on the other folds.

    Many labelings can be scored at once: the curvature is bounded by one that does not
    depend on them (Böhning and Lindsay 1988), and is solved once for each fold.

    Parameters
    ----------
    design, ridge : ndarray
        From `quadratic`.
    labels : ndarray of bool
        A row for each item, a column for each labeling.

    Returns
    -------
    ndarray
        Log-odds, of the shape of `labels`; centered within each fold, whose models
        differ.
    """
    from scipy.linalg import cho_factor, cho_solve
    from scipy.special import expit

    wide = np.hstack([np.ones((len(design), 1)), design])
    held = np.concatenate([[1e-6], ridge])
    scores = np.zeros(labels.shape)
    for fold in np.unique(folds):
        out = folds == fold
        x, y = wide[~out], labels[~out].astype(np.float64)
        solve = cho_solve(cho_factor(x.T @ x / 4 + np.diag(held)), x.T)
        beta = np.zeros((x.shape[1], y.shape[1]))
        share = y.mean(axis=0).clip(1e-3, 1 - 1e-3)
        beta[0] = np.log(share / (1 - share))
        for _ in range(N_STEPS):
            # The bound's step, in which the ridge cancels out.
            odds = x @ beta
            step = solve @ (y - expit(odds) + odds / 4) - beta
            beta += step
            if np.abs(step).max() < 1e-4:
                break
        predicted = wide[out] @ beta
        scores[out] = predicted - predicted.mean(axis=0)
    return scores
