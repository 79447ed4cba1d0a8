"""System scores and ranks by domain, from one score for each segment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leaderboard.papers.figures import (
    Computed,
    Figures,
    Settings,
    asked,
    by_row,
)
from leaderboard.stats.systems.domain_ranking import domain_ranking

if TYPE_CHECKING:
    from leaderboard.imports.readers.judgments import Judgments


class Domains(Figures):
    slug = "domains"
    title = "Scores by domain, as WMT24 ranks"
    names = {
        "ratings": "judgments that count",
        "cells": "systems x segments with one",
        "systems": "systems, references among them",
        "raters": "workers, or accounts where a file has both",
        "cells_rated_twice": "systems x segments with more than one",
        "n": "segments of a system with a score",
        "mean": "mean over segments",
        "macro": "mean of the domains' means",
        "rank_range": "losses + 1 to systems less wins: signed-rank tests by domain, joined",
        "cluster": "number of the cluster, from 1",
        "p": "of a pair A>B: the joint p value, two-sided",
    }

    @classmethod
    def of(cls, judgments: Judgments, settings: Settings) -> Computed:
        """Compute all from values and the segments' domains."""
        judged = asked(judgments.judged)
        judged = judged[judged["value"].notna()]
        raters = judged["worker"]
        if judgments.extra is not None and "account" in judgments.extra:
            raters = judgments.extra["account"].reindex(judged.index)
        cells = judged.groupby(["system", "instance"])["value"]
        scores, sizes = cells.mean(), cells.size()
        by_system = {
            str(name): dict(of_it.droplevel("system"))
            for name, of_it in scores.groupby(level="system")
        }
        ranking = domain_ranking(by_system, judgments.domains)
        names = ranking.systems
        found: Computed = {
            "ratings": float(len(judged)),
            "cells": float(len(scores)),
            "systems": float(len(names)),
            "raters": float(raters.nunique()),
            "cells_rated_twice": float((sizes > 1).sum()),
        }
        found |= by_row("n", scores.groupby(level="system").size())
        found |= by_row("mean", scores.groupby(level="system").mean())
        found |= by_row("macro", dict(zip(names, ranking.means, strict=True)))
        spans = [(each.first, each.last) for each in ranking.rank_ranges]
        found |= by_row("rank_range", dict(zip(names, spans, strict=True)))
        found |= by_row("cluster", dict(zip(names, ranking.clusters, strict=True)))
        for i, first in enumerate(names):
            for j, second in enumerate(names[i + 1 :], i + 1):
                found[f"{first}>{second}/p"] = float(ranking.p_values[i, j])
        return found
