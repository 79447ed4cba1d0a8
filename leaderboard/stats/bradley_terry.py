"""Bradley-Terry: strengths of systems from preferences, with ties."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from genie.lib.errors import GenieError
from genie.lib.interval import Interval
from leaderboard.stats.comparisons import Comparisons, Ints
from leaderboard.stats.intervals import Floats, check_confidence

_MAX_STEPS = 200
_TOLERANCE = 1e-10


@dataclass(frozen=True)
class BradleyTerry:
    """Fitted strengths.

    Parameters
    ----------
    strengths : ndarray, shape (s,)
        Log-strengths with sum 0: a difference d gives odds exp(d) of being preferred
        among comparisons without a tie.
    covariance : ndarray, shape (s, s)
        Of the strengths, from the observed information or between workers.
    tie : float
        Davidson's nu, >= 0: equals tie with probability nu / (2 + nu); 0 without ties.
    log_likelihood : float
        At the maximum, natural logarithm; without the penalty.
    freedom : float
        Degrees of freedom of the covariance; infinite from the information.
    """

    strengths: Floats
    covariance: Floats
    tie: float
    log_likelihood: float
    freedom: float = np.inf
    covers: str = "which comparisons were made, each independent of the others"

    def interval(self, i: int, *, confidence: float = 0.95) -> Interval:
        """Return the interval of a strength, against the average of all systems."""
        variance = float(self.covariance[i, i])
        return self._wald(float(self.strengths[i]), variance, confidence)

    def difference(self, i: int, j: int, *, confidence: float = 0.95) -> Interval:
        """Return the interval of the log-odds that i is preferred to j."""
        c = self.covariance
        return self._wald(
            float(self.strengths[i] - self.strengths[j]),
            float(c[i, i] + c[j, j] - 2 * c[i, j]),
            confidence,
        )

    def probabilities(self, i: int, j: int) -> tuple[float, float, float]:
        """Return the probabilities that i is preferred, that they tie, that j is."""
        half = float(self.strengths[i] - self.strengths[j]) / 2
        over, under = np.exp(half), np.exp(-half)
        total = over + under + self.tie
        return float(over / total), float(self.tie / total), float(under / total)

    def _wald(self, estimate: float, variance: float, confidence: float) -> Interval:
        from scipy import stats

        check_confidence(confidence)
        quantile = float(stats.t.ppf((1 + confidence) / 2, self.freedom))
        reach = quantile * max(variance, 0.0) ** 0.5
        return Interval(estimate, estimate - reach, estimate + reach)


def unconnected_groups(wins: npt.ArrayLike, ties: npt.ArrayLike) -> list[list[int]]:
    """Return the groups of systems that comparisons cannot place on one scale.

    Parameters
    ----------
    wins, ties : array_like, shape (s, s)
        As in `bradley_terry`.

    Returns
    -------
    list of list of int
        One group if every system is linked to every other by a chain of wins or ties
        in both directions; otherwise the largest such groups.

    References
    ----------
    Ford (1957), Solution of a Ranking Problem from Binary Comparisons, American
    Mathematical Monthly 64(8), section 1.
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
        log-likelihood. Above 0 it makes strengths finite for any comparisons.

    Raises
    ------
    GenieError
        "not-connected" if, without a penalty, some group of systems never lost to
        (or never met) the rest, so that its strength has no maximum; the groups are in
        the details. "only-ties" if there are only ties.

    Notes
    -----
    P(i over j) = sqrt(p_i / p_j) / (sqrt(p_i / p_j) + sqrt(p_j / p_i) + nu); the
    log-likelihood is concave in (log p, log nu) and climbed by Newton's method.
    Comparisons of one worker or one page are taken as independent; if they are not,
    the intervals are too narrow: see `bradley_terry_by_worker`.

    References
    ----------
    Bradley and Terry (1952), Biometrika 39; Davidson (1970), On Extending the
    Bradley-Terry Model to Accommodate Ties, JASA 65, section 2.
    """
    won, tied = _check_counts(wins, ties, penalty)
    n = int(won.sum() + tied.sum() / 2)
    if len(won) == 1:
        return BradleyTerry(np.zeros(1), np.zeros((1, 1)), 0.0, 0.0)
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
            "There are only ties, so the systems cannot be told apart.",
            code="only-ties",
        )
    return _climb(won, tied, penalty, n)


def bradley_terry_by_worker(
    games: Comparisons,
    workers: npt.ArrayLike,
    *,
    ties: Literal["own", "half"] = "own",
    penalty: float = 0.0,
) -> BradleyTerry:
    """Fit strengths with intervals that cover other raters.

    Parameters
    ----------
    workers : array_like, shape (m,)
        The worker of each comparison, or another cluster such as the page.
    ties : {"own", "half"}
        A separate probability (Davidson), or half a win for either side.

    Returns
    -------
    BradleyTerry
        The same strengths; the covariance is the sandwich of workers' scores, times W /
        (W - 1) for W of them. Degrees of freedom are the effective number of workers
        minus one.

    Raises
    ------
    GenieError
        As `bradley_terry`; also "one-worker" if only one made comparisons.

    References
    ----------
    Liang and Zeger (1986), Biometrika 73, section 2; Cattelan (2012), Models for Paired
    Comparison Data, Statistical Science 27(3), section 3 (dependent comparisons).
    """
    labels = np.asarray(workers)
    if labels.shape != games.first.shape:
        raise ValueError("Every comparison needs the worker who made it.")
    if ties not in ("own", "half"):
        raise ValueError(f'Ties count as "own" or "half", not as {ties!r}.')
    won, tied = games.wins.astype(np.float64), games.ties.astype(np.float64)
    if ties == "half":
        won, tied = won + tied / 2, np.zeros_like(tied)
    fit = bradley_terry(won, tied, penalty=penalty)
    _, worker = np.unique(labels, return_inverse=True)
    counts = np.bincount(worker).astype(np.float64)
    if len(counts) < 2:
        raise GenieError(
            "Only one worker compared these systems, so there is no interval for "
            "other workers.",
            code="one-worker",
        )
    scores = _scores_by_worker(fit, games, worker, len(counts), penalty)
    theta = np.append(fit.strengths, np.log(fit.tie) if fit.tie else 0.0)
    information = _derivatives(theta, won, tied, penalty, bool(tied.any()))[2]
    # strengths are relative to their mean, and so must be their covariance
    moved = np.linalg.solve(information, scores.T)[:-1]
    moved -= moved.mean(axis=0)
    factor = len(counts) / (len(counts) - 1)
    effective = counts.sum() ** 2 / (counts**2).sum()
    return replace(
        fit,
        covariance=moved @ moved.T * factor,
        freedom=max(float(effective) - 1, 1.0),
        covers="which workers rated the outputs, and which outputs they compared",
    )


def _scores_by_worker(
    fit: BradleyTerry, games: Comparisons, worker: Ints, n_workers: int, penalty: float
) -> Floats:
    half = (fit.strengths[games.first] - fit.strengths[games.second]) / 2
    over, under = np.exp(half), np.exp(-half)
    total = over + under + fit.tie
    lean = (games.outcome - (over - under) / total) / 2
    scores = np.zeros((n_workers, len(fit.strengths) + 1))
    np.add.at(scores, (worker, games.first), lean)
    np.add.at(scores, (worker, games.second), -lean)
    if fit.tie:
        surprise = (games.outcome == 0) - fit.tie / total
        scores[:, -1] = np.bincount(worker, surprise, n_workers)
    # the penalty is shared equally; without it scores do not add up to 0
    scores[:, :-1] -= 2 * penalty * fit.strengths / n_workers
    # an order independent of workers' names, which keeps the last digit of sums
    return np.asarray(scores[np.lexsort(scores.T)], dtype=np.float64)


def _check_counts(
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
        # if all strengths are equal, ties have probability nu / (2 + nu): solved for
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
    # strengths are relative to their mean, and so must be their covariance
    centring = np.eye(n_systems) - 1 / n_systems
    return BradleyTerry(
        theta[:-1] - theta[:-1].mean(),
        centring @ covariance @ centring,
        float(np.exp(theta[-1])) if with_ties else 0.0,
        value + penalty * float(theta[:-1] @ theta[:-1]),
    )


def _derivatives(
    theta: Floats, won: Floats, tied: Floats, penalty: float, with_ties: bool
) -> tuple[float, Floats, Floats]:
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
    # strengths are identified up to a constant; this keeps their sum
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
