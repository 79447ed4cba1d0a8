"""Scores of direct assessment: segment means, their means, rank-sum tests, clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leaderboard.papers.figures import Computed, Figures, Settings, Value, by_row, ranks
from leaderboard.stats.multiplicity import significance_clusters
from leaderboard.stats.ranking import RankRange
from leaderboard.stats.rater_effects import worker_z_scores
from leaderboard.stats.systems.ranks import ALPHA, RankSumRanking, rank_sum_ranking

if TYPE_CHECKING:
    import pandas as pd

    from leaderboard.imports.readers.judgments import Judgments

# WMT's tables print it on the diagonal, below it, and for insignificant differences.
FILLER = 0.12


class DirectAssessment(Figures):
    slug = "da"
    layouts = ("wmt-da", "wmt-da-z")
    title = "Direct assessment, as WMT has published it"
    names = {
        "judgments": "rows, and of each kind with the kind as row",
        "workers": "people with a row",
        "raw": "mean over segments of a system's mean raw score",
        "z": "the same of scores standardized by worker",
        "segments": "segments of a system with a judgment",
        "n_all": "judgments of a system that count",
        "rank_by_raw": "place by the raw score",
        "rank_by_z": "place by the standardized score",
        "p": "of a pair A>B: one-sided rank-sum test that A's segments score higher",
        "p_printed": "the same as WMT prints it: .12 wherever it is not significant",
        "wins": "systems beaten at p < .05",
        "cluster": "first and last rank of the system's cluster",
        "cluster_strict": "the same where all above must beat all below",
        "n_clusters": "clusters",
        "n_clusters_strict": "clusters by the stricter rule",
        "se_plain": "sd / sqrt(n) of a system's standardized judgments",
        "se_worker": "the same with each worker's judgments dependent (CR0)",
    }

    @classmethod
    def compute(cls, judgments: Judgments, settings: Settings) -> Computed:
        """Compute the figures of raw scores, z-scores or both.

        Raw scores are standardized here over all of a worker's rows. If the file has
        z-scores, there are no raw figures.
        """
        found = counts(judgments)
        judged = judgments.judged
        if not judgments.standardised:
            raw, judged = _both(judgments)
            # the mean of each segment of each system, then of each system
            segments = raw.groupby(["system", "instance"])["value"].mean()
            means = segments.groupby(level="system").mean()
            found |= by_row("raw", means) | by_row("rank_by_raw", ranks(means))
        return found | _standardize(judged)


def counts(judgments: Judgments) -> Computed:
    """Count rows and workers, and rows of each kind."""
    found: Computed = {
        "judgments": float(len(judgments.rows)),
        "workers": float(judgments.rows["worker"].nunique()),
    }
    kinds = judgments.n_by_role().items()
    return found | {f"{kind}/judgments": float(n) for kind, n in kinds}


def _both(judgments: Judgments) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows that count, with raw scores and with z-scores in `value`.

    A worker with the same score throughout has no z-score. As in WMT, such rows count,
    with 0, only for texts without any other rating.
    """
    rows = judgments.rows
    z = rows["value"] * 0.0 + worker_z_scores(rows["value"], rows["worker"])
    judged = judgments.judged
    z = z[judged.index]
    cell = [judged["system"], judged["instance"]]
    stays = z.notna() | ~z.notna().groupby(cell).transform("any")
    raw = judged[stays]
    return raw, raw.assign(value=z[stays].fillna(0.0))


def _standardize(judged: pd.DataFrame) -> Computed:
    ranking = rank_sum_ranking(
        judged["value"], judged["system"], judged["instance"].astype(str)
    )
    names = ranking.systems
    cut = significance_clusters(ranking.means, ranking.p_values < ALPHA)
    strict = [_span(cut, number) for number in cut]
    found = by_row("z", dict(zip(names, ranking.means, strict=True)))
    found |= by_row("segments", dict(zip(names, ranking.n_segments, strict=True)))
    found |= by_row("n_all", judged.groupby("system").size())
    found |= by_row("rank_by_z", {name: i for i, name in enumerate(names, 1)})
    found |= by_row("wins", dict(zip(names, ranking.wins, strict=True)))
    found |= _clusters("cluster", names, ranking.clusters)
    found |= _clusters("cluster_strict", names, strict)
    found["n_clusters"] = float(len({each.last for each in ranking.clusters}))
    found["n_clusters_strict"] = float(max(cut))
    return found | _p_values(ranking) | _errors(judged[judged["worker"] != ""])


def _span(clusters: list[int], number: int) -> RankRange:
    first = clusters.index(number) + 1
    return RankRange(first, first + clusters.count(number) - 1)


def _clusters(name: str, systems: list[str], clusters: list[RankRange]) -> Computed:
    spans = [(each.first, each.last) for each in clusters]
    return by_row(name, dict(zip(systems, spans, strict=True)))


def _p_values(ranking: RankSumRanking) -> Computed:
    found: dict[str, Value] = {}
    for i, first in enumerate(ranking.systems):
        for j, second in enumerate(ranking.systems):
            p = float(ranking.p_values[i, j])
            printed = p if i < j and p < ALPHA else FILLER
            found[f"{first}>{second}/p"] = p
            found[f"{first}>{second}/p_printed"] = printed
    return found


def _errors(judged: pd.DataFrame) -> Computed:
    found: dict[str, Value] = {}
    for system, of_it in judged.groupby("system"):
        values, n = of_it["value"], len(of_it)
        by_worker = (values - values.mean()).groupby(of_it["worker"]).sum()
        found[f"{system}/se_plain"] = float(values.std(ddof=1) / n**0.5)
        found[f"{system}/se_worker"] = float(np.sqrt((by_worker**2).sum()) / n)
    return found
