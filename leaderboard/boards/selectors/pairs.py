"""How sure it is that one system beats another, and what it would take to know."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from genie.lib.errors import GenieError
from genie.lib.seeds import seed_from
from genie.lib.serving.computed_once import computed_once
from leaderboard.boards.selectors.shared_instances import Shared, System
from leaderboard.stats.all_pairs import AllPairs, compare_all
from leaderboard.stats.power import plan_power
from leaderboard.tasks.models import Task

POWER = 0.8
ALPHA = 0.05
_KEPT_SECONDS = 3600


@dataclass(frozen=True)
class Pair:
    """Two systems, the better-looking one first.

    Parameters
    ----------
    a, b : System
    p_above : float
        Share of resamples in which a's mean is higher; ties count half.
    p_value : float
        Two-sided, of this pair alone.
    difference : float
        Of the means, in points.
    more_ratings, more_cents : int or None
        Ratings of both systems together that are still missing for a difference as
        large as this one to be found four times in five, and what they cost; None when
        no number of instances is enough, 0 when the pair is significantly different already. They narrow
        only what comes from the instances, not what comes from the workers.
    more_instances : int
        How many instances that takes in all; 0 where more_ratings is None.
    """

    a: System
    b: System
    p_above: float
    p_value: float
    difference: float
    more_ratings: int | None
    more_cents: int | None
    more_instances: int

    @property
    def apart(self) -> bool:
        return self.p_value <= ALPHA


@dataclass(frozen=True)
class Matrix:
    """All pairs: entry i, j of `p_above` is P(i > j)."""

    systems: tuple[System, ...]
    p_above: list[list[float]]
    pairs: list[Pair]
    n_instances: int
    n_resamples: int


def matrix(task: Task, shared: Shared, *, cents_per_rating: float) -> Matrix | None:
    """Compare every pair; None when fewer than two systems share two instances."""
    if len(shared.systems) < 2 or shared.n_instances < 2:
        return None
    # the signature changes with any of the scores, the price with the task's pay
    key = f"pairs-{shared.signature}-{cents_per_rating:.4f}"
    return computed_once(
        key, lambda: _matrix(task, shared, cents_per_rating), _KEPT_SECONDS
    )


def _matrix(task: Task, shared: Shared, cents_per_rating: float) -> Matrix:
    table = shared.values[:, :, 0]
    all_pairs = compare_all(
        table,
        seed=seed_from("pairs", task.slug),
        n_resamples=settings.GENIE["BOOTSTRAP_RESAMPLES"],
    )
    pairs = [
        _pair(shared, all_pairs, i, j, cents_per_rating)
        for i in range(len(shared.systems))
        for j in range(i + 1, len(shared.systems))
    ]
    return Matrix(
        shared.systems,
        all_pairs.p_above.tolist(),
        pairs,
        all_pairs.n_instances,
        all_pairs.n_resamples,
    )


def _pair(
    shared: Shared, all_pairs: AllPairs, i: int, j: int, cents_per_rating: float
) -> Pair:
    p_value = float(all_pairs.p_values[i, j])
    ratings, cents, instances = (
        (0, 0, all_pairs.n_instances)
        if p_value <= ALPHA
        else _missing(all_pairs, i, j, cents_per_rating)
    )
    return Pair(
        a=shared.systems[i],
        b=shared.systems[j],
        p_above=float(all_pairs.p_above[i, j]),
        p_value=p_value,
        difference=float(all_pairs.differences[i, j]),
        more_ratings=ratings,
        more_cents=cents,
        more_instances=instances,
    )


def _missing(
    all_pairs: AllPairs, i: int, j: int, cents_per_rating: float
) -> tuple[int | None, int | None, int]:
    """Plan the ratings that are still missing, if the difference is what it seems."""
    n = all_pairs.n_instances
    difference = float(all_pairs.differences[i, j])
    # the standard error has the variance divided by n
    sd = float(all_pairs.standard_errors[i, j]) * n / (n - 1) ** 0.5
    if difference == 0 or sd == 0:
        return None, None, 0
    try:
        plan = plan_power(
            difference,
            sd,
            power=POWER,
            alpha=ALPHA,
            cents_per_rating=cents_per_rating,
            basis="the ratings so far",
        )
    except GenieError:
        return None, None, 0
    # each further instance takes one rating of either system
    more = 2 * max(0, plan.n_instances - n)
    return more, round(more * cents_per_rating), plan.n_instances
