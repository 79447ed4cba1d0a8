"""A board under a visitor's own weights over its criteria."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from genie.lib.seeds import seed_from
from genie.lib.serving.computed_once import computed_once
from leaderboard.boards.selectors.shared_instances import Shared, System
from leaderboard.stats.weighted import Weighted, resampled, weigh
from leaderboard.tasks.models import Task

LARGEST = 100.0
_RESAMPLES = 2_000
_KEPT_SECONDS = 3600


@dataclass(frozen=True)
class WeightedRow:
    """A system's place under the weights, in points."""

    system: System
    result: Weighted


def read_weights(
    criteria: list[str], parameters: Mapping[str, str]
) -> dict[str, float]:
    """Read `w.<criterion>=number`; what is missing or no weight is 1 or 0.

    Where nothing is left but zeros, all criteria weigh the same.
    """
    weights = {name: _weight(parameters.get(f"w.{name}")) for name in criteria}
    return weights if any(weights.values()) else dict.fromkeys(criteria, 1.0)


def _weight(text: str | None) -> float:
    if text is None:
        return 1.0
    try:
        value = float(text)
    except ValueError:
        return 0.0
    # an address can say inf or nan, which would make every weighted mean the same
    return min(max(value, 0.0), LARGEST) if math.isfinite(value) else 0.0


def weighted_rows(
    task: Task, shared: Shared, weights: Mapping[str, float]
) -> list[WeightedRow]:
    """Rank under the weights; the resamples are drawn once for all weights."""
    if not shared.systems or shared.n_instances < 2:
        return []
    drawn = computed_once(
        f"weights-{shared.signature}",
        lambda: resampled(
            shared.values,
            seed=seed_from("weights", task.slug),
            n_resamples=_RESAMPLES,
        ),
        _KEPT_SECONDS,
    )
    # the expensive part is kept: new weights only average the stored draws anew
    results = weigh(drawn, [weights[name] for name in shared.criteria])
    rows = [
        WeightedRow(system, _in_points(result, logarithmic=shared.unit.logarithmic))
        for system, result in zip(shared.systems, results, strict=True)
    ]
    return sorted(rows, key=lambda row: (-row.result.estimate, row.system.pk))


def _in_points(result: Weighted, *, logarithmic: bool) -> Weighted:
    if not logarithmic:
        return result
    low, estimate, high = (
        # magnitudes are averaged as logarithms: back to geometric means, 100 for the
        # reference
        100 * math.exp(value)
        for value in (result.low, result.estimate, result.high)
    )
    return replace(result, low=low, estimate=estimate, high=high)
