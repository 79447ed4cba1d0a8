"""What machines ask a site for: robots.txt, sitemap.xml, llms.txt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.sitemaps import Sitemap
from django.db.models import Max, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse

from leaderboard.boards.selectors.home import tasks_in_order
from leaderboard.sharing.selectors.page_card import OF_SITE
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
            "docs": docs_address(),
        },
        "site": absolute("leaderboard:home").rstrip("/"),
    }
    return render(
        request,
        "leaderboard/sharing/llms.txt",
        context,
        content_type="text/plain; charset=utf-8",
    )


def docs_address() -> str:
    """Give the address of the documentation, empty on a site that does not show it."""
    try:
        return absolute("leaderboard:docs")
    except NoReverseMatch:
        return ""


if TYPE_CHECKING:
    _Sitemap = Sitemap[Any]
else:
    _Sitemap = Sitemap  # a generic type to checkers alone


class _OfThisSite(_Sitemap):
    """Addresses under the site's own name, by whichever it was asked."""

    limit = 20_000

    def get_domain(self, site: Any = None) -> str:
        return urlsplit(str(settings.GENIE["SITE_URL"])).netloc

    def get_protocol(self, protocol: str | None = None) -> str:
        return urlsplit(str(settings.GENIE["SITE_URL"])).scheme


class _Pages(_OfThisSite):
    def items(self) -> Sequence[str]:
        pages = [reverse(name) for name in OF_SITE]
        return [*pages, *([urlsplit(docs).path] if (docs := docs_address()) else [])]

    def location(self, item: str) -> str:
        return item


class _Boards(_OfThisSite):
    """Each task's board and what it is about."""

    def items(self) -> QuerySet[Task]:
        latest = Max("submissions__published_at", filter=public("submissions__"))
        return Task.objects.annotate(latest=latest).only("slug").order_by("pk")

    def location(self, item: Task) -> str:
        return reverse("leaderboard:board", args=[item.slug])

    def lastmod(self, item: Any) -> Any:
        return item.latest


class _About(_OfThisSite):
    def items(self) -> QuerySet[Task]:
        return Task.objects.only("slug").order_by("pk")

    def location(self, item: Task) -> str:
        return reverse("leaderboard:about", args=[item.slug])


class _Submissions(_OfThisSite):
    """The pages of systems whose result everybody may see."""

    def items(self) -> QuerySet[Submission]:
        shown = public() & Q(published_at__isnull=False)
        return Submission.objects.filter(shown).only("published_at").order_by("pk")

    def location(self, item: Submission) -> str:
        return reverse("leaderboard:submission", args=[item.pk])

    def lastmod(self, item: Submission) -> Any:
        return item.published_at


SITEMAPS = {
    "pages": _Pages,
    "boards": _Boards,
    "about": _About,
    "submissions": _Submissions,
}
