"""Systems rated by separate crowds: a random effect of campaigns, found from anchors.

Anchors are outputs of one system that several campaigns rated. The more crowds seem to
differ, the more anchors count.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from leaderboard.stats.intervals import Floats
from leaderboard.stats.systems.table import Codes

# Median of the half-Cauchy prior of the campaigns' standard deviation, and the sizes
# that are tried, as shares of the standard deviation of ratings.
_PRIOR = 1 / 5
_SIZES = np.concatenate([[0.0], np.geomspace(0.02, 3.0, 24)])


# A cell is a rated pair of a system and a campaign: the systems, the campaigns, and for
# each system the cell with most of its ratings; the others are anchors.
Cells = tuple[Codes, Codes, Codes]


def rated_cells(
    systems: npt.ArrayLike, campaigns: npt.ArrayLike | None
) -> tuple[npt.NDArray[Any], list[str], Cells | None]:
    """Return the cell of each rating and the systems' names; without campaigns, systems."""
    if campaigns is None:
        return np.asarray(systems), [], None
    names, system = np.unique(np.asarray(systems), return_inverse=True)
    levels, campaign = np.unique(np.asarray(campaigns), return_inverse=True)
    both = system.ravel() * len(levels) + campaign.ravel()
    pairs, cell, n = np.unique(both, return_inverse=True, return_counts=True)
    of_cell = pairs // len(levels)
    by_size = np.lexsort((-n, of_cell))
    home = by_size[np.searchsorted(of_cell, np.arange(len(names)))]
    cells = (of_cell, pairs % len(levels), home)
    return cell.ravel(), names.astype(str).tolist(), cells


# `noise` is the covariance of the cells' means if crowds are alike; ratings vary by `sd`.
# Sources: Harville (1974), Biometrika 61 (restricted likelihood); Gelman (2006), Bayesian
# Analysis 1, section 3.2 (the prior).
def join_cells(
    cells: Cells, means: Floats, noise: Floats, sd: float
) -> tuple[Floats, Floats]:
    """Return weights of cells' means for systems, and covariance because crowds differ."""
    system, campaign, home = cells
    x = np.eye(len(home))[system]
    crowds = (sd * _SIZES[:, None, None]) ** 2 * (campaign[:, None] == campaign)
    total = noise + crowds + 1e-9 * sd**2 * np.eye(len(noise))
    inverse = np.linalg.inv(total)
    information = x.T @ inverse @ x
    # generalized least squares for each size
    weights = np.linalg.solve(information, x.T @ inverse)
    rest = means - (weights @ means) @ x.T
    cost = np.einsum("gi,gij,gj->g", rest, inverse, rest)
    cost += np.linalg.slogdet(total)[1] + np.linalg.slogdet(information)[1]
    prior = np.gradient(_SIZES) / (1 + (_SIZES / _PRIOR) ** 2)
    likely = prior * np.exp((cost.min() - cost) / 2)
    likely /= likely.sum()
    mean = np.tensordot(likely, weights, 1)
    moved = (weights - mean) @ means
    inside = np.tensordot(likely, np.linalg.inv(information), 1) - mean @ noise @ mean.T
    return mean, inside + moved.T @ (likely[:, None] * moved)


def crowd_groups(
    systems: npt.ArrayLike, workers: npt.ArrayLike, campaigns: npt.ArrayLike
) -> dict[str, int]:
    """Return the group of systems, which workers or campaigns connect, of each system."""
    from scipy.sparse import csgraph, csr_matrix, hstack

    (names, system), *others = (
        np.unique(np.asarray(labels), return_inverse=True)
        for labels in (systems, workers, campaigns)
    )
    ones = np.ones(system.size)
    rated = hstack(
        [csr_matrix((ones, (system.ravel(), of.ravel()))) for _, of in others]
    )
    _, groups = csgraph.connected_components(rated @ rated.T, directed=False)
    return dict(zip(map(str, names), groups.tolist(), strict=True))
