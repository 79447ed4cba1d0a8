"""Bradley-Terry with covariates: strengths as if texts were equal in what is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from genie.lib.errors import GenieError
from leaderboard.stats.bradley_terry import BradleyTerry, unconnected_groups
from leaderboard.stats.comparisons import Comparisons
from leaderboard.stats.intervals import Interval, check_confidence
from leaderboard.stats.preferences.likelihood import (
    Design,
    climb,
    inverse,
    scores_by_cluster,
)
from leaderboard.stats.resampling import Floats

POSITION = "position"
# What is left of a covariate beside the others, as a share of it, below which it adds
# nothing that the data could tell.
_NOTHING_LEFT = 1e-8
_COVERS = "which comparisons happened to be made, each independent of the others"
_COVERS_CLUSTERS = "which {0} compared the outputs, and what they happened to compare"


@dataclass(frozen=True)
class Effect:
    """What one covariate does to preferences, all else equal.

    Parameters
    ----------
    name : str
    unit : float
        What `interval` is about: one standard deviation of the difference in this
        covariate; for the position, 1 (being shown first).
    interval : Interval
        Log-odds of being preferred for so much more of it.
    """

    name: str
    unit: float
    interval: Interval


@dataclass(frozen=True)
class Adjusted:
    """Strengths beside effects of covariates.

    Parameters
    ----------
    fit : BradleyTerry
        Strengths with the covariates held equal.
    effects : tuple of Effect
        One for each covariate that the comparisons can tell from the others.
    left_out : tuple of str
        Covariates without a difference, or that follow from the systems and the others.
    """

    fit: BradleyTerry
    effects: tuple[Effect, ...]
    left_out: tuple[str, ...]


def adjusted_bradley_terry(
    games: Comparisons,
    covariates: Mapping[str, npt.ArrayLike],
    *,
    position: bool = True,
    clusters: npt.ArrayLike | None = None,
    clustered_by: str = "workers",
    ties: Literal["own", "half"] = "own",
    penalty: float = 0.0,
    confidence: float = 0.95,
) -> Adjusted:
    """Fit strengths and what covariates do to preferences, together.

    Parameters
    ----------
    games : Comparisons
        The first system of each is the one that was shown first.
    covariates : mapping of str to array_like, shape (m,)
        How much more the first text has of it than the second, finite, such as
        `style.normalised_difference`. Each is divided by its standard deviation.
    position : bool
        Whether being shown first may help or harm.
    clusters : array_like, shape (m,), optional
        Who made each comparison, or in which session; None: all are independent.
    clustered_by : str
        What clusters are, in the plural, for the words on what is covered.
    ties : {"own", "half"}
        A probability of their own (Davidson), or half a win for either side: the
        logistic regression that Arena publishes.
    penalty : float
        Ridge on strengths and effects, as in `bradley_terry`.
    confidence : float
        Of the effects' intervals.

    Returns
    -------
    Adjusted
        With clusters, the covariance is the sandwich of their scores times C / (C - 1);
        degrees of freedom as in `bradley_terry_by_worker`.

    Raises
    ------
    GenieError
        "not-connected" and "only-ties" as in `bradley_terry`; "one-worker" when all
        comparisons are of one cluster; "no-fit" when a covariate predicts every answer.
    ValueError
        When a covariate or the clusters do not fit the comparisons.

    References
    ----------
    Li, Angelopoulos and Chiang (2024), Does style matter?, LMSYS blog; Davidson and
    Beaver (1977), On Extending the Bradley-Terry Model to Incorporate Within-Pair Order
    Effects, Biometrics 33; Liang and Zeger (1986), Biometrika 73, section 2.

    Examples
    --------
    >>> from leaderboard.stats.comparisons import compare
    >>> games = compare([0, 1] * 40, [1, 0] * 40, [1, 1, -1, 0] * 20, 2)
    >>> longer = [1.0, -1.0, 0.5, 0.0] * 20
    >>> found = adjusted_bradley_terry(games, {"length": longer})
    >>> [effect.name for effect in found.effects]
    ['length', 'position']
    """
    check_confidence(confidence)
    if ties not in ("own", "half"):
        raise ValueError(f'Ties count as "own" or "half", not as {ties!r}.')
    _refuse(games, penalty)
    columns = _columns(games, covariates, position)
    kept, units, left_out = _told_apart(games, columns)
    with_ties = ties == "own" and bool((games.outcome == 0).any())
    design = _design(games, list(kept.values()), with_ties, penalty)
    theta, value, information = climb(design)
    covariance = inverse(information)
    freedom, covers = np.inf, _COVERS
    if clusters is not None:
        scores, counts = scores_by_cluster(design, theta, clusters)
        moved = covariance @ scores.T
        covariance = moved @ moved.T * (len(counts) / (len(counts) - 1))
        freedom = max(float(counts.sum() ** 2 / (counts**2).sum()) - 1, 1.0)
        covers = _COVERS_CLUSTERS.format(clustered_by)
    n = design.n_systems
    centring = np.eye(n) - 1 / n
    fit = BradleyTerry(
        theta[:n] - theta[:n].mean(),
        centring @ covariance[:n, :n] @ centring,
        float(np.exp(theta[-1])) if with_ties else 0.0,
        value,
        len(games.first),
        freedom,
        covers,
    )
    effects = tuple(
        Effect(
            name, units[name], _interval(fit, theta[i], covariance[i, i], confidence)
        )
        for i, name in enumerate(kept, n)
    )
    return Adjusted(fit, effects, left_out)


def _interval(
    fit: BradleyTerry, estimate: float, variance: float, confidence: float
) -> Interval:
    from scipy import stats

    reach = float(stats.t.ppf((1 + confidence) / 2, fit.freedom)) * variance**0.5
    value, n = float(estimate), fit.n_comparisons
    low, high = float(value - reach), float(value + reach)
    return Interval(value, low, high, confidence, "Wald", fit.covers, n)


def _design(
    games: Comparisons, columns: list[Floats], with_ties: bool, penalty: float
) -> Design:
    return Design(
        np.stack([games.first, games.second], axis=1),
        np.stack(columns, axis=1) if columns else np.zeros((len(games.first), 0)),
        games.outcome.astype(np.float64),
        games.n_systems,
        with_ties,
        penalty,
    )


def _refuse(games: Comparisons, penalty: float) -> None:
    if not penalty >= 0:
        raise ValueError(f"The penalty must not be negative; {penalty} was given.")
    if not len(games.first):
        raise ValueError("There are no comparisons.")
    groups = unconnected_groups(games.wins, games.ties)
    if penalty == 0 and len(groups) > 1:
        raise GenieError(
            "These systems cannot be placed on one scale: no chain of "
            f"comparisons connects, in both directions, the groups {groups}. "
            "Compare them more, or give a penalty.",
            code="not-connected",
            details={"groups": groups},
        )
    if not games.outcome.any():
        raise GenieError(
            "Only ties were seen: the systems are equal as far as anyone can tell.",
            code="only-ties",
        )


def _columns(
    games: Comparisons, covariates: Mapping[str, npt.ArrayLike], position: bool
) -> dict[str, Floats]:
    columns = {}
    for name, values in covariates.items():
        column = np.asarray(values, dtype=np.float64)
        if column.shape != games.first.shape or not np.isfinite(column).all():
            raise ValueError(f"Every comparison needs one finite number of {name}.")
        columns[name] = column
    if position:
        columns[POSITION] = np.ones(len(games.first))
    return columns


def _told_apart(
    games: Comparisons, columns: Mapping[str, Floats]
) -> tuple[dict[str, Floats], dict[str, float], tuple[str, ...]]:
    """Scale covariates, and leave out those that add nothing to the ones before."""
    kept: dict[str, Floats] = {}
    units: dict[str, float] = {}
    left_out = []
    for name, column in columns.items():
        unit = 1.0 if name == POSITION else float(column.std())
        if unit <= _NOTHING_LEFT:
            left_out.append(name)
            continue
        design = _design(games, [*kept.values(), column / unit], False, 0.0)
        whole = design.squared(np.ones(len(column)))
        others, beside = whole[:-1, :-1], whole[:-1, -1]
        rest = whole[-1, -1] - beside @ np.linalg.pinv(others, hermitian=True) @ beside
        if rest <= _NOTHING_LEFT * whole[-1, -1]:
            left_out.append(name)
            continue
        kept[name], units[name] = column / unit, unit
    return kept, units, tuple(left_out)
