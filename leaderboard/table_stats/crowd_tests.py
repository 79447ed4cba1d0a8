"""Tests that papers report, which are valid for this crowd only."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from leaderboard.stats.paired import (
    approximate_randomisation,
    paired_bootstrap,
    wilcoxon,
)
from leaderboard.stats.resampling import Floats
from leaderboard.table_stats.plans import paired_means
from leaderboard.table_stats.read import Codes, Labels

# Limit of pairs x instances x sign swaps, above which the tests would take minutes.
_AFFORDABLE = 1e9
_N_RESAMPLES = 10_000


@dataclass(frozen=True)
class NeighbourTests:
    """Two systems next to each other in the ranking, on the instances of both.

    The p-values are two-sided, of instance means, and not adjusted for the number of pairs.
    """

    a: str
    b: str
    n: int
    difference: float
    p_bootstrap: float
    p_randomisation: float
    p_wilcoxon: float


def neighbour_tests(
    values: Floats,
    systems: Labels,
    instances: Codes | None,
    ranked: Sequence[str],
    *,
    seed: int,
) -> tuple[NeighbourTests, ...]:
    """Test each system against the next; empty if that would take too long."""
    if instances is None:
        return ()
    n_instances = len(np.unique(instances))
    if float(n_instances) * len(ranked) * _N_RESAMPLES > _AFFORDABLE:
        return ()
    found = []
    for a, b in pairwise(ranked):
        first, second = paired_means(values, systems, instances, a, b)
        if len(first) < 2:
            continue
        by_bootstrap = paired_bootstrap(
            first, second, seed=seed, n_resamples=_N_RESAMPLES
        )
        by_swaps = approximate_randomisation(
            first, second, seed=seed, n_shuffles=_N_RESAMPLES
        )
        found.append(
            NeighbourTests(
                a,
                b,
                len(first),
                by_bootstrap.difference,
                by_bootstrap.p_value,
                by_swaps.p_value,
                wilcoxon(first, second).p_value,
            )
        )
    return tuple(found)
