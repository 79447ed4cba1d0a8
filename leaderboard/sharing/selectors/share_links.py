"""Links for showing or citing a board, with full addresses."""

from dataclasses import dataclass
from datetime import datetime

from django.urls import NoReverseMatch, reverse

from genie.lib.moment import stamp
from leaderboard.releases.models import Release
from leaderboard.sharing.selectors.picture import MOST_SYSTEMS
from leaderboard.sharing.selectors.plain import plain
from leaderboard.tasks.models import Task
from leaderboard.teams.selectors.site_urls import absolute


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
    return ShareLinks(
        kept=kept + query.removesuffix("?"),
        pictures=(
            ("SVG", f"{svg}?{of}".rstrip("?")),
            ("PNG", f"{png}?{of}".rstrip("?")),
            ("dark SVG", f"{svg}?theme=dark&{of}".rstrip("&")),
            ("dark PNG", f"{png}?theme=dark&{of}".rstrip("&")),
        ),
        most=MOST_SYSTEMS,
        picture_code=f"[![{_unlinked(task.title)}: leaderboard]"
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


def _unlinked(text: str) -> str:
    return "".join(sign for sign in plain(text) if sign not in "[]()\\`")
