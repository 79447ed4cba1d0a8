"""A rank audit in words, tables and a badge."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from django.utils.safestring import SafeString

from genie.lib.interval import Interval
from leaderboard.charts import badge
from leaderboard.stats.systems.per_item import ItemEstimates, estimate_by_items
from leaderboard.table_stats.rank_audit.read import Scores
from leaderboard.table_stats.report import Sheet

_RULE = (
    "A system ranks below another only if their difference is significant after "
    "Holm's correction for all pairs (5%); lines separate clusters, and every system "
    "of a cluster is significantly better than every system of the next."
)
_SUBJECT = "rank audit"


@dataclass(frozen=True)
class Audit:
    scores: Scores
    estimates: ItemEstimates

    @property
    def leaders(self) -> list[str]:
        """Systems that may have the first rank."""
        ranking = self.estimates.ranking
        return [
            name
            for name, rank in zip(ranking.systems, ranking.ranks, strict=True)
            if rank.first == 1
        ]

    @property
    def verdict(self) -> str:
        """Return one sentence on whether a system leads."""
        found, leaders = self.estimates, self.leaders
        first = found.ranking.systems[0]
        told = (
            f"{found.n_significant:,} of {found.n_pairs:,} pairs differ significantly"
        )
        if len(leaders) == 1:
            return f"{first} leads; {told}."
        if len(leaders) == len(found.systems):
            return f"No system is significantly worse than the leader, {first}; {told}."
        n = len(leaders) - 1
        return (
            f"{first} leads, and {n} {'is' if n == 1 else 'are'} tied with it; {told}."
        )

    @property
    def badge_text(self) -> str:
        clusters, leaders = max(self.estimates.ranking.clusters), len(self.leaders)
        lead = "clear leader" if leaders == 1 else f"{leaders} tied for first"
        return f"{lead} · {clusters} cluster{'s' if clusters > 1 else ''}"

    @property
    def notes(self) -> list[str]:
        found, n = self.estimates, self.scores.n_left_out
        grouped = bool(self.scores.groups)
        groups = f" in {found.n_groups:,} groups" * grouped
        left_out = (
            f"{n:,} item{'s' if n > 1 else ''} left out because a system has no score "
            "there."
        )
        few = f"{found.n_groups} groups are few, so clustered errors are too small."
        return [
            f"{found.n_items:,} items{groups}; {found.method}. Results cover other "
            "items of the same kind, but not other raters, prompts, seeds or "
            "contamination.",
            _RULE,
            *[left_out] * (n > 0),
            *[few] * (grouped and found.n_groups < 20),
        ]


def audit(scores: Scores, *, lower_is_better: bool = False) -> Audit:
    table = np.asarray(scores.rows, dtype=np.float64)
    signed = -table if lower_is_better else table
    found = estimate_by_items(scores.systems, signed, scores.groups)
    if not lower_is_better:
        return Audit(scores, found)
    turned = {
        name: Interval(-one.estimate, -one.high, -one.low)
        for name, one in found.intervals.items()
    }
    return Audit(scores, replace(found, intervals=turned))


def sheet(found: Audit) -> Sheet:
    ranking, rows, rules = found.estimates.ranking, [], []
    for place, line in enumerate(lines(found)):
        if place and ranking.clusters[place] != ranking.clusters[place - 1]:
            rules.append(place)
        rows.append(
            (
                str(ranking.ranks[place]),
                line["system"],
                f"{line['mean']:.4g}",
                "–"
                if line["low"] is None
                else f"[{line['low']:.4g}, {line['high']:.4g}]",
                str(line["cluster"]),
            )
        )
    header = ("rank", "system", "mean", "95% interval", "cluster")
    notes = (found.verdict, *found.notes)
    return Sheet("Ranks audited", header, tuple(rows), notes, frozenset(rules))


def lines(found: Audit) -> list[dict[str, Any]]:
    ranking = found.estimates.ranking
    return [
        {
            "system": name,
            **found.estimates.intervals[name].flat("mean"),
            "rank_first": rank.first,
            "rank_last": rank.last,
            "cluster": cluster,
        }
        for name, rank, cluster in zip(
            ranking.systems, ranking.ranks, ranking.clusters, strict=True
        )
    ]


def document(found: Audit) -> dict[str, Any]:
    estimates = found.estimates
    return {
        "verdict": found.verdict,
        "systems": lines(found),
        "n_items": estimates.n_items,
        "n_groups": estimates.n_groups if found.scores.groups else None,
        "n_left_out": found.scores.n_left_out,
        "n_pairs": estimates.n_pairs,
        "n_significant": estimates.n_significant,
        "method": estimates.method,
        "confidence": 0.95,
        "notes": found.notes,
        "badge": sign(found),
    }


def sign(found: Audit) -> SafeString:
    return badge(_SUBJECT, found.badge_text)
