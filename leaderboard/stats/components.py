"""Variance components of ratings, and the variance of a mean."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.bounds import largest_sd
from leaderboard.stats.mixed import fit_mixed


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

    Examples
    --------
    >>> Components(residual=0.06, instance=0.03).total.__round__(6)
    0.09
    """

    residual: float
    instance: float = 0.0
    worker: float = 0.0
    day: float = 0.0
    basis: str = "given"

    def __post_init__(self) -> None:
        for name in ("residual", "instance", "worker", "day"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"The {name} variance must be 0 or more, not {value}.")

    @property
    def total(self) -> float:
        return self.residual + self.instance + self.worker + self.day


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

    Examples
    --------
    >>> worst_case_components().instance
    0.25
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
) -> Components:
    """Estimate the components from existing ratings.

    Parameters
    ----------
    values : array_like, shape (n,)
        Ratings, finite.
    instances, workers, days : array_like, shape (n,), optional
        Labels of each rating.

    Returns
    -------
    Components
        By restricted maximum likelihood. With one rating per instance the instance
        component is part of the residual: plans for more than one rating per instance
        are then too optimistic, and `basis` has a warning.

    Examples
    --------
    >>> components = pilot_components([0, 0, 1, 1, 1, 0], instances=list("aabbcc"))
    >>> round(components.instance, 4), round(components.residual, 4)
    (0.1667, 0.1667)
    """
    named: dict[str, npt.ArrayLike | None] = {
        "instance": instances,
        "worker": workers,
        "day": days,
    }
    factors: Mapping[str, npt.ArrayLike] = {
        name: labels for name, labels in named.items() if labels is not None
    }
    fit = fit_mixed(values, None, factors)
    variances = fit.variances
    unseen = [name for name in factors if name not in variances]
    basis = f"pilot of {len(np.asarray(values))} ratings"
    if unseen:
        basis += f"; {' and '.join(unseen)} not separable from the residual"
    return Components(
        variances["residual"],
        variances.get("instance", 0.0),
        variances.get("worker", 0.0),
        variances.get("day", 0.0),
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

    Examples
    --------
    >>> round(mean_variance(Components(0.06, instance=0.03), 100, 3), 12)
    0.0005
    """
    if min(n_instances, ratings_per_instance) < 1:
        raise ValueError("At least one instance with one rating is needed.")
    variance = components.instance / n_instances
    variance += components.residual / (n_instances * ratings_per_instance)
    for name, component, count in (
        ("worker", components.worker, n_workers),
        ("day", components.day, n_days),
    ):
        if count is not None:
            if count < 1:
                raise ValueError(f"At least one {name} is needed, not {count}.")
            variance += component / count
    return variance
