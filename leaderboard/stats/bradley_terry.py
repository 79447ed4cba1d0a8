"""Bradley-Terry: strengths of systems from who was preferred to whom, with ties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from genie.lib.errors import GenieError
from leaderboard.stats.bounds import normal_quantile
from leaderboard.stats.intervals import Interval
from leaderboard.stats.resampling import Floats

_MAX_STEPS = 200
_TOLERANCE = 1e-10
_COVERS = "which comparisons happened to be made, each independent of the others"


@dataclass(frozen=True)
class BradleyTerry:
    """Fitted strengths.

    Parameters
    ----------
    strengths : ndarray, shape (s,)
        Log-strengths with sum 0: a difference d gives odds exp(d) of being preferred
        among comparisons without a tie.
    covariance : ndarray, shape (s, s)
        Of the strengths, from the observed information.
    tie : float
        Davidson's nu, >= 0: equals tie with probability nu / (2 + nu); 0 without ties.
    log_likelihood : float
        At the maximum, natural logarithm; without the penalty.
    n_comparisons : int
        How many comparisons went in.
    """

    strengths: Floats
    covariance: Floats
    tie: float
    log_likelihood: float
    n_comparisons: int

    def interval(self, i: int, *, confidence: float = 0.95) -> Interval:
        """Give the interval of a strength, against the average of all systems."""
        variance = float(self.covariance[i, i])
        return self._wald(float(self.strengths[i]), variance, confidence)

    def difference(self, i: int, j: int, *, confidence: float = 0.95) -> Interval:
        """Give the interval of the log-odds that i is preferred to j."""
        c = self.covariance
        return self._wald(
            float(self.strengths[i] - self.strengths[j]),
            float(c[i, i] + c[j, j] - 2 * c[i, j]),
            confidence,
        )

    def probabilities(self, i: int, j: int) -> tuple[float, float, float]:
        """Give the probabilities that i is preferred, that they tie, that j is."""
        half = float(self.strengths[i] - self.strengths[j]) / 2
        over, under = np.exp(half), np.exp(-half)
        total = over + under + self.tie
        return float(over / total), float(self.tie / total), float(under / total)

    def _wald(self, estimate: float, variance: float, confidence: float) -> Interval:
        reach = normal_quantile(confidence) * max(variance, 0.0) ** 0.5
        return Interval(
            estimate,
            estimate - reach,
            estimate + reach,
            confidence,
            "Wald",
            _COVERS,
            self.n_comparisons,
        )


def unconnected_groups(wins: npt.ArrayLike, ties: npt.ArrayLike) -> list[list[int]]:
    """Find the groups of systems that comparisons cannot place on one scale.

    Parameters
    ----------
    wins, ties : array_like, shape (s, s)
        As in `bradley_terry`.

    Returns
    -------
    list of list of int
        One group when every system is linked to every other by a chain of wins or ties
        in both directions; otherwise the largest such groups.

    References
    ----------
    Ford (1957), Solution of a Ranking Problem from Binary Comparisons, American
    Mathematical Monthly 64(8), section 1.

    Examples
    --------
    >>> unconnected_groups([[0, 3, 1], [1, 0, 2], [0, 0, 0]], [[0] * 3] * 3)
    [[0, 1], [2]]
    """
    from scipy.sparse import csgraph

    links = np.asarray(wins) + np.asarray(ties) > 0
    _, labels = csgraph.connected_components(links, directed=True, connection="strong")
    groups = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
    return sorted(groups)


def bradley_terry(
    wins: npt.ArrayLike, ties: npt.ArrayLike | None = None, *, penalty: float = 0.0
) -> BradleyTerry:
    """Fit strengths by maximum likelihood, ties after Davidson.

    Parameters
    ----------
    wins : array_like, shape (s, s)
        Entry i, j: how often system i was preferred to j; the diagonal is 0.
    ties : array_like, shape (s, s), optional
        Entry i, j: how often i and j tied; symmetric.
    penalty : float
        Ridge: penalty times the sum of squared strengths is taken from the
        log-likelihood. Above 0 it gives finite strengths whatever the comparisons.

    Returns
    -------
    BradleyTerry

    Raises
    ------
    GenieError
        "not-connected" when, without a penalty, some group of systems never lost to
        (or never met) the rest, so that its strength has no maximum; the groups are in
        the details. "only-ties" when nothing but ties was seen.
    ValueError
        When the counts are none.

    Notes
    -----
    P(i over j) = sqrt(p_i / p_j) / (sqrt(p_i / p_j) + sqrt(p_j / p_i) + nu); the
    log-likelihood is concave in (log p, log nu) and climbed by Newton's method.
    Comparisons of one worker or one instance are taken as independent; where they are
    not, the intervals are too narrow and instances should be resampled instead.

    References
    ----------
    Bradley and Terry (1952), Biometrika 39; Davidson (1970), On Extending the
    Bradley-Terry Model to Accommodate Ties, JASA 65, section 2.

    Examples
    --------
    >>> fit = bradley_terry([[0, 30], [10, 0]], [[0, 20], [20, 0]])
    >>> [round(p, 6) for p in fit.probabilities(0, 1)]
    [0.5, 0.333333, 0.166667]
    >>> bradley_terry([[0, 5], [0, 0]])
    Traceback (most recent call last):
        ...
    genie.lib.errors.GenieError: These systems cannot be placed on one scale: ...
    """
    won, tied = _checked(wins, ties, penalty)
    n = int(won.sum() + tied.sum() / 2)
    n_systems = len(won)
    if n_systems == 1:
        return BradleyTerry(np.zeros(1), np.zeros((1, 1)), 0.0, 0.0, 0)
    groups = unconnected_groups(won, tied)
    if penalty == 0 and len(groups) > 1:
        raise GenieError(
            "These systems cannot be placed on one scale: no chain of "
            f"comparisons connects, in both directions, the groups {groups}. "
            "Compare them more, or give a penalty.",
            code="not-connected",
            details={"groups": groups},
        )
    if won.sum() == 0 and tied.sum() > 0:
        raise GenieError(
            "Only ties were seen: the systems are equal as far as anyone can tell.",
            code="only-ties",
        )
    return _climb(won, tied, penalty, n)


def _checked(
    wins: npt.ArrayLike, ties: npt.ArrayLike | None, penalty: float
) -> tuple[Floats, Floats]:
    won = np.asarray(wins, dtype=np.float64)
    tied = np.zeros_like(won) if ties is None else np.asarray(ties, dtype=np.float64)
    if won.ndim != 2 or won.shape[0] != won.shape[1] or won.size == 0:
        raise ValueError("The wins must be a square table, one row per system.")
    if tied.shape != won.shape or not np.array_equal(tied, tied.T):
        raise ValueError("The ties must be a symmetric table like the wins.")
    for counts in (won, tied):
        if not np.isfinite(counts).all() or (counts < 0).any():
            raise ValueError("Counts of wins and ties must be numbers from 0 up.")
        if np.diag(counts).any():
            raise ValueError("A system cannot be compared with itself.")
    if not penalty >= 0:
        raise ValueError(f"The penalty must not be negative; {penalty} was given.")
    return won, tied


def _climb(won: Floats, tied: Floats, penalty: float, n: int) -> BradleyTerry:
    n_systems = len(won)
    with_ties = bool(tied.any())
    theta = np.zeros(n_systems + 1)  # strengths, then log nu
    if with_ties:
        share = tied.sum() / 2 / n
        # where all strengths are equal, ties have probability nu / (2 + nu): solved for
        # the observed share
        theta[-1] = np.log(2 * share / (1 - share))
    value, gradient, information = _derivatives(theta, won, tied, penalty, with_ties)
    for _ in range(_MAX_STEPS):
        step = np.linalg.solve(information, gradient)
        if np.abs(step).max() < _TOLERANCE:
            break
        # a full Newton step may overshoot far from the maximum: halved until it climbs
        length = 1.0
        while True:
            moved = theta + length * step
            new = _derivatives(moved, won, tied, penalty, with_ties)
            if new[0] >= value - 1e-12 * abs(value) or length < 1e-8:
                break
            length /= 2
        theta = moved
        value, gradient, information = new
    else:
        raise GenieError(
            "The estimation of the strengths did not converge.", code="no-fit"
        )
    covariance = np.linalg.inv(information)[:-1, :-1]
    # strengths are about their own mean, and so must be their covariance
    centring = np.eye(n_systems) - 1 / n_systems
    strengths = theta[:-1] - theta[:-1].mean()
    return BradleyTerry(
        strengths,
        centring @ covariance @ centring,
        float(np.exp(theta[-1])) if with_ties else 0.0,
        value + penalty * float(theta[:-1] @ theta[:-1]),
        n,
    )


def _derivatives(
    theta: Floats, won: Floats, tied: Floats, penalty: float, with_ties: bool
) -> tuple[float, Floats, Floats]:
    """Give log-likelihood, gradient and negated Hessian, the null direction filled."""
    strengths, log_nu = theta[:-1], theta[-1]
    half = (strengths[:, None] - strengths[None, :]) / 2
    terms = np.stack(
        [half, -half, np.full_like(half, log_nu if with_ties else -np.inf)]
    )
    # log-sum-exp: large strengths would overflow otherwise
    peak = terms.max(axis=0)
    log_total = peak + np.log(np.exp(terms - peak).sum(axis=0))
    p_over, p_under, p_tie = np.exp(terms - log_total)
    met = won + won.T + tied
    value = float(np.sum(won * half) - np.sum(np.triu(met * log_total, 1)))
    value += float(np.sum(np.triu(tied, 1)) * log_nu) if with_ties else 0.0
    value -= penalty * float(strengths @ strengths)
    lean = p_over - p_under
    curvature = met * (p_over + p_under - lean**2) / 4
    n_systems = len(strengths)
    information = np.zeros((n_systems + 1, n_systems + 1))
    information[:-1, :-1] = np.diag(curvature.sum(axis=1)) - curvature
    # strengths are known up to a constant; this keeps their sum where it is
    information[:-1, :-1] += 1.0 / n_systems + 2 * penalty * np.eye(n_systems)
    gradient = np.zeros(n_systems + 1)
    gradient[:-1] = ((won - won.T) - met * lean).sum(axis=1) / 2
    gradient[:-1] -= 2 * penalty * strengths
    information[-1, -1] = 1.0
    if with_ties:
        gradient[-1] = np.sum(np.triu(tied - met * p_tie, 1))
        information[-1, -1] = np.sum(np.triu(met * p_tie * (1 - p_tie), 1))
        cross = -(met * lean * p_tie).sum(axis=1) / 2
        information[:-1, -1] = information[-1, :-1] = cross
    return value, gradient, information
