"""Linear mixed models with crossed random factors, by restricted maximum likelihood.

Just enough for ratings: a fixed mean per group (a system), and random factors such as
worker, instance and day. The largest factor is absorbed as a diagonal block, and the
crossing of factors is kept sparse, so that the cost grows with the ratings only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from leaderboard.stats.bounds import largest_sd
from leaderboard.stats.clustered import factor_codes
from leaderboard.stats.intervals import Floats, as_ratings

_MAX_RATIO = 100.0  # of a factor's standard deviation to the residual's
_BESIDE_ZERO = (0.1, 0.01, 0.001)
_NO_LESS = 1e-8  # deviances that differ by less count as equal
_MAX_PAIRS = 4_000_000  # limit of stored numbers, 16 bytes each


@dataclass(frozen=True)
class MixedFit:
    """A fitted mixed model.

    Parameters
    ----------
    means : ndarray, shape (g,)
        Estimated mean of each group, adjusted for its workers and instances.
    covariance : ndarray, shape (g, g)
        Of the means.
    variances : dict of str to float
        Variance of each factor, and "residual"; in squared units of the ratings. A
        factor that cannot be separated from the residual (one rating per level) or has
        one level only is missing.
    """

    groups: list[str]
    means: Floats
    covariance: Floats
    variances: dict[str, float]
    log_likelihood: float


@dataclass(frozen=True)
class _Problem:
    """Cross-products; the last factor is the absorbed one."""

    gram: Floats  # of fixed and random columns without the absorbed ones
    # of those columns with the absorbed ones; sparse, of a type that differs with
    # scipy's version
    crossed: Any
    # of the rows of crossed with each other, one column per absorbed level; None if
    # these would be too many
    pairs: Any
    counts: Floats  # ratings per absorbed level
    rhs: Floats
    rhs_absorbed: Floats
    total: float
    n: int
    n_groups: int
    sizes: tuple[int, ...]  # levels per factor, the absorbed one last


def fit_mixed(
    values: npt.ArrayLike,
    groups: npt.ArrayLike | None,
    factors: Mapping[str, npt.ArrayLike],
) -> MixedFit:
    """Fit group means with random factors around them.

    Parameters
    ----------
    values : array_like, shape (n,)
        Ratings, finite.
    groups : array_like, shape (n,), optional
        Group (system) of each rating; None puts all into one.
    factors : mapping of name to array_like, shape (n,)
        Label of each rating's worker, instance, ...; may be empty.

    References
    ----------
    Patterson and Thompson (1971), Biometrika 58 (REML); Henderson (1975), Biometrics 31
    (the equations for means); Searle, Casella and McCulloch (1992),
    Variance Components, section 6.6.
    """
    from scipy import linalg

    ratings = as_ratings(values)
    n = len(ratings)
    labels = np.zeros(n) if groups is None else np.asarray(groups)
    codes, _ = factor_codes({"group": labels}, n)["group"]
    names = {"group": np.unique(labels.astype(str))}
    if n <= len(names["group"]):
        raise ValueError("A mixed model needs more ratings than groups.")
    numbered = factor_codes(factors, n) if factors else {}
    # one level has no variance between levels; one rating per level cannot be separated
    # from noise
    usable = {k: v for k, v in numbered.items() if 1 < v[1] < n}
    # the factor with most levels last: that one is absorbed
    order = sorted(usable, key=lambda name: (usable[name][1], name))
    centre = float(np.sort(ratings).mean())
    scale = float(ratings.std())
    columns = [codes, *(usable[name][0] for name in order)]
    sizes = [len(names["group"]), *(usable[name][1] for name in order)]
    problem = _cross_products(
        (ratings - centre) / (scale if scale > 0 else 1.0), columns, sizes
    )
    ratios = _best_ratios(problem, len(order)) if scale > 0 else np.zeros(len(order))
    deviance, residual, solution, factor = _solve(problem, ratios)
    inverse = linalg.cho_solve((factor, True), np.eye(len(factor)))
    unit = scale**2 if scale > 0 else 0.0
    variances = {
        name: float(ratio**2 * residual * unit)
        for name, ratio in zip(order, ratios, strict=True)
    }
    variances["residual"] = float(residual * unit)
    n_groups = sizes[0]
    spread = n - n_groups
    constant = spread * (np.log(2 * np.pi) + 1 + np.log(unit)) if unit > 0 else 0.0
    return MixedFit(
        [str(g) for g in names["group"]],
        solution[:n_groups] * scale + centre,
        inverse[:n_groups, :n_groups] * residual * unit,
        variances,
        float(-(deviance + constant) / 2),
    )


def _cross_products(
    ratings: Floats, columns: Sequence[npt.NDArray[np.intp]], sizes: Sequence[int]
) -> _Problem:
    from scipy import sparse

    n = len(ratings)
    design = [
        sparse.csr_matrix((np.ones(n), (np.arange(n), codes)), shape=(n, size))
        for codes, size in zip(columns, sizes, strict=True)
    ]
    absorbed = design.pop() if len(design) > 1 else sparse.csr_matrix((n, 0))
    front = sparse.hstack(design, format="csr")
    crossed = sparse.csr_matrix(front.T @ absorbed)
    return _Problem(
        np.asarray((front.T @ front).todense(), dtype=np.float64),
        crossed,
        _pairs(crossed),
        np.asarray(absorbed.sum(axis=0), dtype=np.float64).ravel(),
        np.asarray(front.T @ ratings, dtype=np.float64),
        np.asarray(absorbed.T @ ratings, dtype=np.float64),
        float(ratings @ ratings),
        n,
        sizes[0],
        tuple(sizes[1:]),
    )


def _best_ratios(problem: _Problem, n_factors: int) -> Floats:
    if n_factors == 0:
        return np.zeros(0)
    best = np.zeros(n_factors)
    lowest = _solve(problem, best)[0]
    # two starts after one of zeros: the likelihood may have several maxima,
    # also at its bounds
    for start in (0.3, 1.5):
        at: Floats | None = np.full(n_factors, start)
        while at is not None:
            cost, found = _down_from(problem, at)
            if cost < lowest - _NO_LESS:
                lowest, best = cost, found
            at = _off_zero(problem, cost, found)
    return best


def _down_from(problem: _Problem, start: Floats) -> tuple[float, Floats]:
    from scipy import optimize

    optimum = optimize.minimize(
        _deviance_and_slope,
        start,
        args=(problem,),
        method="L-BFGS-B",
        jac=True,
        bounds=[(0.0, _MAX_RATIO)] * len(start),
        options={"ftol": 1e-13, "gtol": 1e-7},
    )
    return float(optimum.fun), np.asarray(optimum.x, dtype=np.float64)


def _off_zero(problem: _Problem, cost: float, found: Floats) -> Floats | None:
    """Return a likelier point beside one with a ratio of zero, if there is one.

    The slope at a ratio of zero is always zero, so that a search stays there,
    which could depend on the last digit of the ratings.
    """
    for k in np.flatnonzero(found == 0.0):
        for ratio in _BESIDE_ZERO:
            beside = found.copy()
            beside[k] = ratio
            if _solve(problem, beside)[0] < cost - _NO_LESS:
                return beside
    return None


def _deviance_and_slope(ratios: Floats, problem: _Problem) -> tuple[float, Floats]:
    """Return the deviance with its derivatives, from the traces of each factor's block.

    References
    ----------
    Searle, Casella and McCulloch (1992), Variance Components, section 7.2 (d).
    """
    from scipy import linalg

    deviance, residual, solution, factor = _solve(problem, ratios)
    # the lower half of the inverse; the upper half keeps old values
    inverse, _ = linalg.lapack.dpotri(factor, lower=1)
    traced = np.diag(inverse)
    last = float(ratios[-1])
    diagonal = last**2 * problem.counts + 1.0
    scaling = _scale_factors(problem, ratios)
    spread = _outer(problem, last / diagonal) * scaling[:, None] * scaling
    absorbed = 2 * np.vdot(np.tril(inverse), spread) - traced @ np.diag(spread)
    ends = np.cumsum([problem.n_groups, *problem.sizes])
    slope = np.zeros(len(ratios))
    for k, size in enumerate(problem.sizes):
        block = slice(int(ends[k]), int(ends[k + 1]))
        trace = float(traced[block].sum())
        if k == len(ratios) - 1:
            trace = float((1 / diagonal).sum() + absorbed)
        effects = solution[block]
        if ratios[k] > 0:
            gained = size - trace - float(effects @ effects) / residual
            slope[k] = 2 * gained / ratios[k]
    return deviance, slope


def _pairs(crossed: Any) -> Any:
    """Multiply the entries of each column with each other: a row per pair of rows.

    Only pairs in the lower half. A fit asks for dozens of weighted sums of these
    products, which then are one multiplication each.
    """
    from scipy import sparse

    by_level = crossed.tocsc()
    by_level.sort_indices()
    n_rows, n_levels = by_level.shape
    met = np.diff(by_level.indptr)
    if int((met.astype(np.int64) ** 2).sum()) > 2 * _MAX_PAIRS:
        return None
    level = np.repeat(np.arange(n_levels), met)
    partners = met[level]
    first = np.repeat(np.arange(len(level)), partners)
    place = np.arange(len(first)) - np.repeat(partners.cumsum() - partners, partners)
    second = by_level.indptr[level[first]] + place
    lower = second <= first
    first, second = first[lower], second[lower]
    row = by_level.indices.astype(np.int64)
    return sparse.csr_matrix(
        (
            by_level.data[first] * by_level.data[second],
            (row[first] * n_rows + row[second], level[first]),
        ),
        shape=(n_rows**2, n_levels),
    )


def _outer(problem: _Problem, weights: Floats) -> Floats:
    """Return the lower half of C W^2 C' of the sparse C; the upper is undefined."""
    from scipy import sparse

    crossed = problem.crossed
    if problem.pairs is not None:
        half: Floats = (problem.pairs @ weights**2).reshape(problem.gram.shape)
        return half
    parts = (crossed.data * weights[crossed.indices], crossed.indices, crossed.indptr)
    weighted = sparse.csr_matrix(parts, shape=crossed.shape)
    product: Floats = (weighted @ weighted.T).toarray()
    return product


