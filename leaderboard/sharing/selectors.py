from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils import timezone

from genie.lib.moment import stamp
from leaderboard.boards.exports.markdown import rank_of
from leaderboard.boards.selectors.columns import score_range
from leaderboard.boards.selectors.history import (
    Lead,
    Published,
    newest_leads,
    read_results,
    results_of,
)
from leaderboard.boards.selectors.home import latest
from leaderboard.boards.selectors.rows import Human, Row, Standings, standings
from leaderboard.charts import Axis, axis_over, format_score
from leaderboard.releases.models import Release
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import ON_BOARD, is_public, public
from leaderboard.tasks.models import Task
from leaderboard.tasks.selectors import MARK, mark_of
from leaderboard.teams.selectors import absolute


# User-supplied texts, cleaned for other formats.
def plain(text: str) -> str:
    """Remove characters that XML forbids, and those that change the text direction."""
    return "".join(sign for sign in text if sign.isprintable())


# Public events on boards for feeds, by today's scores.
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
    results, mark = results_of(task), mark_of(task)
    finals = dict(
        Submission.objects.filter(
            public(),
            task=task,
            human_evaluation__final_at__gt=F("published_at") + _AT_ONCE,
        )
        .order_by("-human_evaluation__final_at")
        .values_list("pk", "human_evaluation__final_at")[:MOST]
    )
    made_final = read_results(results.filter(submission__in=finals))
    leads = newest_leads(task, MOST)
    found = _newest(
        [
            *map(_publication, read_results(results.reverse()[:MOST])),
            # The first result has no earlier leader.
            *(_lead(lead) for lead in leads if lead.gain is not None),
            *(_final(one, at) for one in made_final if (at := finals[one.pk])),
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
        result = f"{submission.system_name} {format_score(score)}"
        title = (
            f"{submission.task.title}: {result}{_simulation_note(submission.simulated)}"
        )
        text = f"{score.n:,} instances rated."
        events.append(
            Event(address, submission.published_at, plain(title), text, address)
        )
    return _newest(events)


def _publication(one: Published) -> Event:
    note = " Provisional: ratings are still being checked."
    return _event(
        one,
        "",
        one.at,
        f"{one.system} {format_score(one)}{_simulation_note(one.simulated)}",
        f"{one.n:,} of {one.of:,} instances rated.{note if one.provisional else ''}",
    )


def _lead(lead: Lead) -> Event:
    one, gain = lead.result, lead.gain or 0.0
    sure = (
        "It is significantly better than the previous leader."
        if lead.sure
        else "It is not significantly different from the previous leader."
    )
    return _event(
        one,
        "#lead",
        one.at,
        f"New best score: {one.system}{_simulation_note(one.simulated)}",
        f"{gain:.1f} more than the previous best. {sure}",
    )


def _final(one: Published, at: datetime) -> Event:
    title = f"Final: {one.system} {format_score(one)}"
    return _event(
        one,
        "#final",
        at,
        f"{title}{_simulation_note(one.simulated)}",
        "The set of ratings that count is final.",
    )


def _event(one: Published, what: str, at: datetime, title: str, text: str) -> Event:
    address = absolute("leaderboard:submission", one.pk)
    return Event(f"{address}{what}", at, plain(title), text, address)


def _newest(events: Iterable[Event]) -> list[Event]:
    return sorted(events, key=lambda one: (one.at, one.key), reverse=True)[:MOST]


def _simulation_note(simulated: bool) -> str:
    return " (simulated, not rated by people)" if simulated else ""


# A page's metadata for search engines and chats: title, description, address, picture.
#
# Only public pages have them.
OF_SITE = {
    "leaderboard:home": "Human-evaluation leaderboards for text generation. Systems are ranked by "
    "people, and every score has an interval.",
    "leaderboard:tasks": "All benchmark tasks on this site, with their best systems by human score.",
    "leaderboard:how-it-works": "How people rate systems here: samples, test questions, intervals, ranks.",
    "leaderboard:privacy": "Data that this site keeps about submitters and workers, and for how long.",
    "leaderboard:public-log": "The public log of every score and decision, in which changes are detectable.",
}
_BOARD = "systems ranked by human evaluation, with 95% intervals."
# moments, filters and frames link to "board", too
_OF_TASK = {
    "board": _BOARD,
    "board-at": _BOARD,
    "about": "the task, its data, and the questions to raters.",
    "differences": "significant differences between systems, and the ratings needed to be sure.",
    "evidence": "the evidence behind the scores: raters, instances, agreement.",
    "crowds": "how two crowds rated the same systems.",
    "weights": "ranks under your own weights.",
    "story": "the best human score over time.",
    "metric-board": "how well automatic metrics agree with people.",
    "comparisons": "systems compared directly by people.",
    "guidelines": "the instructions that raters read.",
}


@dataclass(frozen=True)
class PageCard:
    """Full addresses; `feed` is the board's, or else the site's."""

    description: str
    address: str
    picture: str
    feed: str
    feed_title: str


def page_card(request: HttpRequest, context: dict[str, Any]) -> PageCard | None:
    """Describe the page being rendered; None if it is not public.

    Unlisted pages are described by their block `description`.
    """
    match = request.resolver_match
    if match is None:
        return None
    name, task = match.view_name, context.get("task")
    space, _, page = name.rpartition(":")
    if name in OF_SITE:
        return _card(request, OF_SITE[name])
    if space == "leaderboard" and page in _OF_TASK and isinstance(task, Task):
        return _of_task(request, page, task)
    submission = context.get("submission")
    if page in {"submission", "card"} and isinstance(submission, Submission):
        return _of_submission(request, submission)
    described = context.get("page_description")
    return _card(request, described) if described else None


def _of_task(request: HttpRequest, page: str, task: Task) -> PageCard:
    words = f"{task.title}{mark_of(task)}: {_OF_TASK[page]} {task.summary}"
    whole = page in {"board", "board-at"}
    path = reverse("leaderboard:board", args=[task.slug]) if whole else ""
    return _card(request, words, path, task)


def _of_submission(request: HttpRequest, submission: Submission) -> PageCard | None:
    # a withdrawn one keeps its page for readers with a link
    if not is_public(submission) or submission.state not in ON_BOARD:
        return None
    task = submission.task
    words = f"{submission.system_name} on {task.title}{mark_of(task)}: human scores, outputs, metrics."
    return _card(request, words, "", task)


def _card(
    request: HttpRequest, words: str, path: str = "", task: Task | None = None
) -> PageCard:
    site = str(settings.GENIE["SITE_URL"]).rstrip("/")
    # without the query: a filter makes no separate page
    address = site + (path or request.path)
    text = plain(" ".join(words.split()))
    text = text if len(text) <= 300 else f"{text[:299]}…"
    if task is None:
        picture, feed = absolute("leaderboard:site-card"), "leaderboard:site-feed"
        return PageCard(text, address, picture, absolute(feed), "Genie: new results")
    return PageCard(
        text,
        address,
        absolute("leaderboard:board-card", task.slug),
        absolute("leaderboard:board-feed", task.slug),
        f"{task.title}: news",
    )


MOST_SYSTEMS = 25


@dataclass(frozen=True)
class Line:
    rank: str
    system: str
    note: str
    human: Human
    simulated: bool


@dataclass(frozen=True)
class BoardPicture:
    title: str
    about: str
    imported: bool
    lines: tuple[Line, ...]
    n_more: int
    axis: Axis | None
    date: str
    address: str


def picture_of(
    task: Task, at: datetime | None = None, *, limit: int = MOST_SYSTEMS
) -> BoardPicture:
    """Return the first systems with a score, as an anonymous visitor sees them."""
    rows = standings(task, at=at)
    # a picture would put systems of different crowds in an order
    shown = [] if rows.groups else rows[:limit]
    lines = [_line(row, row.human) for row in shown if row.human]
    n_scored = rows.n_rated_by_people + rows.n_rated_by_programs
    low = min((line.human.low for line in lines), default=0.0)
    high = max((line.human.high for line in lines), default=100.0)
    return BoardPicture(
        title=plain(task.title),
        about=_about(rows, n_scored, score_range(task), imported=task.imported),
        imported=task.imported,
        lines=tuple(lines),
        n_more=n_scored - len(lines),
        axis=axis_over(low, high) if lines else None,
        date=(
            f"as of {at:%-d %B %Y, %H:%M} UTC" if at else f"{timezone.now():%-d %B %Y}"
        ),
        address=address_of(task, at),
    )


def address_of(task: Task, at: datetime | None) -> str:
    if at is None:
        return absolute("leaderboard:board", task.slug)
    return absolute("leaderboard:board-at", task.slug, stamp(at))


def _line(row: Row, human: Human) -> Line:
    notes = ["simulated"] if row.simulated else []
    notes += ["provisional"] if human.provisional else []
    notes += [str(row.partial)] if row.partial else []
    return Line(rank_of(row), plain(row.system), ", ".join(notes), human, row.simulated)


def _about(rows: Standings, n_scored: int, ends: str, *, imported: bool) -> str:
    if not n_scored:
        return (
            f"No scores yet, {rows.n_pending:,} waiting"
            if rows.n_all
            else "No systems yet"
        )
    scores = (
        "Simulated scores, not rated by people"
        if not rows.n_rated_by_people
        else f"Human scores{ends}"
    )
    parts = [MARK.capitalize()] if imported else []
    parts.append(f"{scores}, with 95% intervals")
    if rows.groups:
        parts.append(
            "not ordered, because raters and anchors do not connect all systems"
        )
    if rows.n_judged:
        low, high = rows.n_judged
        n = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        parts.append(f"{n} instances per system")
    return " · ".join(parts)


# Links for showing or citing a board, with full addresses.
@dataclass(frozen=True)
class ShareLinks:
    """Addresses to copy; `records` is empty if this site has none.

    `pictures` are of the displayed moment, unless that is now.
    """

    kept: str
    pictures: tuple[tuple[str, str], ...]
    most: int
    picture_code: str
    records: str


def share_links(
    task: Task, moment: str, query: str = "", at: datetime | None = None
) -> ShareLinks:
    """Return links for `query` and the moment `at`; `moment` is a stamp of now."""
    kept = absolute("leaderboard:board-at", task.slug, moment)
    svg, png = (
        reverse(f"leaderboard:board-{form}", args=[task.slug])
        for form in ("svg", "png")
    )
    of = f"at={stamp(at)}" if at else ""
    board = absolute("leaderboard:board", task.slug)
    unlinked = "".join(sign for sign in plain(task.title) if sign not in "[]()\\`")
    return ShareLinks(
        kept=kept + query.removesuffix("?"),
        pictures=(
            ("SVG", f"{svg}?{of}".rstrip("?")),
            ("PNG", f"{png}?{of}".rstrip("?")),
            ("dark SVG", f"{svg}?theme=dark&{of}".rstrip("&")),
            ("dark PNG", f"{png}?theme=dark&{of}".rstrip("&")),
        ),
        most=MOST_SYSTEMS,
        picture_code=f"[![{unlinked}: leaderboard]"
        f"({absolute('leaderboard:board-svg', task.slug)})]({board})",
        records=_records(task),
    )


def _records(task: Task) -> str:
    try:
        return reverse("leaderboard:board-records", args=[task.slug])
    except NoReverseMatch:
        return ""


def croissant_of(task: Task) -> str:
    ready = Release.objects.filter(task=task, state=Release.State.DONE)
    return reverse("leaderboard:croissant", args=[task.slug]) if ready.exists() else ""
