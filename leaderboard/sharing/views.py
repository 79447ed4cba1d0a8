import hashlib
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib.syndication.views import Feed
from django.db.models import Max
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import escape
from django.views.decorators.http import conditional_page

from genie.accounts.throttles import limit_files
from genie.lib.moment import read_moment, stamp
from genie.lib.serving.caches import computed as cache
from genie.lib.serving.caches import computed_once
from leaderboard.boards.selectors.version import KEPT_SECONDS, state
from leaderboard.boards.views import files
from leaderboard.sharing.charts import CARD, CARD_SYSTEMS, PICTURE, THEMES, as_png, draw
from leaderboard.sharing.selectors import (
    OF_SITE,
    Event,
    board_events,
    picture_of,
    site_events,
)
from leaderboard.site.docs.contents import slugs
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import public
from leaderboard.tasks.models import Task
from leaderboard.teams.selectors import absolute

if TYPE_CHECKING:
    _Feed = Feed[Event, Any]
else:
    _Feed = Feed  # a generic type to checkers alone

_FRESH_SECONDS = 300


class _Site(HttpRequest):
    """A job has no request; the addresses in a feed are the site's in any case."""

    def get_host(self) -> str:
        return urlsplit(str(settings.GENIE["SITE_URL"])).netloc


class _Events(_Feed):
    feed_type = Atom1Feed
    language = "en"
    author_name = "Genie"

    def item_title(self, item: Event) -> str:
        return item.title

    def item_description(self, item: Event) -> str:
        return item.text

    def item_link(self, item: Event) -> str:
        return item.address

    def item_guid(self, item: Event) -> str:
        return item.key

    def item_pubdate(self, item: Event) -> Any:
        return item.at

    def item_updateddate(self, item: Event) -> Any:
        return item.at


class BoardFeed(_Events):
    def title(self, task: Task) -> str:
        return f"{task.title}: leaderboard · Genie"

    def subtitle(self, task: Task) -> str:
        return task.summary

    def link(self, task: Task) -> str:
        return absolute("leaderboard:board", task.slug)

    def feed_url(self, task: Task) -> str:
        return absolute("leaderboard:board-feed", task.slug)

    def items(self, task: Task) -> list[Event]:
        return board_events(task)


def board_feed(request: HttpRequest, slug: str) -> HttpResponse:
    return _show(request, get_object_or_404(Task, slug=slug), "feed.atom")


def _feed(task: Task) -> bytes:
    text: str = BoardFeed().get_feed(task, _Site()).writeString("utf-8")
    return text.encode()


class SiteFeed(_Events):
    title = "Genie: new results"
    subtitle = "Human-evaluation leaderboards for text generation"

    def link(self) -> str:
        return absolute("leaderboard:home")

    def feed_url(self) -> str:
        return absolute("leaderboard:site-feed")

    def items(self) -> list[Event]:
        return site_events()


@conditional_page
def site_feed(request: HttpRequest) -> HttpResponse:
    return _fresh(SiteFeed()(request))


# Work, accounts and pages of staff should not be indexed; private ones need an account
# in any case.
_NOT_TO_BE_FOUND = (
    *("/account/", "/admin/", "/hooks/", "/language/", "/login/", "/logout/"),
    *("/requester/", "/studio/", "/team-invitation/", "/teams/", "/turk", "/work/"),
)


def robots_txt(request: HttpRequest) -> HttpResponse:
    lines = [
        "User-agent: *",
        *(f"Disallow: {path}" for path in _NOT_TO_BE_FOUND),
        "",
        f"Sitemap: {absolute('leaderboard:sitemap')}",
        "",
    ]
    return HttpResponse("\n".join(lines), content_type="text/plain; charset=utf-8")


# a list may have 50,000 addresses
_MOST_RESULTS = 20_000
_SITEMAP = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</urlset>\n'
)