def _scale_factors(problem: _Problem, ratios: Floats) -> Floats:
    of_groups = np.ones(problem.n_groups)
    return np.concatenate([of_groups, np.repeat(ratios[:-1], problem.sizes[:-1])])


def _solve(problem: _Problem, ratios: Floats) -> tuple[float, float, Floats, Floats]:
    """Solve Henderson's equations scaled by the ratios, which may be zero.

    Returns twice the negative profiled restricted log-likelihood up to a constant, the
    residual variance, the solution (effects in units of their ratio) and the Cholesky
    factor of the reduced equations.
    """
    from scipy import linalg

    scaling = _scale_factors(problem, ratios)
    matrix = problem.gram * scaling[:, None] * scaling[None, :]
    matrix[np.diag_indices_from(matrix)] += np.repeat(
        [0.0, 1.0], [problem.n_groups, len(scaling) - problem.n_groups]
    )
    rhs = problem.rhs * scaling
    last = float(ratios[-1]) if len(ratios) else 0.0
    diagonal = last**2 * problem.counts + 1.0
    absorbed_rhs = problem.rhs_absorbed * last
    # the Schur complement: the absorbed block is diagonal, so eliminating it costs a
    # division a level
    crossed = problem.crossed
    matrix -= _outer(problem, last / np.sqrt(diagonal)) * scaling[:, None] * scaling
    rhs = rhs - scaling * (crossed @ (last * absorbed_rhs / diagonal))
    factor, _ = linalg.cho_factor(matrix, lower=True)
    front_solution = linalg.cho_solve((factor, True), rhs)
    back = absorbed_rhs - last * (crossed.T @ (scaling * front_solution))
    back /= diagonal
    freedom = problem.n - problem.n_groups
    explained = front_solution @ (problem.rhs * scaling) + back @ absorbed_rhs
    # a perfect fit leaves 0, which has no logarithm
    residual = max((problem.total - explained) / freedom, 1e-20)
    deviance = (
        freedom * np.log(residual)
        + 2 * np.log(np.diag(factor)).sum()
        + np.log(diagonal).sum()
    )
    return (
        float(deviance),
        float(residual),
        np.concatenate([front_solution, back]),
        factor,
    )


