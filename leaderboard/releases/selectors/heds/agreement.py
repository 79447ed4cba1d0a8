"""How far the people behind one evaluation agreed, where that can be said."""

from __future__ import annotations

import math

from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.system_ratings import system_ratings
from quality.agreement.krippendorff import Level, krippendorff_alpha


def agreement(evaluation: HumanEvaluation, criterion: str, *, ordered: bool) -> str:
    """Say Krippendorff's alpha in a sentence; of one rating each there is none."""
    ratings = system_ratings(evaluation)
    ratings = ratings[ratings["criterion"] == criterion]
    table = ratings.pivot_table(
        index=["submission", "instance"], columns="worker", values="value"
    )
    # labelled options have an order and no distances; sliders and typed numbers have
    # both
    level: Level = "ordinal" if ordered else "interval"
    alpha = krippendorff_alpha(table.to_numpy(float), level)
    if not alpha.n_items:
        return "not measured: each output has one rating that counts"
    if not math.isfinite(alpha.value):
        return "not measured: all ratings are the same"
    return (
        f"between evaluators: Krippendorff's alpha ({level}) {alpha.value:.2f}, 95 % "
        f"interval {alpha.low:.2f} to {alpha.high:.2f}, over {alpha.n_items} outputs "
        "with more than one rating; within evaluators: not measured"
    )
