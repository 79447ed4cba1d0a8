"""A page's metadata for search engines and chats: title, description, address, picture.

Only public pages have them.
"""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from leaderboard.sharing.selectors.plain import plain
from leaderboard.submissions.models.submission import Submission
from leaderboard.submissions.selectors.visibility import ON_BOARD, is_public
from leaderboard.tasks.models import Task
from leaderboard.tasks.selectors.made_elsewhere import mark_of
from leaderboard.teams.selectors.site_urls import absolute

_SITE = (
    "Human-evaluation leaderboards for text generation: systems ranked by people, every "
    "score with its interval."
)
OF_SITE = {
    "leaderboard:home": _SITE,
    "leaderboard:tasks": "All benchmark tasks on this site, with their best systems by human score.",
    "leaderboard:how-it-works": "How systems are rated by people here: samples, test questions, "
    "intervals, ranks.",
    "leaderboard:privacy": "What this site keeps of submitters and workers, and for how long.",
    "leaderboard:public-log": "The public log: every score and decision, in an order that "
    "nobody can change unnoticed.",
}
_BOARD = "systems ranked by human evaluation, with 95 % intervals."
# moments, filters and frames link to "board", too
_OF_TASK = {
    "board": _BOARD,
    "board-at": _BOARD,
    "about": "what the task asks for, its data, and what people are asked.",
    "differences": "which differences between systems are significant, and what it would "
    "take to be sure.",
    "evidence": "what the scores rest on: workers, instances, agreement.",
    "crowds": "how two crowds rated the same systems.",
    "weights": "ranks under weights of one’s own.",
    "story": "the best human score over time.",
    "metric-board": "how far automatic metrics follow people.",
    "comparisons": "systems compared directly by people.",
    "guidelines": "what people are told before they rate.",
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
