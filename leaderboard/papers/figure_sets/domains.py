"""System scores by domain, from one score for each segment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leaderboard.papers.figures import (
    Computed,
    Figures,
    Settings,
    by_row,
    first_criterion,
)

if TYPE_CHECKING:
    from leaderboard.imports.readers.judgments import Judgments


class Domains(Figures):
    slug = "domains"
    title = "Scores by domain, as WMT24 has them"
    names = {
        "ratings": "judgments that count",
        "cells": "systems x segments with one",
        "systems": "systems, references among them",
        "raters": "workers, or accounts where a file has both",
        "cells_rated_twice": "systems x segments with more than one",
        "n": "segments of a system with a score",
        "mean": "mean over segments",
        "macro": "mean of the domains' means",
    }

    @classmethod
    def compute(cls, judgments: Judgments, settings: Settings) -> Computed:
        judged = first_criterion(judgments.judged)
        judged = judged[judged["value"].notna()]
        raters = judged["worker"]
        if judgments.extra is not None and "account" in judgments.extra:
            raters = judgments.extra["account"].reindex(judged.index)
        cells = judged.groupby(["system", "instance"])["value"]
        scores, sizes = cells.mean(), cells.size()
        # segments without a domain form an unnamed one
        domains = scores.index.get_level_values("instance").map(
            lambda segment: judgments.domains.get(segment, "")
        )
        by_domain = scores.groupby(["system", domains]).mean()
        found: Computed = {
            "ratings": float(len(judged)),
            "cells": float(len(scores)),
            "systems": float(judged["system"].nunique()),
            "raters": float(raters.nunique()),
            "cells_rated_twice": float((sizes > 1).sum()),
        }
        found |= by_row("n", scores.groupby(level="system").size())
        found |= by_row("mean", scores.groupby(level="system").mean())
        return found | by_row("macro", by_domain.groupby(level="system").mean())
