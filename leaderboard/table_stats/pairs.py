"""Tables of pairs: their columns and their analysis."""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from genie.lib.errors import GenieError
from leaderboard.stats.bradley_terry import (
    BradleyTerry,
    bradley_terry,
    bradley_terry_by_worker,
)
from leaderboard.stats.comparisons import Comparisons, compare
from leaderboard.stats.intervals import Floats
from leaderboard.stats.systems.estimates import (
    COVERS_THESE,
    FEW_WORKERS,
    Population,
)
from leaderboard.stats.systems.ranks import Ranking, rank_by_p
from leaderboard.stats.systems.weighting import contrasts
from leaderboard.table_stats.analysis import Analysis, PairLine, SystemLine
from leaderboard.table_stats.read import Codes, Pairs

# Analysis of a table of preferences: Bradley-Terry with variance between workers.
# A pseudo-tie for every pair, only used if no finite strengths fit.
_PENALTY = 0.05


@dataclass(frozen=True)
class _Table:
    """Comparisons grouped by workers, else sessions, else not at all."""

    games: Comparisons
    names: list[str]
    raters: str
    by: Codes | None
    # within which comparisons are not independent
    clusters: Codes | None

    @property
    def places(self) -> Codes:
        """Return each comparison's group; one group for all without workers and sessions."""
        return np.zeros(len(self.games.first), np.intp) if self.by is None else self.by


def analyse_pairs(
    pairs: Pairs, *, population: Population = Population.LIKE
) -> Analysis:
    """Estimate strengths, and rank by them.

    Returns
    -------
    Analysis
        Estimates are Bradley-Terry strengths (log-odds, sum 0); `plain` is the share of
        comparisons won, with ties as half a win. Its interval is that of the strength
        and assumes independent comparisons; so do all intervals if neither
        workers nor sessions are recorded. Intervals about these raters have instances
        as clusters.

    Raises
    ------
    GenieError
        "one-worker" if only one made comparisons; "only-ties".
    """
    table = _table(pairs, population)
    games, names = table.games, table.names
    fit, penalty = _fit_strengths(table)
    notes = [_HELD] if penalty else []
    alone = bradley_terry(games.wins, games.ties, penalty=penalty)
    raw = _p_values(fit)
    ranking = rank_by_p(names, fit.strengths, raw)
    counts = _counts(games, table.places, len(names))
    like = population == Population.LIKE
    if like and fit.freedom + 1 < FEW_WORKERS:
        effective = f"{fit.freedom + 1:.1f} equally busy ones"
        notes.append(f"Few {table.raters}s: as if {effective}.")
    variance = f"variance between {table.raters if like else 'instance'}s"
    if table.clusters is None:
        variance = "comparisons independent"
    if table.by is None:
        notes.append(
            "Raters are not recorded, so comparisons are treated as independent."
        )
    place = [names.index(name) for name in ranking.systems]
    lines = tuple(
        _line(pairs.criterion, i, fit, alone, games, counts, ranking, names)
        for i in place
    )
    if table.by is None:
        lines = tuple(replace(line, n_workers=0) for line in lines)
    instance = pairs.labels.get("instance")
    return Analysis(
        criterion=pairs.criterion,
        scale="log-odds",
        n=len(pairs),
        n_workers=0 if table.by is None else len(np.unique(table.by)),
        n_instances=0 if instance is None else len(np.unique(instance.codes)),
        covers=fit.covers,
        covers_crowd=alone.covers,
        method=f"Bradley-Terry with ties (Davidson), {variance}",
        systems=lines,
        pairs=_pair_lines(pairs.criterion, fit, ranking, place, raw),
        components=(),
        agreement=(),
        plans=(),
        rank_sums=(),
        fragility=None,
        notes=(*notes, *pairs.notes),
        raters=table.raters,
        population=population,
    )


_HELD = (
    "Some systems won (or lost) every comparison. A small penalty keeps their "
    "strengths finite."
)


