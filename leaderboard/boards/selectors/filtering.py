"""Filters of a board's rows; ranks stay those of the whole board."""

from dataclasses import dataclass
from datetime import date
from typing import Literal

from django.db.models import Q
from django.http import QueryDict
from django.utils import timezone

from leaderboard.submissions.models import Submission
from leaderboard.tasks.models import Task

Kind = Literal["", "people", "simulated"]
# `none` selects ordinary systems
NO_BASELINE = "none"
BASELINES: dict[str, str] = {
    Submission.Baseline.REFERENCE.value: "human reference",
    Submission.Baseline.BASELINE.value: "baseline",
    NO_BASELINE: "no baseline",
}


@dataclass(frozen=True)
class Filter:
    # part of a system's or a team's name
    text: str = ""
    # a team's slug
    team: str = ""
    kind: Kind = ""
    since: date | None = None
    until: date | None = None
    # only rows with a score from people
    scored: bool = False
    # a kind of baseline, or none
    baseline: str = ""

    @property
    def by_row(self) -> bool:
        """Whether rows have to be looked up in the database."""
        return bool(self.text or self.team or self.since or self.until or self.baseline)

    def __bool__(self) -> bool:
        return self != Filter()


ALL = Filter()
_KINDS: dict[str, Kind] = {"people": "people", "simulated": "simulated"}
_LONGEST = 100


def read_filter(parameters: QueryDict) -> Filter:
    """Read a filter from an address; unknown values are ignored."""
    baseline = parameters.get("baseline", "")
    return Filter(
        text=parameters.get("q", "").replace("\0", "").strip()[:_LONGEST],
        team=parameters.get("team", "").replace("\0", "").strip()[:_LONGEST],
        kind=_KINDS.get(parameters.get("kind", ""), ""),
        since=_day(parameters.get("since", "")),
        until=_day(parameters.get("until", "")),
        scored=parameters.get("scored") == "1",
        baseline=baseline if baseline in BASELINES else "",
    )


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def matching_pks(task: Task, chosen: Filter, teams: frozenset[int]) -> list[int] | None:
    """Return matching rows; None if all match. Anonymous teams' names never match."""
    if not chosen.by_row:
        return None
    # a search must not disclose the team of an anonymous system, not even by a missing
    # row
    named = Q(anonymous_until=None) | Q(anonymous_until__lte=timezone.localdate())
    if teams:
        named |= Q(team__in=teams)
    rows = Submission.objects.filter(task=task)
    if chosen.text:
        # PostgreSQL refuses NUL in a text, and an address can contain one
        text = chosen.text.replace("\x00", "")
        rows = rows.filter(
            Q(system_name__icontains=text) | named & Q(team__name__icontains=text)
        )
    if chosen.team:
        rows = rows.filter(named, team__slug=chosen.team.replace("\x00", ""))
    if chosen.since:
        rows = rows.filter(created_at__date__gte=chosen.since)
    if chosen.until:
        rows = rows.filter(created_at__date__lte=chosen.until)
    if chosen.baseline:
        kind = "" if chosen.baseline == NO_BASELINE else chosen.baseline
        rows = rows.filter(baseline=kind)
    return list(rows.order_by().values_list("pk", flat=True))
