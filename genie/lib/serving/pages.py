from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.paginator import InvalidPage, Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST


def page_of(rows: Any, size: int, number: str | None) -> Page[Any]:
    """Return one page of a list; a page that does not exist is a 404.

    Showing the nearest page instead would repeat rows for readers of all pages.
    """
    try:
        return Paginator(rows, size).page(number or 1)
    except InvalidPage:
        raise Http404(f"There is no page {number} of this list.") from None


def status_of(*problems: Any) -> int:
    """Return 400 for a page that shows problems, else 200."""
    return 400 if any(problems) else 200


def file_named(name: str, content: str | bytes, content_type: str) -> HttpResponse:
    """Return a file that browsers save under its name."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type=content_type, headers=headers)


# Addresses that only take forms: a reload, "back" or a bookmark redirects to a page.
View = Callable[..., HttpResponse]


def post_or(page: str, *names: str) -> Callable[[View], View]:
    """Take POST; redirect GET and HEAD to `page`, which gets the arguments in `names`.

    Sign-in redirects here as well if the session ended before the form was sent.
    """

    def take_post(view: View) -> View:
        posted = require_POST(view)

        @wraps(view)
        def post_only(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if request.method in {"GET", "HEAD"}:
                answer: HttpResponse = redirect(
                    page, **{name: kwargs[name] for name in names}
                )
                return answer
            return posted(request, *args, **kwargs)

        return post_only

    return take_post
