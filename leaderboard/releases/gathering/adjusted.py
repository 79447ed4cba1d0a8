"""Preferences adjusted for what texts look like, and what that was counted to be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from leaderboard.evaluation.models.comparison import ComparedPair, Comparison
from leaderboard.evaluation.models.human_evaluation import JudgedOutput
from leaderboard.evaluation.models.joint_evaluation import JointEvaluation
from leaderboard.evaluation.selectors.adjusted.strengths import (
    AdjustedStrengths,
    of_comparison,
    of_joint,
)
from leaderboard.releases.bundle import Record
from leaderboard.stats.preferences.style import STYLE, style_of
from leaderboard.submissions.models.submission import Prediction

STRENGTHS = (
    *("comparison", "joint", "criterion", "submission", "before", "before_low"),
    *("before_high", "after", "after_low", "after_high", "adjusted_for", "covers"),
)
EFFECTS = ("comparison", "joint", "criterion", "covariate", "estimate", "low", "high")
STYLES = ("submission", "instance", *STYLE)


def found(
    compared: Sequence[Comparison], joint: Sequence[JointEvaluation]
) -> list[tuple[Record, AdjustedStrengths]]:
    """Give what pages show, with what it is about."""
    rows: list[tuple[Record, AdjustedStrengths]] = []
    for comparison in compared:
        if (one := of_comparison(comparison)) is not None and comparison.votes_kept:
            about = {"comparison": comparison.pk, "joint": None}
            rows.append(({**about, "criterion": comparison.criterion}, one))
    for evaluated in joint:
        for criterion, one in of_joint(evaluated).items():
            about = {"comparison": None, "joint": evaluated.pk}
            rows.append(({**about, "criterion": criterion}, one))
    return rows


def strengths(rows: Sequence[tuple[Record, AdjustedStrengths]]) -> Iterator[Record]:
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


def effects(rows: Sequence[tuple[Record, AdjustedStrengths]]) -> Iterator[Record]:
    """Give what each covariate does."""
    for about, adjusted in rows:
        for one in adjusted.effects:
            numbers = {"estimate": one.estimate, "low": one.low, "high": one.high}
            yield {**about, "covariate": one.name, **numbers}


def styles(
    compared: Sequence[Comparison], joint: Sequence[JointEvaluation]
) -> Iterator[Record]:
    """Count what each output holds that was set against another; nothing of no words."""
    pairs = ComparedPair.objects.filter(comparison__in=compared).values_list(
        "judged_item__instance", "comparison__a", "comparison__b"
    )
    shown = {(pk, at) for at, *both in pairs.iterator() for pk in both}
    outputs = JudgedOutput.objects.filter(
        judged_item__evaluation__in=[one.evaluation_id for one in joint]
    ).values_list("submission", "judged_item__instance")
    shown |= set(outputs.iterator())
    texts = Prediction.objects.filter(submission__in={pk for pk, _ in shown})
    for pk, at, name, text in (
        texts.order_by("submission", "instance__position")
        .values_list("submission", "instance", "instance__instance_id", "text")
        .iterator()
    ):
        if (pk, at) in shown:
            counted = style_of(text) if text else dict.fromkeys(STYLE)
            yield {"submission": pk, "instance": name, **counted}
