"""Bradley-Terry: strengths of systems from preferences, with ties."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from genie.lib.errors import GenieError
from genie.lib.interval import Interval
from leaderboard.stats.comparisons import Comparisons, Ints
from leaderboard.stats.intervals import Floats

_MAX_STEPS = 200
_TOLERANCE = 1e-5


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


def _is_connected(links: npt.NDArray[np.bool_]) -> bool:
    """Check whether the first system is linked to every other in both directions."""
    for table in (links, links.T):
        reached = np.arange(len(links)) == 0
        while (more := reached | table[reached].any(axis=0)).sum() > reached.sum():
            reached = more
        if not reached.all():
            return False
    return True


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
    won = np.asarray(wins, dtype=np.float64)
    tied = np.zeros_like(won) if ties is None else np.asarray(ties, dtype=np.float64)
    n = int(won.sum() + tied.sum() / 2)
    if len(won) == 1:
        return BradleyTerry(np.zeros(1), np.zeros((1, 1)), 0.0, 0.0)
    if penalty == 0 and not _is_connected(won + tied > 0):
        groups = unconnected_groups(won, tied)
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
    information = _Pairs(won, tied, penalty).derivatives(theta)[2]
    # strengths are relative to their mean, and so must be their covariance
    moved = _solve(information, scores.T)[:-1]
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
    shape = n_workers, len(fit.strengths) + 1
    cells = [worker * shape[1] + system for system in (games.first, games.second)]
    leans = np.concatenate([lean, -lean])
    sums = np.bincount(np.concatenate(cells), leans, shape[0] * shape[1])
    scores: Floats = sums.reshape(shape).astype(np.float64)
    if fit.tie:
        surprise = (games.outcome == 0) - fit.tie / total
        scores[:, -1] = np.bincount(worker, surprise, n_workers)
    # the penalty is shared equally; without it scores do not add up to 0
    scores[:, :-1] -= 2 * penalty * fit.strengths / n_workers
    # an order independent of workers' names, which keeps the last digit of sums
    return np.asarray(scores[np.lexsort(scores.T)], dtype=np.float64)


def _climb(won: Floats, tied: Floats, penalty: float, n: int) -> BradleyTerry:
    n_systems = len(won)
    pairs = _Pairs(won, tied, penalty)
    theta = np.zeros(n_systems + 1)  # strengths, then log nu
    # near the maximum if all met equally often
    half_tied = tied.sum(axis=1) / 2 + 0.5
    points, conceded = won.sum(axis=1) + half_tied, won.sum(axis=0) + half_tied
    theta[:-1] = np.log(points / conceded)
    theta[:-1] -= theta[:-1].mean()
    if pairs.with_ties:
        share = tied.sum() / 2 / n
        # if all strengths are equal, ties have probability nu / (2 + nu): solved for
        # the observed share
        theta[-1] = np.log(2 * share / (1 - share))
    value, gradient, information = pairs.derivatives(theta)
    for _ in range(_MAX_STEPS):
        step = _solve(information, gradient)
        largest = np.abs(step).max()
        # a full Newton step may overshoot far from the maximum: halved until it climbs
        length = 1.0
        while True:
            moved = theta + length * step
            new = pairs.derivatives(moved)
            if new[0] >= value - 1e-12 * abs(value) or length < 1e-8:
                break
            length /= 2
        theta = moved
        value, gradient, information = new
        # the error is of the order of its square
        if largest < _TOLERANCE:
            break
    else:
        raise _no_fit()
    covariance = _inverse(information)[:-1, :-1]
    # strengths are relative to their mean, and so must be their covariance
    covariance -= (middle := covariance.mean(axis=0)) - middle.mean() / 2
    return BradleyTerry(
        theta[:-1] - theta[:-1].mean(),
        covariance - (middle - middle.mean() / 2)[:, None],
        float(np.exp(theta[-1])) if pairs.with_ties else 0.0,
        value + penalty * float(theta[:-1] @ theta[:-1]),
    )


def _no_fit() -> GenieError:
    return GenieError(
        "The estimation of the strengths did not converge.", code="no-fit"
    )


def _solve(information: Floats, right: Floats) -> Floats:
    from scipy.linalg import lapack

    _, found, failed = lapack.dposv(information, right, lower=1)
    if failed:  # singular to the last digit
        try:
            found = np.linalg.solve(_mirror(information), right)
        except np.linalg.LinAlgError as error:
            # ties alone cannot bound strengths that grow together with their share
            raise _no_fit() from error
    return np.asarray(found)


def _inverse(information: Floats) -> Floats:
    from scipy.linalg import lapack

    factor, failed = lapack.dpotrf(information, lower=1)
    if failed:
        try:
            return np.asarray(np.linalg.inv(_mirror(information)))
        except np.linalg.LinAlgError as error:
            raise _no_fit() from error
    below = lapack.dpotri(factor, lower=1)[0]
    inverse = below + below.T
    np.einsum("ii->i", inverse)[:] /= 2
    return np.asarray(inverse)


def _mirror(table: Floats) -> Floats:
    below = np.tril(table)
    return np.asarray(below + np.tril(table, -1).T)


class _Pairs:
    """The log-likelihood of the pairs of systems that met."""

    def __init__(self, won: Floats, tied: Floats, penalty: float) -> None:
        self.n_systems, self.penalty = len(won), penalty
        self.with_ties = bool(tied.any())
        lost = won.T
        met = (won + lost + tied).ravel()
        cell = np.flatnonzero(np.triu(met.reshape(won.shape), 1))
        self.first, self.second = np.divmod(cell, len(won))
        self.met, self.tied = met[cell], tied.ravel()[cell]
        self.won_more = won.ravel()[cell] - lost[self.first, self.second]
        # strengths are identified up to a constant; this keeps their sum
        self.start = np.full((len(won) + 1, len(won) + 1), 1.0 / len(won))
        self.start[:, -1] = self.start[-1] = 0.0
        self.cell = cell + self.first

    def derivatives(self, theta: Floats) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood, its gradient, and the information's lower half."""
        strengths, log_nu = theta[:-1], theta[-1]
        half = (strengths[self.first] - strengths[self.second]) / 2
        # relative to the larger one, which would overflow
        size = np.abs(half)
        under = np.exp(-size)
        lower = under * under
        tie = np.exp(min(log_nu, 700.0)) * under if self.with_ties else 0.0
        total = 1 + lower + tie
        value = float(self.won_more @ half - self.met @ (size + np.log(total)))
        value -= self.penalty * float(strengths @ strengths)
        lean = np.copysign((1 - lower) / total, half)
        curvature = self.met * ((1 + lower) / total - lean * lean) / 4
        n = self.n_systems
        upper = self.start.copy()
        upper.ravel()[self.cell] -= curvature
        diagonal = np.einsum("ii->i", upper)
        # by system: each row of `start` adds up to 1
        square = upper[:-1, :-1]
        shared = 2 - square.sum(axis=0) - square.sum(axis=1)
        diagonal[:-1] += shared + 2 * self.penalty
        gradient = np.zeros(n + 1)
        push = (self.won_more - self.met * lean) / 2
        gradient[:-1] = self._balance(push) - 2 * self.penalty * strengths
        diagonal[-1] = 1.0
        if self.with_ties:
            p_tie = tie / total
            value += float(self.tied.sum() * log_nu)
            gradient[-1] = np.sum(self.tied - self.met * p_tie)
            diagonal[-1] = np.sum(self.met * p_tie * (1 - p_tie))
            cross = -self.met * lean * p_tie / 2
            upper[:-1, -1] = self._balance(cross)
        return value, gradient, upper.T

    def _balance(self, pushes: Floats) -> Floats:
        """Add up by system what the first of each pair gets and the second loses."""
        sums = np.bincount(self.first, pushes, self.n_systems)
        sums -= np.bincount(self.second, pushes, self.n_systems)
        return np.asarray(sums, dtype=np.float64)
