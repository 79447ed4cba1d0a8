from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from genie.lib.moment import stamp
from leaderboard.boards.exports.markdown import rank_of
from leaderboard.boards.selectors.columns import score_range
from leaderboard.boards.selectors.rows import Human, Row
from leaderboard.boards.selectors.standings import Standings, standings
from leaderboard.charts.axis import Axis, axis_over
from leaderboard.sharing.selectors.plain import plain
from leaderboard.tasks.models import Task
from leaderboard.tasks.selectors.made_elsewhere import MARK
from leaderboard.teams.selectors.site_urls import absolute

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
    lines = [_line(row, row.human) for row in rows[:limit] if row.human]
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
        date=_date(at),
        address=address_of(task, at),
    )


def address_of(task: Task, at: datetime | None) -> str:
    if at is None:
        return absolute("leaderboard:board", task.slug)
    return absolute("leaderboard:board-at", task.slug, stamp(at))


def _date(at: datetime | None) -> str:
    return f"as of {at:%-d %B %Y, %H:%M} UTC" if at else f"{timezone.now():%-d %B %Y}"


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
    parts.append(f"{scores}, with 95 % intervals")
    if rows.n_judged:
        low, high = rows.n_judged
        n = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        parts.append(f"{n} instances per system")
    return " · ".join(parts)
