import hashlib
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.sitemaps import Sitemap
from django.contrib.syndication.views import Feed
from django.db.models import Max
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.feedgenerator import Atom1Feed
from django.utils.http import quote_etag

from genie.accounts.throttles import limit_files
from genie.lib.moment import read_moment, stamp
from genie.lib.serving.caches import computed as cache
from genie.lib.serving.caches import computed_once
from leaderboard.boards.selectors.version import KEPT_SECONDS, state
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
    _Sitemap = Sitemap[Any]
else:
    _Feed, _Sitemap = Feed, Sitemap  # generic types to checkers alone

_FRESH_SECONDS = 300


class _Events(_Feed):
    feed_type = Atom1Feed
    language = "en"
    author_name = "Genie"

    def __call__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().__call__(request, *args, **kwargs)
        response["Cache-Control"] = f"public, max-age={_FRESH_SECONDS}"
        return response

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
    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Task:
        return get_object_or_404(Task, slug=kwargs["slug"])

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


class SiteFeed(_Events):
    title = "Genie: new results"
    subtitle = "Human-evaluation leaderboards for text generation"

    def link(self) -> str:
        return absolute("leaderboard:home")

    def feed_url(self) -> str:
        return absolute("leaderboard:site-feed")

    def items(self) -> list[Event]:
        return site_events()


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


class Pages(_Sitemap):
    limit = 20_000

    def items(self) -> list[tuple[str, datetime | None]]:
        names = (*OF_SITE, "leaderboard:docs", "leaderboard:docs-tasks", "api-docs")
        docs = (reverse("leaderboard:docs-page", args=[slug]) for slug in slugs())
        latest = Max("submissions__published_at", filter=public("submissions__"))
        tasks = (
            Task.objects.annotate(at=latest).order_by("pk").values_list("slug", "at")
        )
        shown = Submission.objects.filter(public(), published_at__isnull=False)
        results = shown.order_by("pk").values_list("pk", "published_at")
        return [
            *((path, None) for path in (*map(reverse, names), *docs)),
            *((reverse("leaderboard:board", args=[slug]), at) for slug, at in tasks),
            *((reverse("leaderboard:methods", args=[slug]), None) for slug, _ in tasks),
            *((reverse("leaderboard:submission", args=[pk]), at) for pk, at in results),
        ]

    def location(self, item: tuple[str, datetime | None]) -> str:
        return item[0]

    def lastmod(self, item: tuple[str, datetime | None]) -> datetime | None:
        return item[1]

    # under the site's configured name, whatever the request's host
    def get_domain(self, site: Any = None) -> str:
        return urlsplit(str(settings.GENIE["SITE_URL"])).netloc

    def get_protocol(self, protocol: str | None = None) -> str:
        return urlsplit(str(settings.GENIE["SITE_URL"])).scheme


_PNG_KEPT_SECONDS = 86_400
# on paper and on screens of low resolution
_ZOOM = 2


@limit_files
def board_svg(request: HttpRequest, slug: str) -> HttpResponse:
    return _answer(request, _draw_board(request, slug), "image/svg+xml", str.encode)


@limit_files
def board_png(request: HttpRequest, slug: str) -> HttpResponse:
    return _png(request, _draw_board(request, slug), zoom=_ZOOM)


@limit_files
def board_card(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the top of a board as a picture of 1200 by 630 pixels."""
    task = get_object_or_404(Task, slug=slug)
    card = _cached_drawing(
        task, None, "card", lambda: draw(picture_of(task, limit=CARD_SYSTEMS), CARD)
    )
    return _png(request, card, zoom=1)


def site_card(request: HttpRequest) -> HttpResponse:
    return _png(request, render_to_string("leaderboard/sharing/site.svg"), zoom=1)


def _draw_board(request: HttpRequest, slug: str) -> str:
    task = get_object_or_404(Task, slug=slug)
    typed = request.GET.get("at")
    at = read_moment(typed) if typed else None
    if typed and at is None:
        raise Http404("This is not a time in the past.")
    theme = request.GET.get("theme", "light")
    if theme not in THEMES:
        raise Http404("Choose light or dark.")
    return _cached_drawing(
        task, at, theme, lambda: draw(picture_of(task, at), PICTURE, theme)
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


def _png(request: HttpRequest, svg: str, *, zoom: int) -> HttpResponse:
    def make() -> bytes:
        return as_png(svg, zoom)

    def pixels(_: str) -> bytes:
        return computed_once(f"png-{zoom}-{_digest(svg)}", make, _PNG_KEPT_SECONDS)

    return _answer(request, svg, "image/png", pixels)


def _answer(
    request: HttpRequest, svg: str, content_type: str, write: Callable[[str], bytes]
) -> HttpResponse:
    """Return a drawing with its own hash as ETag, which covers manual changes by staff."""
    etag = quote_etag(_digest(f"{content_type} {svg}"))
    response = get_conditional_response(request, etag=etag)
    if response is None:
        response = HttpResponse(write(svg), content_type=content_type)
    response["ETag"] = etag
    response["Cache-Control"] = f"public, max-age={_FRESH_SECONDS}"
    # pages of other sites may show it
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