def sitemap(request: HttpRequest) -> HttpResponse:
    """List all public pages under the site's configured name, whatever the host."""
    site = str(settings.GENIE["SITE_URL"]).rstrip("/")
    names = (*OF_SITE, "leaderboard:docs", "leaderboard:docs-tasks", "api-docs")
    docs = (reverse("leaderboard:docs-page", args=[slug]) for slug in slugs())
    latest = Max("submissions__published_at", filter=public("submissions__"))
    tasks = Task.objects.annotate(at=latest).order_by("pk").values_list("slug", "at")
    shown = Submission.objects.filter(public(), published_at__isnull=False)
    results = shown.order_by("-pk").values_list("pk", "published_at")[:_MOST_RESULTS]
    # one reversed address with a placeholder instead of one reversal per row
    page = reverse("leaderboard:submission", args=[0]).replace("/0/", "/{}/")
    pages = [
        *((path, None) for path in (*map(reverse, names), *docs)),
        *((reverse("leaderboard:board", args=[slug]), at) for slug, at in tasks),
        *((reverse("leaderboard:methods", args=[slug]), None) for slug, _ in tasks),
        *((page.format(pk), at) for pk, at in results),
    ]
    listed = "".join(
        f"<url><loc>{escape(site + path)}</loc>"
        f"{(at and f'<lastmod>{at.date()}</lastmod>') or ''}</url>"
        for path, at in pages
    )
    return HttpResponse(_SITEMAP.format(listed), content_type="application/xml")


_PNG_KEPT_SECONDS = 86_400
# on paper and on screens of low resolution
_ZOOM = 2


@limit_files
def board_svg(request: HttpRequest, slug: str) -> HttpResponse:
    return _show_board(request, slug, "board.svg")


@limit_files
def board_png(request: HttpRequest, slug: str) -> HttpResponse:
    return _show_board(request, slug, "board.png")


@limit_files
def board_card(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the top of a board as a picture of 1200 by 630 pixels."""
    return _show(request, get_object_or_404(Task, slug=slug), "card.png")


@conditional_page
def site_card(request: HttpRequest) -> HttpResponse:
    svg = render_to_string("leaderboard/sharing/site.svg")
    return _fresh(HttpResponse(_png(svg, zoom=1), content_type="image/png"))


def _show_board(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    task = get_object_or_404(Task, slug=slug)
    typed = request.GET.get("at")
    at = read_moment(typed) if typed else None
    if typed and at is None:
        raise Http404("This is not a time in the past.")
    theme = request.GET.get("theme", "light")
    if theme not in THEMES:
        raise Http404("Choose light or dark.")
    asked = {"theme": theme, **({"at": stamp(at)} if at else {})}
    return _show(request, task, name, urlencode(asked))


def _show(request: HttpRequest, task: Task, name: str, asked: str = "") -> HttpResponse:
    return _fresh(files.serve(request, task, name, MADE, asked))


def _fresh(response: HttpResponse) -> HttpResponse:
    """Let pages and readers of other sites show a file; browsers do not save it."""
    del response["Content-Disposition"]
    # not one that is still being made
    response.setdefault("Cache-Control", f"public, max-age={_FRESH_SECONDS}")
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


def _board(task: Task, asked: QueryDict) -> str:
    at, theme = read_moment(asked.get("at", "")), str(asked["theme"])
    return _cached_drawing(
        task, at, theme, lambda: draw(picture_of(task, at), PICTURE, theme)
    )


def _card(task: Task) -> str:
    return _cached_drawing(
        task, None, "card", lambda: draw(picture_of(task, limit=CARD_SYSTEMS), CARD)
    )


def _cached_drawing(
    task: Task, at: datetime | None, what: str, make: Callable[[], str]
) -> str:
    """Draw once for each version of a board, as visitors see it."""
    key = state(task).key(*("picture", what, stamp(at) if at else ""))
    svg: str | None = cache.get(key)
    if svg is None:
        svg = str(make())
        cache.set(key, svg, KEPT_SECONDS)
    return svg


def _png(svg: str, *, zoom: int) -> bytes:
    digest = hashlib.sha256(svg.encode()).hexdigest()[:32]
    key = f"png-{zoom}-{digest}"
    return computed_once(key, lambda: as_png(svg, zoom), _PNG_KEPT_SECONDS)


# made by a job if the board is long
MADE: files.Writers = {
    "feed.atom": (Atom1Feed.content_type, lambda task, _: _feed(task)),
    "board.svg": ("image/svg+xml", lambda task, asked: _board(task, asked).encode()),
    "board.png": (
        "image/png",
        lambda task, asked: _png(_board(task, asked), zoom=_ZOOM),
    ),
    "card.png": ("image/png", lambda task, _: _png(_card(task), zoom=1)),
}
