"""Public events on boards for feeds, by today's scores."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from leaderboard.boards.selectors.history import Lead, Published, history
from leaderboard.boards.selectors.home import latest
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.sharing.selectors.plain import plain
from leaderboard.submissions.selectors.visibility import public
from leaderboard.tasks.models import Task
from leaderboard.tasks.selectors.made_elsewhere import mark_of
from leaderboard.teams.selectors.site_urls import absolute

MOST = 50
# A score that is final at once was never provisional for readers.
_AT_ONCE = timedelta(minutes=1)


@dataclass(frozen=True)
class Event:
    """A feed entry; `key` never changes."""

    key: str
    at: datetime
    title: str
    text: str
    address: str


def board_events(task: Task) -> list[Event]:
    story, mark = history(task), mark_of(task)
    systems = {one.pk: one for one in story.results}
    finals = HumanEvaluation.objects.filter(
        public("submission__"), submission__in=systems, final_at__isnull=False
    ).values_list("submission", "final_at")
    found = _newest(
        [
            *map(_published, story.results),
            # the first result has nobody to overtake
            *map(_lead, story.leads[1:]),
            *(
                _final(systems[pk], at)
                for pk, at in finals
                if at and at - systems[pk].at > _AT_ONCE
            ),
        ]
    )
    return [replace(one, title=f"{one.title}{mark}") for one in found]


def site_events() -> list[Event]:
    events = []
    for score in latest(MOST):
        submission = score.submission
        if submission.published_at is None:
            continue
        address = absolute("leaderboard:submission", submission.pk)
        result = _result(submission.system_name, score.mean, score.low, score.high)
        title = f"{submission.task.title}: {result}{_simulated(submission.simulated)}"
        text = f"{score.n:,} instances rated."
        events.append(
            Event(address, submission.published_at, plain(title), text, address)
        )
    return _newest(events)


def _published(one: Published) -> Event:
    note = " Provisional: which ratings count is still being checked."
    return _event(
        one,
        "",
        one.at,
        f"{_result(one.system, one.mean, one.low, one.high)}{_simulated(one.simulated)}",
        f"{one.n:,} of {one.of:,} instances rated.{note if one.provisional else ''}",
    )


def _lead(lead: Lead) -> Event:
    one, gain = lead.result, lead.gain or 0.0
    sure = (
        "The board’s comparisons place it above the one before."
        if lead.sure
        else "The board’s comparisons do not tell it apart from the one before."
    )
    return _event(
        one,
        "#lead",
        one.at,
        f"New best score: {one.system}{_simulated(one.simulated)}",
        f"{gain:.1f} more than the best before. {sure}",
    )


def _final(one: Published, at: datetime) -> Event:
    title = f"Final: {_result(one.system, one.mean, one.low, one.high)}"
    return _event(
        one,
        "#final",
        at,
        f"{title}{_simulated(one.simulated)}",
        "Nothing is open any more that could change which ratings count.",
    )


def _event(one: Published, what: str, at: datetime, title: str, text: str) -> Event:
    address = absolute("leaderboard:submission", one.pk)
    return Event(f"{address}{what}", at, plain(title), text, address)


def _newest(events: Iterable[Event]) -> list[Event]:
    return sorted(events, key=lambda one: (one.at, one.key), reverse=True)[:MOST]


def _result(system: str, mean: float, low: float, high: float) -> str:
    return f"{system} {mean:.1f} [{low:.1f}, {high:.1f}]"


def _simulated(simulated: bool) -> str:
    return " (simulated, not rated by people)" if simulated else ""
