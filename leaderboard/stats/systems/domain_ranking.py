"""Systems by the mean of their domains' means, tested within each domain, as WMT24 did.

Its way of joining the tests is reproduced here, not recommended: two-sided p values are
added up as if they pointed one way, so that opposite effects in two domains add up, too.
`leaderboard.stats.systems.ranks` is the rule of this site's boards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.ranking import RankRange
from leaderboard.stats.resampling import Floats
from leaderboard.stats.significance import significance_clusters

ALPHA = 0.05


@dataclass(frozen=True)
class DomainRanking:
    """Systems by the mean of domain means, best first.

    Parameters
    ----------
    systems : list of str
        Best first; equal ones by name.
    means : ndarray, shape (s,)
        Mean of the domains' means.
    p_values : ndarray, shape (s, s)
        Two-sided, symmetric; 1 on the diagonal.
    rank_ranges : list of RankRange
        Losses + 1 to systems less wins.
    clusters : list of int
        Number of each system's cluster, from 1.
    """

    systems: list[str]
    means: Floats
    p_values: Floats
    rank_ranges: list[RankRange]
    clusters: list[int]


def domain_ranking(
    scores: Mapping[str, Mapping[str, float]],
    domains: Mapping[str, str],
    *,
    alpha: float = ALPHA,
) -> DomainRanking:
    """Rank systems by the mean of their domains' means.

    Parameters
    ----------
    scores : mapping of str to mapping of str to float
        System to segment to score, finite.
    domains : mapping of str to str
        The domain of each segment; a segment without one is a domain of its own kind, "".
    alpha : float
        Level of each test, 0 < alpha < 1; not corrected for the number of pairs.

    Returns
    -------
    DomainRanking

    Raises
    ------
    ValueError
        On no systems, a system without scores, or a wrong level.

    References
    ----------
    Kocmi et al. (2024), Findings of the WMT24 General MT Shared Task, section on
    official ranking; Wilcoxon (1945), Biometrics Bulletin 1; Stouffer et al. (1949), The
    American Soldier, volume 1.

    Examples
    --------
    >>> low = {str(i): float(i % 7) for i in range(20)}
    >>> high = {name: score + 1 + int(name) / 20 for name, score in low.items()}
    >>> domains = {str(i): "news" if i < 10 else "talk" for i in range(20)}
    >>> ranking = domain_ranking({"a": low, "b": high}, domains)
    >>> ranking.systems, [str(r) for r in ranking.rank_ranges], ranking.clusters
    (['b', 'a'], ['1', '2'], [1, 2])
    """
    if not 0 < alpha < 1:
        raise ValueError(f"The level must lie between 0 and 1, not {alpha}.")
    if not scores or not all(scores.values()):
        raise ValueError("Every system needs a score, and there must be one.")
    grouped = {name: _by_domain(of_it, domains) for name, of_it in scores.items()}
    means = {
        name: float(np.mean([np.mean(list(d.values())) for d in each.values()]))
        for name, each in grouped.items()
    }
    systems = sorted(means, key=lambda name: (-means[name], name))
    p_values = np.ones((len(systems), len(systems)))
    for i, first in enumerate(systems):
        for j in range(i):
            p = _p_value(grouped[first], grouped[systems[j]])
            p_values[i, j] = p_values[j, i] = p
    ordered = np.array([means[name] for name in systems])
    better = np.triu(p_values < alpha, 1)
    return DomainRanking(
        systems,
        ordered,
        p_values,
        _ranges(better),
        significance_clusters(ordered, better),
    )


def _by_domain(
    scores: Mapping[str, float], domains: Mapping[str, str]
) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for segment, score in scores.items():
        found.setdefault(domains.get(segment, ""), {})[segment] = score
    return found


def _p_value(
    first: Mapping[str, Mapping[str, float]], second: Mapping[str, Mapping[str, float]]
) -> float:
    """Join the domains' tests over the segments that both systems have."""
    from scipy import stats

    p_values = []
    for domain in sorted(first.keys() & second.keys()):
        common = sorted(first[domain].keys() & second[domain].keys())
        gaps = [first[domain][s] - second[domain][s] for s in common]
        p_values.append(_signed_rank(gaps))
    if not p_values:
        return 1.0
    # a p value of 0 or 1 would make the sum infinite
    inside = np.clip(p_values, 1e-300, 1 - 1e-16)
    return float(stats.combine_pvalues(inside, method="stouffer").pvalue)


def _signed_rank(gaps: Sequence[float]) -> float:
    from scipy import stats

    nonzero = [gap for gap in gaps if gap != 0]
    if not nonzero:
        return 1.0
    return float(stats.wilcoxon(nonzero).pvalue)


def _ranges(better: npt.NDArray[np.bool_]) -> list[RankRange]:
    n = len(better)
    wins, losses = better.sum(axis=1), better.sum(axis=0)
    return [RankRange(int(losses[i]) + 1, int(n - wins[i])) for i in range(n)]
