"""Adjusted preferences as rows of a release's tables, published and computed again alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from leaderboard.evaluation.selectors.adjusted.strengths import AdjustedStrengths
from leaderboard.releases.bundle import Record

# What it is about: a comparison or a joint evaluation, and its criterion.
Rows = Sequence[tuple[Record, AdjustedStrengths]]
STRENGTHS = (
    *("comparison", "joint", "criterion", "submission", "before", "before_low"),
    *("before_high", "after", "after_low", "after_high", "adjusted_for", "covers"),
)
EFFECTS = ("comparison", "joint", "criterion", "covariate", "estimate", "low", "high")


def strengths(rows: Rows) -> Iterator[Record]:
    """Give each system before and after."""
    for about, adjusted in rows:
        for one in adjusted.systems:
            yield {
                **about,
                "submission": one.submission,
                "before": one.before.estimate,
                "before_low": one.before.low,
                "before_high": one.before.high,
                "after": one.after.estimate,
                "after_low": one.after.low,
                "after_high": one.after.high,
                "adjusted_for": adjusted.adjusted_for,
                "covers": adjusted.covers,
            }


def effects(rows: Rows) -> Iterator[Record]:
    """Give what each covariate does."""
    for about, adjusted in rows:
        for one in adjusted.effects:
            numbers = {"estimate": one.estimate, "low": one.low, "high": one.high}
            yield {**about, "covariate": one.name, **numbers}
