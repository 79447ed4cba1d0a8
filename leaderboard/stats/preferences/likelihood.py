"""The likelihood of Bradley-Terry with covariates: its maximum, slopes and curvature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from genie.lib.errors import GenieError
from leaderboard.stats.resampling import Floats

_MAX_STEPS = 200
_TOLERANCE = 1e-10
# A strength so large is on its way to infinity: odds of one to 10^13.
_BEYOND = 30.0


@dataclass(frozen=True)
class Design:
    """Rows of comparisons: sparse signs of the two systems, then covariates."""

    signs: npt.NDArray[np.int64]  # shape (m, 2): first, second
    extra: Floats  # shape (m, k)
    outcome: Floats
    n_systems: int
    with_ties: bool
    penalty: float

    @property
    def n_free(self) -> int:
        return self.n_systems + len(self.extra.T)

    def lean(self, theta: Floats) -> Floats:
        """Give each row's log-odds of the first over the second."""
        first, second = self.signs.T
        own = theta[first] - theta[second]
        return np.asarray(own + self.extra @ theta[self.n_systems : self.n_free])

    def summed(self, rows: Floats) -> Floats:
        """Add rows up by system and covariate: the design's transpose times rows."""
        first, second = self.signs.T
        n = self.n_systems
        own = np.bincount(first, rows, n) - np.bincount(second, rows, n)
        return np.concatenate([own, self.extra.T @ rows])

    def squared(self, weights: Floats) -> Floats:
        """Give the design's transpose times weights times the design."""
        n, k = self.n_systems, self.extra.shape[1]
        first, second = self.signs.T
        met = np.bincount(first * n + second, weights, n * n).reshape(n, n)
        met += met.T
        whole = np.zeros((n + k, n + k))
        whole[:n, :n] = np.diag(met.sum(axis=1)) - met
        weighed = self.extra * weights[:, None]
        whole[n:, n:] = self.extra.T @ weighed
        for j in range(k):
            column = np.bincount(first, weighed[:, j], n)
            column -= np.bincount(second, weighed[:, j], n)
            whole[:n, n + j] = whole[n + j, :n] = column
        return whole


def climb(design: Design) -> tuple[Floats, float, Floats]:
    """Give parameters, log-likelihood and negated Hessian at the maximum.

    Parameters
    ----------
    design : Design

    Returns
    -------
    tuple of ndarray, float, ndarray
        Strengths, effects and log nu, shape (s + k + 1,); log-likelihood without the
        penalty; negated Hessian with the null direction filled.

    Raises
    ------
    GenieError
        "no-fit" when some parameter has no maximum.

    Examples
    --------
    >>> won = Design(np.array([[0, 1]] * 4), np.zeros((4, 0)), np.array([1, 1, 1, -1.0]), 2,
    ...              False, 0.0)
    >>> theta, _, _ = climb(won)
    >>> round(float(np.exp(theta[0] - theta[1])), 6)
    3.0
    """
    theta = np.zeros(design.n_free + 1)  # strengths, effects, then log nu
    if design.with_ties:
        share = float((design.outcome == 0).mean())
        # where all strengths are equal, ties have probability nu / (2 + nu)
        theta[-1] = np.log(2 * share / (1 - share))
    value, gradient, information = _derivatives(theta, design)
    for _ in range(_MAX_STEPS):
        try:
            step = np.linalg.solve(information, gradient)
        except np.linalg.LinAlgError:
            break  # flat in some direction: there is no one maximum
        if np.abs(step).max() < _TOLERANCE:
            strengths = theta[: design.n_free]
            value += design.penalty * float(strengths @ strengths)
            return theta, value, information
        length = 1.0
        while True:
            moved = theta + length * step
            new = _derivatives(moved, design)
            if new[0] >= value - 1e-12 * abs(value) or length < 1e-8:
                break
            length /= 2
        theta = moved
        value, gradient, information = new
        if np.abs(theta).max() > _BEYOND:
            break
    raise GenieError(
        "The estimation of the strengths did not converge: some covariate predicts "
        "every answer.",
        code="no-fit",
    )


