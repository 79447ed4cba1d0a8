"""Pages of lists: bounded in size, clamped in number."""

from __future__ import annotations

from typing import Any

from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request

from genie.lib.errors import GenieError

# Longer numbers than this mean "the last page"; databases overflow on some of them.
_LARGEST = 10**9


class Pages(PageNumberPagination):
    """`?page=2&page_size=50`; a page before the first or past the last is clamped."""

    page_size: int = 100
    max_page_size: int = 500
    page_size_query_param = "page_size"
    page_size_query_description = "How many results a page has, 500 at most."
    page_query_description = "Which page; a number past the last gives the last."

    def get_page_number(self, request: Request, paginator: Any) -> int:
        wanted = _whole(request, self.page_query_param, default=1)
        last: int = paginator.num_pages
        return max(1, min(wanted, last))

    def get_page_size(self, request: Request) -> int:
        wanted = _whole(request, self.page_size_query_param, default=self.page_size)
        return max(1, min(wanted, self.max_page_size))

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Describe a page in the words of OpenAPI 3.1, which has no `nullable`."""
        address = {"type": ["string", "null"], "format": "uri"}
        return {
            "type": "object",
            "required": ["count", "next", "previous", "results"],
            "properties": {
                "count": {"type": "integer", "description": "On all pages together."},
                "next": address,
                "previous": address,
                "results": schema,
            },
        }


def _whole(request: Request, name: str, *, default: int) -> int:
    raw = request.query_params.get(name, "")
    if not raw:
        return default
    digits = raw.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        raise GenieError(
            f"{name} must be a whole number, not {raw[:40]!r}.", code="bad-page"
        )
    if raw.startswith("-"):
        return 0
    return int(digits) if len(digits) < len(str(_LARGEST)) else _LARGEST
