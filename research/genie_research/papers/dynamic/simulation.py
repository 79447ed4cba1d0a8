"""The agent-based simulation of *Dynamic Human Evaluation*.

A worker of capability c prefers A on a request of difficulty d with chance (1 + c d) /
2: d = 1 is a request where A is plainly better, d = 0 one without a visible difference,
d = -1 one where B is plainly better. Given the requests and the pool of workers, the
chance of every strategy's final label is a polynomial in d whose coefficients are
averages of products of capabilities. So no worker needs to be drawn: each final label
is one comparison of a uniform number with an exact chance, and all runs are rows of one
table.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from genie_research.papers.dynamic.labels import LabelSeries, Strategy, draw_series
from leaderboard.stats.stopping.rules import Floats


def draw_difficulties(
    n: int, mean: float, variance: float, rng: np.random.Generator
) -> Floats:
    """Draw requests: a normal difficulty, clipped to [-1, 1], shape (n,).

    The 0.1 in the paper's N(mu, 0.1) is the variance: its tables are reproduced with .1
    as the variance, not as the deviation.
    """
    return np.asarray(np.clip(mean + np.sqrt(variance) * rng.standard_normal(n), -1, 1))


def capability_products(capabilities: Floats, n: int, *, distinct: bool) -> Floats:
    """Return the mean product of the capabilities of m workers, m = 0, 1, ..., n.

    Parameters
    ----------
    capabilities : ndarray, shape (..., workers)
        One or many pools of workers.
    distinct : bool
        Whether the m workers are different people.

    Returns
    -------
    ndarray, shape (n + 1, ...)
        Elementary symmetric polynomials over their number of terms if distinct,
        powers of the mean otherwise.
    """
    from scipy import special

    workers = capabilities.shape[-1]
    if workers < (n if distinct else 1):
        raise ValueError(f"{n} different workers cannot be drawn from {workers}.")
    if not distinct:
        mean = capabilities.mean(axis=-1)
        return np.array([mean**m for m in range(n + 1)])
    sums = np.zeros((n + 1, *capabilities.shape[:-1]))
    sums[0] = 1
    for w in range(workers):
        # products of m workers with, and without, worker w
        sums[1:] += sums[:-1] * capabilities[..., w]
    terms = special.binom(workers, np.arange(n + 1))
    return np.asarray(sums / terms.reshape(-1, *[1] * (sums.ndim - 1)))


def _vote_chances(products: Floats, powers: Floats) -> Floats:
    # products[m]: mean product of m capabilities; powers[m]: d^m, or its mean
    from scipy import special

    n = len(products) - 1
    chances = []
    for k in range(n + 1):
        # coefficients of (1 + z)^k (1 - z)^(n - k): signs of m of the n votes together
        signs = np.array([1.0])
        for factor in [1.0] * k + [-1.0] * (n - k):
            signs = np.convolve(signs, [1.0, factor])
        terms = [signs[m] * products[m] * powers[m] for m in range(n + 1)]
        chances.append(special.binom(n, k) * sum(terms) / 2**n)
    # with complete agreement, rounding leaves -1e-17 instead of 0
    return np.asarray(np.clip(np.array(chances), 0, 1))


@dataclass(frozen=True)
class SimulatedVotes:
    """Given requests, labeled by workers drawn from a given pool.

    Parameters
    ----------
    capabilities : array_like, shape (workers,)
        The pool, each between 0 and 1.
    difficulties : array_like, shape (requests,)
        The requests, each between -1 and 1.
    """

    capabilities: npt.ArrayLike
    difficulties: npt.ArrayLike

    def votes(self, n: int, *, distinct: bool = True) -> Floats:
        """Return the chance of k labels for A among n workers: (n + 1, requests)."""
        c, d = np.asarray(self.capabilities), np.asarray(self.difficulties)
        products = capability_products(c, n, distinct=distinct)
        return _vote_chances(products, np.array([d**m for m in range(n + 1)]))


@dataclass(frozen=True)
class FixedWorker:
    """One worker per run, drawn from a pool, labels all requests."""

    capabilities: npt.ArrayLike
    difficulties: npt.ArrayLike

    name = "Fixed Worker"

    @property
    def n_requests(self) -> int:
        return len(np.asarray(self.difficulties))

    def draw(self, runs: int, rng: np.random.Generator) -> LabelSeries:
        pool = np.asarray(self.capabilities, dtype=np.float32)
        requests = np.asarray(self.difficulties, dtype=np.float32)
        chosen = pool[rng.integers(0, len(pool), size=runs)]
        limit = chosen[:, None] * (requests[None, :] / 2)
        uniforms = rng.random(limit.shape, dtype=np.float32)
        uniforms -= np.float32(0.5)
        return LabelSeries(uniforms < limit, 1)


@dataclass(frozen=True)
class Population:
    """The distribution of requests and workers.

    Parameters
    ----------
    mean, variance : float
        Of the difficulty before it is clipped to [-1, 1].
    n_requests : int
        Requests in a run, at least 1.
    n_workers : int, optional
        Workers in the pool, at least 1.
    least, most : float, optional
        Capabilities are uniform between these, 0 <= least <= most <= 1.
    """

    mean: float
    variance: float
    n_requests: int
    n_workers: int = 100
    least: float = 0.8
    most: float = 1.0

    def draw_workers(self, rng: np.random.Generator, pools: int = 1) -> Floats:
        """Draw pools of workers: shape (pools, n_workers)."""
        return rng.uniform(self.least, self.most, size=(pools, self.n_workers))

    def difficulty_powers(self, n: int) -> Floats:
        """Return the mean of d^m over requests, m = 0, 1, ..., n, by quadrature."""
        from scipy import special

        if self.variance == 0:
            return np.asarray(np.clip(self.mean, -1, 1) ** np.arange(n + 1))
        sd = np.sqrt(self.variance)
        z_low, z_high = (-1 - self.mean) / sd, (1 - self.mean) / sd
        # the bounded normal has a smooth part and two point masses: only the first is
        # integrated
        nodes, weights = np.polynomial.legendre.leggauss(200)
        # beyond 9 deviations from the mean the density is negligible
        a, b = max(z_low, -9.0), min(z_high, 9.0)
        z = (b - a) / 2 * nodes + (a + b) / 2
        density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * weights * (b - a) / 2
        inside = [float(density @ (self.mean + sd * z) ** m) for m in range(n + 1)]
        at_low, at_high = special.ndtr(z_low), special.ndtr(-z_high)
        return np.array(
            [x + at_high + (-1) ** m * at_low for m, x in enumerate(inside)]
        )

    @property
    def p_one_worker(self) -> float:
        """Return the chance that a random worker prefers A on a random request."""
        capability = (self.least + self.most) / 2
        return float((1 + capability * self.difficulty_powers(1)[1]) / 2)


@dataclass(frozen=True)
class _PoolVotes:
    # many pools at once, on the axis of SimulatedVotes' requests
    pools: Floats
    population: Population

    def votes(self, n: int, *, distinct: bool = True) -> Floats:
        products = capability_products(self.pools, n, distinct=distinct)
        return _vote_chances(products, self.population.difficulty_powers(n))


@dataclass(frozen=True)
class FreshRequests:
    """New requests in every run, and new workers too unless a pool is given.

    Parameters
    ----------
    strategy : Strategy or None
        How requests are labeled; None for one fixed worker per run.
    pool : array_like, shape (workers,), optional
        Capabilities of the workers of all runs.

    Notes
    -----
    As no request is used twice, its difficulty can be averaged over: within a run all
    final labels have the same chance, which depends on the workers only.
    """

    population: Population
    strategy: Strategy | None = None
    pool: npt.ArrayLike | None = None

    @property
    def n_requests(self) -> int:
        return self.population.n_requests

    def draw(self, runs: int, rng: np.random.Generator) -> LabelSeries:
        n = self.n_requests
        if self.strategy is None:
            drift = self.population.difficulty_powers(1)[1]
            chance = ((1 + self._draw_fixed(runs, rng) * drift) / 2).astype(np.float32)
            return LabelSeries(rng.random((runs, n), np.float32) < chance[:, None], 1)
        if self.pool is None:
            pools = self.population.draw_workers(rng, runs)
        else:
            pools = np.asarray(self.pool, dtype=np.float64)[None, :]
        per_run = self.strategy.outcomes(_PoolVotes(pools, self.population))
        edges = np.cumsum(per_run.chances, axis=0)[:-1, :, None]
        edges = np.broadcast_to(edges, (edges.shape[0], runs, 1))
        return draw_series(per_run, edges, (runs, n), rng)

    def _draw_fixed(self, runs: int, rng: np.random.Generator) -> Floats:
        if self.pool is None:
            return rng.uniform(self.population.least, self.population.most, runs)
        return rng.choice(np.asarray(self.pool, dtype=np.float64), runs)
