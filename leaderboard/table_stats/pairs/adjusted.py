"""Strengths with and without what texts differ in beside quality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from genie.lib.errors import GenieError
from leaderboard.stats.bradley_terry import BradleyTerry
from leaderboard.stats.comparisons import Comparisons
from leaderboard.stats.preferences.adjusted import Adjusted, adjusted_bradley_terry
from leaderboard.stats.preferences.words import CAUTION, adjusted_for
from leaderboard.stats.resampling import Floats
from leaderboard.stats.systems.ranks import rank_by_p
from leaderboard.table_stats.pairs.lines import (
    AdjustedLine,
    AdjustedLines,
    EffectLine,
)

# As if every pair had tied once more, and only where no finite strengths fit.
_PENALTY = 0.05


def adjusted_lines(
    games: Comparisons,
    names: Sequence[str],
    covariates: Mapping[str, npt.ArrayLike],
    by: npt.ArrayLike | None,
    raters: str,
    penalty: float,
) -> AdjustedLines | None:
    """Rank systems as if their texts were equal in the covariates.

    Parameters
    ----------
    games : Comparisons
    names : sequence of str
        The systems, by their numbers.
    covariates : mapping of str to array_like, shape (m,)
    by : array_like, shape (m,), or None
        Who made each comparison.
    raters : str
        What `by` names, in the plural.
    penalty : float
        With which the strengths without covariates were held finite.

    Returns
    -------
    AdjustedLines or None
        None without covariates.
    """
    if not covariates:
        return None
    found, held = _fitted(games, covariates, by, raters, penalty)
    fit = found.fit
    ranking = rank_by_p(names, fit.strengths, p_values(fit))
    lines = []
    for name in ranking.systems:
        interval = fit.interval(names.index(name))
        ranks = ranking.rank_of(name)
        lines.append(
            AdjustedLine(
                system=name,
                estimate=interval.estimate,
                low=interval.low,
                high=interval.high,
                rank_low=ranks.first,
                rank_high=ranks.last,
                cluster=ranking.cluster_of(name),
            )
        )
    effects = tuple(
        EffectLine(
            one.name,
            one.unit,
            one.interval.estimate,
            one.interval.low,
            one.interval.high,
        )
        for one in found.effects
    )
    notes = [adjusted_for([one.name for one in found.effects], found.left_out), CAUTION]
    if held:
        notes.append("Strengths and effects are held finite by a small penalty.")
    return AdjustedLines(
        tuple(lines), effects, found.left_out, fit.covers, tuple(notes)
    )


def _fitted(
    games: Comparisons,
    covariates: Mapping[str, npt.ArrayLike],
    by: npt.ArrayLike | None,
    raters: str,
    penalty: float,
) -> tuple[Adjusted, bool]:
    def fit(held: float) -> Adjusted:
        return adjusted_bradley_terry(
            games, covariates, clusters=by, clustered_by=raters, penalty=held
        )

    try:
        return fit(penalty), penalty > 0
    except GenieError as error:
        if error.code != "no-fit" or penalty:
            raise
        return fit(_PENALTY), True


def p_values(fit: BradleyTerry) -> Floats:
    """Give two-sided p-values of all differences, each by itself."""
    from scipy import special

    gaps = fit.strengths[:, None] - fit.strengths[None, :]
    spread = np.diag(fit.covariance)
    variance = spread[:, None] + spread[None, :] - 2 * fit.covariance
    error = np.sqrt(np.maximum(variance, 0.0))
    ratio = np.full_like(gaps, np.inf)
    np.divide(np.abs(gaps), error, out=ratio, where=error > 0)
    # a difference of rounding is none
    ratio[np.abs(gaps) <= 1e-9] = 0.0
    return np.asarray(2 * special.stdtr(fit.freedom, -ratio), dtype=np.float64)