# Variance components of ratings, and the variance of a mean.
@dataclass(frozen=True)
class Components:
    """The variance components of ratings.

    Parameters
    ----------
    residual : float
        Variance between ratings of one output by like workers on like days.
    instance, worker, day : float
        Variances between instances, workers and days; all in squared units of the
        ratings, >= 0.
    taste : float
        Variance of a worker's liking for single systems, beside the worker's level.

    Examples
    --------
    >>> Components(residual=0.06, instance=0.03).total.__round__(6)
    0.09
    """

    residual: float
    instance: float = 0.0
    worker: float = 0.0
    day: float = 0.0
    taste: float = 0.0
    basis: str = "given"

    @property
    def total(self) -> float:
        return self.residual + self.instance + self.worker + self.day + self.taste


def usual_components(*, low: float = 0.0, high: float = 100.0) -> Components:
    """Return components to assume before there are ratings."""
    # Standard deviations in percent of the scale, as in simulated crowds: 25 of single
    # ratings, 15 of instances, 10 of workers, 5 of their taste.
    unit = ((high - low) / 100) ** 2
    return Components(625 * unit, 225 * unit, 100 * unit, taste=25 * unit)


def blended_components(
    found: Components, usual: Components, n_workers: int
) -> Components:
    """Correct workers' variances of a pilot, which a few people hardly determine."""
    # of standard deviations, so that little is added to small ones: the usual level counts
    # as two more people, and the usual taste half, as it shows only in means of few ratings
    weight = (n_workers - 1) / (n_workers + 1)
    return replace(
        found,
        worker=(weight * found.worker**0.5 + (1 - weight) * usual.worker**0.5) ** 2,
        taste=(weight * found.taste**0.5 + (2 - weight) * usual.taste**0.5) ** 2 / 4,
    )


