"""How far the people behind one evaluation agreed, where that can be said."""

from __future__ import annotations

import math

from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.system_ratings import system_ratings
from quality.agreement.krippendorff import Level, krippendorff_alpha

# As the form wants it said.
_NOT_BETWEEN = "InterAA not assessed"


def agreement(
    evaluation: HumanEvaluation, criterion: str, *, ordered: bool
) -> tuple[str, str]:
    """Say how agreement was measured, and what it was; of one rating each there is none."""
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
        why = f"{_NOT_BETWEEN}: each output has one rating that counts"
        return why, why
    if not math.isfinite(alpha.value):
        why = f"{_NOT_BETWEEN}: all ratings are the same"
        return why, why
    return (
        f"Krippendorff's alpha ({level})",
        f"{alpha.value:.2f}, 95 % interval {alpha.low:.2f} to {alpha.high:.2f}, over "
        f"{alpha.n_items} outputs with more than one rating",
    )
