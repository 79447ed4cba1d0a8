"""Pages of lists: bounded in size; a page that does not exist is 404."""

from typing import Any

from rest_framework.pagination import PageNumberPagination
from rest_framework.response import Response
from rest_framework.utils.urls import remove_query_param, replace_query_param


class Pages(PageNumberPagination):
    """`?page=2&page_size=50`."""

    page_size: int = 100
    max_page_size: int = 500
    page_size_query_param = "page_size"
    invalid_page_message = "There is no page {page_number} of this list."

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Describe a page for OpenAPI 3.1, which has no `nullable`."""
        address = {"type": ["string", "null"], "format": "uri"}
        return {
            "type": "object",
            "required": ["count", "next", "previous", "results"],
            "properties": {
                "count": {"type": "integer", "description": "Total over all pages."},
                "next": address,
                "previous": address,
                "results": schema,
            },
        }


class Growing(Pages):
    """A list to which rows are added: `next` starts after the last row of the page.

    So readers get each row once although rows are added meanwhile. A request for a
    `page` by number gets that page.
    """

    # the sort key, which is the cursor
    key = "pk"
    newest_first = True
    after: int | None = None
    request: Any

    def paginate_queryset(self, queryset: Any, request: Any, view: Any = None) -> Any:
        self.by_number = "page" in request.query_params
        if self.by_number:
            return super().paginate_queryset(queryset, request, view)
        self.request, self.n = request, queryset.count()
        rows = queryset.order_by(f"{'-' * self.newest_first}{self.key}")
        if (cursor := view.query.get("cursor")) is not None:
            beyond = "lt" if self.newest_first else "gt"
            rows = rows.filter(**{f"{self.key}__{beyond}": cursor})
        size: Any = self.get_page_size(request)
        # one more than is shown, to see whether there are more
        found = list(rows[: size + 1])
        if len(found) > size:
            self.after = getattr(found[size - 1], self.key)
        return found[:size]

    def get_paginated_response(self, data: Any) -> Response:
        if self.by_number:
            return super().get_paginated_response(data)
        here = remove_query_param(self.request.build_absolute_uri(), "cursor")
        more = self.after is not None
        following = replace_query_param(here, "cursor", self.after) if more else None
        answer = {"count": self.n, "next": following, "previous": None, "results": data}
        return Response(answer)


class OldestFirst(Growing):
    newest_first = False


class ByPosition(OldestFirst):
    """Outputs and instances, in the order of the task."""

    key = "position"


class ByNumber(OldestFirst):
    """Entries of the public log."""

    key = "number"
