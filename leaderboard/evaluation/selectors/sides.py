"""What the place of an output on the page does to answers, in comparisons and side by side."""

from __future__ import annotations

import numpy as np

from leaderboard.designs.base import SLOTS
from leaderboard.designs.unit import Unit
from leaderboard.evaluation.models.comparison import CountedVote
from leaderboard.evaluation.models.states import State
from leaderboard.evaluation.selectors.comparison_labels import FIRST_SLOT
from leaderboard.evaluation.selectors.comparisons import ENDED, comparisons_seen_by
from leaderboard.evaluation.selectors.joint import joint_seen_by
from leaderboard.evaluation.selectors.system_ratings import (
    all_system_ratings_of,
    unit_for,
)
from leaderboard.stats.blinding.effects import Effect, effect, side_effect
from leaderboard.tasks.models import Task


def effect_of_side(task: Task) -> Effect | None:
    """Tell how much more often an output is preferred for standing first.

    From the votes that counted in the public comparisons that have ended.
    """
    ended = comparisons_seen_by(None, task).filter(evaluation__state__in=ENDED)
    rows = list(
        CountedVote.objects.filter(pair__comparison__in=ended.order_by().values("pk"))
        .order_by("pk")
        .values_list("pair__comparison_id", "pair__slot_of_a", "worker_id", "value")
    )
    if not rows:
        return None
    comparison, slot, worker, of_a = zip(*rows, strict=True)
    a_first = np.array([one == FIRST_SLOT for one in slot])
    chosen = np.where(a_first, of_a, 1 - np.array(of_a))
    return side_effect(chosen, a_first, worker, comparison)


def effect_of_place(task: Task) -> dict[str, tuple[Effect, Unit]]:
    """Tell, by criterion, what one place further on a page of several outputs does.

    From the ratings that count in public joint evaluations that have results and asked as
    the newest of them did.
    """
    over = list(joint_seen_by(None, task).filter(evaluation__state=State.SCORED))
    over = [one for one in over if one.evaluation.design == over[0].evaluation.design]
    if not over:
        return {}
    ratings = all_system_ratings_of([row.evaluation_id for row in over])
    ratings = ratings[(ratings["why_not"] == "") & (ratings["slot"] != "")]
    place = {slot: number for number, slot in enumerate(SLOTS)}
    evaluation = over[0].evaluation
    campaign, found = evaluation.campaign, {}
    for name, group in ratings.groupby("criterion", sort=True):
        criterion = str(name)
        unit = unit_for(evaluation.design, campaign, criterion)
        one = effect(
            unit.averaged(group["value"].to_numpy(float)),
            group["slot"].map(place).to_numpy(float),
            group["worker"].to_numpy(),
            [group["submission"].to_numpy(), group["instance"].to_numpy()],
        )
        if one is not None:
            found[criterion] = (one, unit)
    return found
