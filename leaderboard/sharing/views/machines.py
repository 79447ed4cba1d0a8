"""What machines ask a site for: robots.txt, sitemap.xml, llms.txt."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.sitemaps import Sitemap
from django.db.models import Max
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from leaderboard.boards.selectors.home import tasks_in_order
from leaderboard.sharing.selectors.page_card import OF_SITE
from leaderboard.site.docs.contents import slugs
from leaderboard.submissions.models.submission import Submission
from leaderboard.submissions.selectors.visibility import public
from leaderboard.tasks.models import Task
from leaderboard.teams.selectors.site_urls import absolute

# Work, accounts and what staff do is nobody's to find; what is private needs an account
# whatever stands here.
_NOT_TO_BE_FOUND = (
    *("/account/", "/admin/", "/hooks/", "/language/", "/login/", "/logout/"),
    *("/requester/", "/studio/", "/team-invitation/", "/teams/", "/turk", "/work/"),
)
_MOST_BOARDS = 200


def robots_txt(request: HttpRequest) -> HttpResponse:
    """Say what is not to be looked through, and where the list of pages is."""
    lines = [
        "User-agent: *",
        *(f"Disallow: {path}" for path in _NOT_TO_BE_FOUND),
        "",
        f"Sitemap: {absolute('leaderboard:sitemap')}",
        "",
    ]
    return HttpResponse("\n".join(lines), content_type="text/plain; charset=utf-8")


def llms_txt(request: HttpRequest) -> HttpResponse:
    """Say to programs what this site is, and where boards, API and docs are for them."""
    context = {
        "home": absolute("leaderboard:home"),
        "tasks": tasks_in_order()[:_MOST_BOARDS],
        "links": {
            "how": absolute("leaderboard:how-it-works"),
            "api": absolute("api-docs"),
            "schema": absolute("api-schema"),
            "feed": absolute("leaderboard:site-feed"),
            "sitemap": absolute("leaderboard:sitemap"),
            "docs": absolute("leaderboard:docs"),
        },
        "site": absolute("leaderboard:home").rstrip("/"),
    }
    return render(
        request,
        "leaderboard/sharing/llms.txt",
        context,
        content_type="text/plain; charset=utf-8",
    )


if TYPE_CHECKING:
    _Sitemap = Sitemap[Any]
else:
    _Sitemap = Sitemap  # a generic type to checkers alone


class Pages(_Sitemap):
    """Paths of public pages, each with when it changed last, as far as that is known."""

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
            *((reverse("leaderboard:about", args=[slug]), None) for slug, _ in tasks),
            *((reverse("leaderboard:submission", args=[pk]), at) for pk, at in results),
        ]

    def location(self, item: tuple[str, datetime | None]) -> str:
        return item[0]

    def lastmod(self, item: tuple[str, datetime | None]) -> datetime | None:
        return item[1]

    # under the site's own name, by whichever it was asked
    def get_domain(self, site: Any = None) -> str:
        return urlsplit(str(settings.GENIE["SITE_URL"])).netloc

    def get_protocol(self, protocol: str | None = None) -> str:
        return urlsplit(str(settings.GENIE["SITE_URL"])).scheme
