"""Links between crowds, and the results of each platform's crowd."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crowd.platforms.base import kind_of
from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.boards.selectors.systems import System, systems
from leaderboard.evaluation.models.board_fit import BoardFit
from leaderboard.evaluation.price import quote_side_by_side
from leaderboard.evaluation.services import platform_crowds
from leaderboard.stats.crowds import CrowdComparison
from leaderboard.stats.systems.linking import LinkingConstant, Moved, moved
from leaderboard.stats.systems.variances import Variances
from leaderboard.tasks.models import Task

# more than fit on one page of a joint evaluation
_TOGETHER = 8


@dataclass(frozen=True)
class Link(LinkingConstant):
    """A crowd's ratings of an anchor's outputs minus its earlier ratings.

    Numbers are in points of the score, or in percent if scores are ratios. `anchor` is
    None if that system is no longer public.
    """

    system: System
    anchor: System | None
    unit: str
    moved: str


@dataclass(frozen=True)
class Again:
    systems: list[System]
    cents: int
    query: str


def links_of(task: Task, stored: Sequence[Mapping[str, Any]]) -> list[Link]:
    """Read the links of public systems from a board's fit."""
    wanted = [link[name] for link in stored for name in ("system", "anchor")]
    if not wanted:
        return []
    named = {one.pk: one for one in systems(task, list(dict.fromkeys(wanted)))}
    return [
        _link(named[link["system"]], named.get(link["anchor"]), link, task)
        for link in stored
        if link["system"] in named
    ]


def _link(
    system: System, anchor: System | None, stored: Mapping[str, Any], task: Task
) -> Link:
    numbers = {n: x for n, x in stored.items() if n not in ("system", "anchor")}
    verdict = moved(stored["low"], stored["high"], task.human.anchor_tolerance)
    return Link(**numbers, system=system, anchor=anchor, moved=verdict.value)


def moved_crowds(task: Task, stored: Sequence[Mapping[str, Any]]) -> list[Link]:
    """Return links whose crowd has surely moved by more than the task's tolerance."""
    return [link for link in links_of(task, stored) if link.moved == Moved.YES]


def again(task: Task, links: list[Link]) -> Again | None:
    if not links or not task.configuration.joint.criteria:
        return None
    both = [*(link.anchor for link in links), *(link.system for link in links)]
    together = list(dict.fromkeys(one for one in both if one is not None))[:_TOGETHER]
    if len(together) < 2:
        return None
    quote = quote_side_by_side(task.configuration.joint, task.sample_size, 1)
    query = "&".join(f"systems={one.pk}" for one in together)
    return Again(together, quote.total_cents, query)


@dataclass(frozen=True)
class TwoPools:
    criterion: str
    first: str
    second: str
    comparison: CrowdComparison

    @property
    def crowds(self) -> list[tuple[str, int, int, Variances]]:
        found, names = self.comparison, (self.first, self.second)
        parts = (found.n_ratings, found.n_workers, found.variances)
        return list(zip(names, *parts, strict=True))


def has_pools(task: Task) -> bool:
    return len(platform_crowds.platforms_of(task)) > 1


def pools_of(task: Task) -> list[TwoPools]:
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
    names: dict[int, str] = {}
    for one in systems(task, pks):
        number = f" ({one.pk})" if one.name in names.values() else ""
        names[one.pk] = f"{one.name}{number}"
    return names


def _read(criterion: str, stored: dict[str, Any], names: dict[int, str]) -> TwoPools:
    first, second = (kind_of(name).title for name in stored["platforms"])
    comparison = platform_crowds.comparison_of(stored, names)
    return TwoPools(criterion, first, second, comparison)
