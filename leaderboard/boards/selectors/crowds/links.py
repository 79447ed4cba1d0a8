"""Which systems' crowds are linked to an earlier one, and which have moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.boards.selectors.systems import System, systems
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.price import quote_side_by_side
from leaderboard.stats.systems.linking import Moved, moved
from leaderboard.submissions.selectors.visibility import public
from leaderboard.tasks.models import Task

# more than fit on one page of a joint evaluation
_TOGETHER = 8


@dataclass(frozen=True)
class Link:
    """What a system's crowd gives outputs of an anchor, less what they had before.

    Numbers are in points of the score, or in percent where scores are ratios. `anchor`
    is None where that system is not public any more.
    """

    system: System
    anchor: System | None
    estimate: float
    low: float
    high: float
    standard_error: float
    unit: str
    n_outputs: int
    n_ratings: int
    n_workers: int
    moved: str


@dataclass(frozen=True)
class Again:
    """What it costs to have the systems of two crowds judged by one."""

    systems: list[System]
    cents: int
    query: str


def links_of(task: Task, criterion: str) -> list[Link]:
    """Give the links of the board's systems on one criterion, newest crowd first."""
    rows = Score.objects.filter(
        public("submission__"),
        submission__task=task,
        submission__published_at__isnull=False,
        superseded_at=None,
        criterion=criterion,
        link__isnull=False,
    )
    stored = dict(
        rows.order_by("-submission__published_at", "-submission_id").values_list(
            "submission_id", "link"
        )
    )
    wanted = [*stored, *(link["anchor"] for link in stored.values())]
    named = {one.pk: one for one in systems(task, list(dict.fromkeys(wanted)))}
    return [
        _link(named[pk], named.get(link["anchor"]), link, task.human.anchor_tolerance)
        for pk, link in stored.items()
        if pk in named
    ]


def _link(
    system: System, anchor: System | None, stored: Mapping[str, Any], tolerance: float
) -> Link:
    numbers = {name: value for name, value in stored.items() if name != "anchor"}
    verdict = moved(stored["low"], stored["high"], tolerance)
    return Link(system, anchor, **numbers, moved=verdict.value)


def moved_crowds(task: Task) -> list[Link]:
    """Give the systems whose crowd has surely moved by more than the task's tolerance."""
    links = links_of(task, main_criterion(task))
    return [link for link in links if link.moved == Moved.YES]


def again(task: Task, links: list[Link]) -> Again | None:
    """Price that one crowd judges the systems of these links and their anchors together."""
    if not links or not task.configuration.joint.criteria:
        return None
    both = [*(link.anchor for link in links), *(link.system for link in links)]
    together = list(dict.fromkeys(one for one in both if one is not None))[:_TOGETHER]
    if len(together) < 2:
        return None
    quote = quote_side_by_side(task.configuration.joint, task.sample_size, 1)
    query = "&".join(f"systems={one.pk}" for one in together)
    return Again(together, quote.total_cents, query)
