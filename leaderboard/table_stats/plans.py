"""Size of a similar next study, estimated from this one."""

from dataclasses import dataclass

import numpy as np

from genie.lib.errors import GenieError
from leaderboard.stats.intervals import Floats
from leaderboard.stats.mixed import Components
from leaderboard.stats.planning import plan_half_width
from leaderboard.stats.power import paired_power, pilot_sd_of_difference, plan_power
from leaderboard.stats.systems.estimates import SystemEstimates
from leaderboard.table_stats.read import Codes, Labels

_PARTS = (1.0, 0.5, 0.25)


@dataclass(frozen=True)
class Needed:
    """Ratings per system for an aim; None if no number of them is enough."""

    aim: str
    instances: int | None
    workers: int | None
    ratings: int | None


def needed_ratings(
    components: Components,
    estimates: SystemEstimates,
    values: Floats,
    systems: Labels,
    instances: Codes | None,
) -> tuple[Needed, ...]:
    """Plan for narrower intervals, and to separate the first two systems."""
    widths = [
        estimates.interval(name).half_width
        for name, workers in zip(estimates.systems, estimates.n_workers, strict=True)
        if workers > 1
    ]
    each = max(round(float((estimates.n / estimates.n_workers).mean())), 1)
    mean = float(np.mean(widths or [0.0]))
    aims = [part * mean for part in _PARTS if mean > 0 and components.total > 0]
    plans = [_for_width(aim, components, each) for aim in aims]
    two = _first_two(estimates, values, systems, instances)
    return tuple(filter(None, (*plans, two)))


def _for_width(aim: float, components: Components, each: int) -> Needed:
    words = f"half-width {aim:.3g}, {each} ratings per worker and system"
    try:
        plan = plan_half_width(aim, components, ratings_per_worker=each)
    except GenieError:
        return Needed(words, None, None, None)
    return Needed(words, plan.n_instances, plan.n_workers, plan.n_ratings)


def _first_two(
    estimates: SystemEstimates, values: Floats, systems: Labels, instances: Codes | None
) -> Needed | None:
    if instances is None or len(estimates.systems) < 2:
        return None
    order = np.lexsort((np.arange(len(estimates.means)), -estimates.means))
    first, second = (estimates.systems[i] for i in order[:2])
    gap = float(estimates.means[order[0]] - estimates.means[order[1]])
    a, b = paired_means(values, systems, instances, first, second)
    if len(a) < 2 or gap <= 0:
        return None
    spread = pilot_sd_of_difference(a, b)
    if spread <= 0:
        return None
    power = paired_power(len(a), gap, spread)
    words = (
        f"power 80% for {first} against {second} by the same crowd "
        f"({100 * power:.0f}% with {len(a)} instances)"
    )
    try:
        plan = plan_power(gap, spread)
    except GenieError:
        return Needed(words, None, None, None)
    return Needed(words, plan.n_instances, None, plan.n_ratings)


def paired_means(
    values: Floats, systems: Labels, instances: Codes, first: str, second: str
) -> tuple[Floats, Floats]:
    """Return two systems' means on the instances that both have ratings on."""
    n = int(instances.max()) + 1
    means = []
    for name in (first, second):
        rows = systems.codes == systems.names.index(name)
        counts = np.bincount(instances[rows], minlength=n)
        sums = np.bincount(instances[rows], values[rows], n)
        with np.errstate(invalid="ignore"):
            means.append(sums / counts)
    both = ~np.isnan(means[0]) & ~np.isnan(means[1])
    return means[0][both], means[1][both]
