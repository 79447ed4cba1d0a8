"""One task judged by crowds of several platforms: what they say of the same systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from crowd.platforms.base import kind_of
from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.boards.selectors.systems import systems
from leaderboard.evaluation.models.board_fit import BoardFit
from leaderboard.evaluation.services import platform_crowds
from leaderboard.stats.crowds.agreement import CrowdComparison
from leaderboard.stats.systems.variances import Variances
from leaderboard.tasks.models import Task


@dataclass(frozen=True)
class TwoPools:
    """Two platforms' crowds on one criterion; systems by name."""

    criterion: str
    first: str
    second: str
    comparison: CrowdComparison

    @property
    def crowds(self) -> list[tuple[str, int, int, Variances]]:
        """Give each crowd's name, ratings, workers and variances."""
        found, names = self.comparison, (self.first, self.second)
        parts = (found.n_ratings, found.n_workers, found.variances)
        return list(zip(names, *parts, strict=True))


def has_pools(task: Task) -> bool:
    """Tell whether the board's systems were judged on several platforms."""
    return len(platform_crowds.platforms_of(task)) > 1


def pools_of(task: Task) -> list[TwoPools]:
    """Read what the board's fit keeps of each two platforms that judged the same systems."""
    # without the fit itself, which is large
    rows = BoardFit.objects.filter(task=task, of=None, superseded_at=None)
    stored = rows.values_list("evidence", flat=True).first() or {}
    main = main_criterion(task)
    found = [
        (criterion, one)
        for criterion in sorted(stored, key=lambda name: (name != main, name))
        for one in stored[criterion].get("crowds", ())
    ]
    pks = {int(one["system"]) for _, two in found for one in two["systems"]}
    names = _names(task, sorted(pks))
    return [_read(criterion, one, names) for criterion, one in found]


def _names(task: Task, pks: list[int]) -> dict[int, str]:
    """Name those that are public; of one name, the later ones with their number."""
    names: dict[int, str] = {}
    for one in systems(task, pks):
        number = f" ({one.pk})" if one.name in names.values() else ""
        names[one.pk] = f"{one.name}{number}"
    return names


def _read(criterion: str, stored: dict[str, Any], names: dict[int, str]) -> TwoPools:
    first, second = (kind_of(name).title for name in stored["platforms"])
    comparison = platform_crowds.comparison_of(stored, names)
    return TwoPools(criterion, first, second, comparison)