def _chances(theta: Floats, design: Design) -> tuple[Floats, Floats, Floats, Floats]:
    """Give each row's half log-odds, its log of the total, P(first) - P(second), P(tie)."""
    half = design.lean(theta) / 2
    level = np.full_like(half, theta[-1] if design.with_ties else -np.inf)
    terms = np.stack([half, -half, level])
    peak = terms.max(axis=0)
    log_total = peak + np.log(np.exp(terms - peak).sum(axis=0))
    over, under, tie = np.exp(terms - log_total)
    return half, log_total, over - under, tie


def _derivatives(theta: Floats, design: Design) -> tuple[float, Floats, Floats]:
    """Give log-likelihood, gradient and negated Hessian, the null direction filled."""
    half, log_total, lean, tie = _chances(theta, design)
    free, n = design.n_free, design.n_systems
    own = theta[:free]
    value = float((design.outcome * half - log_total).sum())
    value -= design.penalty * float(own @ own)
    gradient = np.zeros(free + 1)
    gradient[:-1] = (
        design.summed((design.outcome - lean) / 2) - 2 * design.penalty * own
    )
    information = np.zeros((free + 1, free + 1))
    information[:-1, :-1] = design.squared((1 - tie - lean**2) / 4)
    information[:-1, :-1] += 2 * design.penalty * np.eye(free)
    # strengths are known up to a constant; this keeps their sum where it is
    information[:n, :n] += 1.0 / n
    information[-1, -1] = 1.0
    if design.with_ties:
        level = design.outcome == 0
        value += float(level.sum() * theta[-1])
        gradient[-1] = (level - tie).sum()
        information[-1, -1] = (tie * (1 - tie)).sum()
        cross = design.summed(-lean * tie / 2)
        information[:-1, -1] = information[-1, :-1] = cross
    return value, gradient, information


def scores_by_cluster(
    design: Design, theta: Floats, clusters: npt.ArrayLike
) -> tuple[Floats, Floats]:
    """Add up each cluster's slope of the log-likelihood in all parameters.

    Parameters
    ----------
    design : Design
    theta : ndarray, shape (s + k + 1,)
        At the maximum.
    clusters : array_like, shape (m,)

    Returns
    -------
    tuple of ndarray, ndarray
        A row for each cluster, in an order that names do not change, and how many
        comparisons each has, by name.

    Raises
    ------
    GenieError
        "one-worker" when there is one cluster only.
    ValueError
        When a comparison has no cluster.

    Examples
    --------
    >>> won = Design(np.array([[0, 1]] * 4), np.zeros((4, 0)), np.array([1, 1, 1, -1.0]), 2,
    ...              False, 0.0)
    >>> scores, counts = scores_by_cluster(won, climb(won)[0], [1, 1, 2, 2])
    >>> bool(np.allclose(scores.sum(axis=0), 0)), counts.tolist()
    (True, [2.0, 2.0])
    """
    labels = np.asarray(clusters)
    if labels.shape != design.outcome.shape:
        raise ValueError("Every comparison needs the cluster that it belongs to.")
    _, cluster = np.unique(labels, return_inverse=True)
    counts = np.bincount(cluster).astype(np.float64)
    if len(counts) < 2:
        raise GenieError(
            "Only one worker compared these systems: no interval covers others.",
            code="one-worker",
        )
    _, _, lean, tie = _chances(theta, design)
    rows = (design.outcome - lean) / 2
    first, second = design.signs.T
    n, size = design.n_systems, len(counts)
    scores = np.zeros((size, design.n_free + 1))
    place = cluster * n
    own = np.bincount(place + first, rows, size * n)
    own -= np.bincount(place + second, rows, size * n)
    scores[:, :n] = own.reshape(size, n)
    for j, column in enumerate(design.extra.T):
        scores[:, n + j] = np.bincount(cluster, rows * column, size)
    if design.with_ties:
        surprise = (design.outcome == 0) - tie
        scores[:, -1] = np.bincount(cluster, surprise, size)
    # the penalty is everybody's alike: without it scores do not add up to 0
    scores[:, :-1] -= 2 * design.penalty * theta[:-1] / size
    # an order that clusters' names do not change, nor the last digit of a sum with it
    return np.asarray(scores[np.lexsort(scores.T)], dtype=np.float64), counts
