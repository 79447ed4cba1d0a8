from typing import Any

from django.core.paginator import InvalidPage, Page, Paginator
from django.http import Http404


def page_of(rows: Any, size: int, number: str | None) -> Page[Any]:
    """Return one page of a list; a page that does not exist is a 404.

    Showing the nearest page instead would repeat rows for readers of all pages.
    """
    try:
        return Paginator(rows, size).page(number or 1)
    except InvalidPage:
        raise Http404(f"There is no page {number} of this list.") from None