def worst_case_components(
    mean: float | None = None, *, low: float = 0.0, high: float = 1.0
) -> Components:
    """Return components that no ratings on a scale can exceed, all between instances.

    Parameters
    ----------
    mean, low, high : float
        As in `leaderboard.stats.bounds.largest_sd`.

    Returns
    -------
    Components
        Everything between instances: more ratings of the same outputs do not help in
        the worst case. Workers and days are left out, as no bound separates them.
    """
    basis = "worst case" if mean is None else f"worst case at a mean of {mean:g}"
    variance = largest_sd(mean, low=low, high=high) ** 2
    return Components(0.0, instance=variance, basis=f"{basis} on {low:g} to {high:g}")


def pilot_components(
    values: npt.ArrayLike,
    *,
    instances: npt.ArrayLike | None = None,
    workers: npt.ArrayLike | None = None,
    days: npt.ArrayLike | None = None,
    systems: npt.ArrayLike | None = None,
    tastes: npt.ArrayLike | None = None,
) -> Components:
    """Estimate the components from existing ratings.

    Parameters
    ----------
    values : array_like, shape (n,)
        Ratings, finite.
    instances, workers, days : array_like, shape (n,), optional
        Labels of each rating.
    systems, tastes : array_like, shape (n,), optional
        The system of each, and its pair of worker and system.

    Returns
    -------
    Components
        By restricted maximum likelihood. With one rating per instance the instance
        component is part of the residual: plans for more than one rating per instance
        are then too optimistic, and `basis` has a warning.
    """
    named: dict[str, npt.ArrayLike | None] = {
        "instance": instances,
        "worker": workers,
        "day": days,
        "taste": tastes,
    }
    factors: Mapping[str, npt.ArrayLike] = {
        name: labels for name, labels in named.items() if labels is not None
    }
    variances = fit_mixed(values, systems, factors).variances
    unseen = [name for name in factors if name not in variances]
    basis = f"pilot of {len(np.asarray(values))} ratings"
    if unseen:
        basis += f"; {' and '.join(unseen)} not separable from the residual"
    return Components(
        variances["residual"],
        variances.get("instance", 0.0),
        variances.get("worker", 0.0),
        variances.get("day", 0.0),
        variances.get("taste", 0.0),
        basis,
    )


def mean_variance(
    components: Components,
    n_instances: int,
    ratings_per_instance: int = 1,
    n_workers: int | None = None,
    n_days: int | None = None,
) -> float:
    """Return the variance of a system's mean under a design.

    Parameters
    ----------
    n_instances, ratings_per_instance : int
        At least 1 each.
    n_workers, n_days : int, optional
        Numbers over which the ratings are spread evenly; None if the workers (days) are
        the ones of interest and not a sample.

    Returns
    -------
    float
        instance / I + residual / (I m) + worker / W + day / D.

    References
    ----------
    Searle, Casella and McCulloch (1992), Variance Components, section 4.4 (the mean of
    a balanced crossed design).
    """
    variance = components.instance / n_instances
    variance += components.residual / (n_instances * ratings_per_instance)
    for component, count in (
        (components.worker + components.taste, n_workers),
        (components.day, n_days),
    ):
        if count is not None:
            variance += component / count
    return variance
