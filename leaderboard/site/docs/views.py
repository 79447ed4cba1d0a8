import mimetypes
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe

from leaderboard.site.docs import contents, search
from leaderboard.site.docs import contents as pages
from leaderboard.site.docs.markdown import in_line
from leaderboard.site.docs.search import shipped_names, shipped_task, shipped_tasks

_LONGEST_QUERY = 200
_TASKS = "leaderboard:docs-tasks"


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    context = {"here": "docs", "roles": _menu()}
    return render(request, "leaderboard/docs/index.html", context)


@require_safe
def page(request: HttpRequest, slug: str) -> HttpResponse:
    if slug not in contents.slugs():
        raise Http404("There is no such page.")
    shown = pages.page(slug)
    before, after = contents.neighbours(slug)
    context = {
        "here": "docs",
        "slug": slug,
        "page": shown,
        "role": contents.shelf_of(slug),
        "html": mark_safe(shown.html),  # noqa: S308 - made of our files
        "sections": [heading for heading in shown.headings if heading.level == 2],
        "before": before and _entry(before),
        "after": after and _entry(after),
        "roles": _menu(),
    }
    return render(request, "leaderboard/docs/page.html", context)


@require_safe
def search_docs(request: HttpRequest) -> HttpResponse:
    query = request.GET.get("q", "").strip()[:_LONGEST_QUERY]
    context = {
        "here": "docs",
        "query": query,
        "hits": search.search(query) if query else [],
        "roles": _menu(),
    }
    return render(request, "leaderboard/docs/search.html", context)


@require_safe
def file(request: HttpRequest, path: str) -> HttpResponse:
    content = pages.file(path)
    if content is None:
        raise Http404("There is no such file.")
    kind = mimetypes.guess_type(path)[0] or ""
    drawn = kind if kind.startswith("image/") else "text/plain; charset=utf-8"
    headers = {"Cache-Control": "public, max-age=3600"}
    return HttpResponse(content, content_type=drawn, headers=headers)


@require_safe
def tasks(request: HttpRequest) -> HttpResponse:
    context = {
        "here": "docs",
        "address": reverse(_TASKS),
        "role": contents.shelf_of("formats"),
        "tasks": shipped_tasks(),
        "roles": _menu(),
    }
    return render(request, "leaderboard/docs/tasks.html", context)


@require_safe
def task(request: HttpRequest, slug: str) -> HttpResponse:
    if slug not in shipped_names():
        raise Http404("There is no such task.")
    shown = shipped_task(slug)
    context = {
        "here": "docs",
        "address": reverse(_TASKS),
        "role": contents.shelf_of("formats"),
        "shown": shown,
        "task": shown.config,
        "steps": [
            mark_safe(in_line(step))  # noqa: S308 - our own words
            for step in shown.steps
        ],
        "roles": _menu(),
    }
    return render(request, "leaderboard/docs/task.html", context)


def _menu() -> list[dict[str, Any]]:
    return [
        {
            "role": role,
            "entries": [
                *(_entry(slug) for slug in role.pages),
                *(
                    {"address": reverse(name), "title": title}
                    for name, title in role.also
                ),
            ],
        }
        for role in contents.SHELVES
    ]


def _entry(slug: str) -> dict[str, Any]:
    address = reverse("leaderboard:docs-page", args=[slug])
    return {"slug": slug, "address": address, "title": pages.page(slug).title}