def _table(pairs: Pairs, population: Population) -> _Table:
    names = sorted({*pairs.labels["system_a"].names, *pairs.labels["system_b"].names})
    first = _number_systems(pairs, "system_a", names)
    second = _number_systems(pairs, "system_b", names)
    used = np.unique(np.concatenate([first, second]))
    names = [names[i] for i in used]
    first, second = np.searchsorted(used, first), np.searchsorted(used, second)
    games = compare(first, second, pairs.outcome, len(names))
    codes = {name: labels.codes for name, labels in pairs.labels.items()}
    known = [raters for raters in ("worker", "session") if raters in codes]
    raters = known[0] if known else "comparison"
    clusters = raters if population == Population.LIKE else "instance"
    return _Table(games, names, raters, codes.get(raters), codes.get(clusters))


def _fit_strengths(table: _Table) -> tuple[BradleyTerry, float]:
    """Fit strengths, with a small penalty only if they are not finite without it."""
    try:
        return _fit(table, 0.0), 0.0
    except GenieError as error:
        if error.code not in ("not-connected", "no-fit"):
            raise
        return _fit(table, _PENALTY), _PENALTY


def _fit(table: _Table, penalty: float) -> BradleyTerry:
    games = table.games
    if table.clusters is None:
        return bradley_terry(games.wins, games.ties, penalty=penalty)
    fit = bradley_terry_by_worker(games, table.clusters, penalty=penalty)
    if table.clusters is not table.by:
        return replace(fit, covers=COVERS_THESE)
    if table.raters == "session":
        return replace(fit, covers=fit.covers.replace("workers", "sessions"))
    return fit


def _number_systems(pairs: Pairs, side: str, names: list[str]) -> Codes:
    labels = pairs.labels[side]
    place = np.searchsorted(names, labels.names) if labels.names else np.zeros(0, int)
    return place.astype(np.intp)[labels.codes]


def _p_values(fit: BradleyTerry) -> Floats:
    from scipy import special

    gaps = fit.strengths[:, None] - fit.strengths[None, :]
    error = np.sqrt(np.maximum(contrasts(fit.covariance), 0.0))
    ratio = np.full_like(gaps, np.inf)
    np.divide(np.abs(gaps), error, out=ratio, where=error > 0)
    # ignore differences due to rounding
    ratio[np.abs(gaps) <= 1e-9] = 0.0
    return np.asarray(2 * special.stdtr(fit.freedom, -ratio), dtype=np.float64)


def _counts(games: Comparisons, worker: Codes, n_systems: int) -> npt.NDArray[np.int64]:
    who, n_workers = np.concatenate([worker, worker]), int(worker.max()) + 1
    what = np.concatenate([games.first, games.second])
    counts = np.bincount(who * n_systems + what, minlength=n_workers * n_systems)
    return counts.reshape(n_workers, n_systems)


def _line(
    criterion: str,
    i: int,
    fit: BradleyTerry,
    alone: BradleyTerry,
    games: Comparisons,
    counts: npt.NDArray[np.int64],
    ranking: Ranking,
    names: list[str],
) -> SystemLine:
    shares = counts[:, i] / counts[:, i].sum()
    won = games.wins[i].sum() + games.ties[i].sum() / 2
    ranks = ranking.rank_of(names[i])
    return SystemLine(
        system=names[i],
        criterion=criterion,
        estimate=fit.interval(i),
        plain=replace(alone.interval(i), estimate=float(won / counts[:, i].sum())),
        z=None,
        n=int(counts[:, i].sum()),
        n_workers=int((counts[:, i] > 0).sum()),
        effective_workers=float(1 / (shares**2).sum()),
        largest_share=float(shares.max()),
        rank_low=ranks.first,
        rank_high=ranks.last,
        cluster=ranking.cluster_of(names[i]),
    )


def _pair_lines(
    criterion: str, fit: BradleyTerry, ranking: Ranking, place: list[int], raw: Floats
) -> tuple[PairLine, ...]:
    return tuple(
        PairLine(
            a,
            b,
            criterion,
            fit.difference(place[i], place[j]),
            float(ranking.p_values[i, j]),
            float(raw[place[i], place[j]]),
        )
        for (i, a), (j, b) in combinations(enumerate(ranking.systems), 2)
    )
