"""Pages of lists: bounded in size; a page that does not exist is 404."""

from __future__ import annotations

from typing import Any

from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    """`?page=2&page_size=50`."""

    page_size: int = 100
    max_page_size: int = 500
    page_size_query_param = "page_size"
    invalid_page_message = "There is no page {page_number} of this list."

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Describe a page in the words of OpenAPI 3.1, which has no `nullable`."""
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
