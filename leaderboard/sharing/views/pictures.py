"""Boards as pictures, and the cards that chats and social sites show of a link."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag

from genie.accounts.throttles import limit_files
from genie.lib.moment import read_moment, stamp
from genie.lib.serving.caches import computed as cache
from genie.lib.serving.computed_once import computed_once
from leaderboard.boards.selectors.version import KEPT_SECONDS, state
from leaderboard.sharing.charts import (
    CARD,
    CARD_SYSTEMS,
    PICTURE,
    THEMES,
    as_png,
    draw,
)
from leaderboard.sharing.selectors.picture import picture_of
from leaderboard.tasks.models import Task

_FRESH_SECONDS = 300
_PNG_KEPT_SECONDS = 86_400
# on paper and on screens with small dots
_ZOOM = 2


@limit_files
def board_svg(request: HttpRequest, slug: str) -> HttpResponse:
    """Give a board as a drawing that can be made larger."""
    return _answer(request, _drawn(request, slug), "image/svg+xml", str.encode)


@limit_files
def board_png(request: HttpRequest, slug: str) -> HttpResponse:
    return _png(request, _drawn(request, slug), zoom=_ZOOM)


@limit_files
def board_card(request: HttpRequest, slug: str) -> HttpResponse:
    """Give the best of a board, 1200 by 630."""
    task = get_object_or_404(Task, slug=slug)
    card = _kept(
        task,
        None,
        "card",
        lambda: draw(picture_of(task, limit=CARD_SYSTEMS), CARD),
    )
    return _png(request, card, zoom=1)


def site_card(request: HttpRequest) -> HttpResponse:
    return _png(request, render_to_string("leaderboard/sharing/site.svg"), zoom=1)


def _drawn(request: HttpRequest, slug: str) -> str:
    task = get_object_or_404(Task, slug=slug)
    typed = request.GET.get("at")
    at = read_moment(typed) if typed else None
    if typed and at is None:
        raise Http404("This is not a time in the past.")
    theme = request.GET.get("theme", "light")
    if theme not in THEMES:
        raise Http404("There are light and dark.")
    return _kept(task, at, theme, lambda: draw(picture_of(task, at), PICTURE, theme))


def _kept(task: Task, at: datetime | None, what: str, make: Callable[[], str]) -> str:
    """Draw once for each version of a board, as visitors see it."""
    asked = ("picture", what, stamp(at) if at else "")
    key = state(task).key(*asked)
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
    """Give a drawing under its own hash: what staff change by hand changes that, too."""
    etag = quote_etag(_digest(f"{content_type} {svg}"))
    response = get_conditional_response(request, etag=etag)
    if response is None:
        response = HttpResponse(write(svg), content_type=content_type)
    response["ETag"] = etag
    response["Cache-Control"] = f"public, max-age={_FRESH_SECONDS}"
    # other people's pages may show it
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
