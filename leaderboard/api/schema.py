"""What holds of every operation, written into the schema once."""

from __future__ import annotations

from typing import Any

from leaderboard.api.pagination import Pages

_IF_NONE_MATCH = {
    "in": "header",
    "name": "If-None-Match",
    "schema": {"type": "string"},
    "description": "The ETag of an answer that you keep; 304 says that it still holds.",
}


_PAGE = [
    {
        "in": "query",
        "name": name,
        "schema": {"type": "integer"},
        "description": description,
    }
    for name, description in (
        (Pages.page_query_param, Pages.page_query_description),
        (Pages.page_size_query_param, Pages.page_size_query_description),
    )
]


def add_pages(
    result: dict[str, Any], generator: Any, request: Any, public: bool
) -> dict[str, Any]:
    """Say of each list which pages can be asked for.

    The generator does so only where the first of the answers documented is the list.
    """
    for methods in result["paths"].values():
        operation = methods.get("get", {})
        answer = operation.get("responses", {}).get("200", {})
        schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
        if schema.get("$ref", "").startswith("#/components/schemas/Paginated"):
            operation.setdefault("parameters", []).extend(_PAGE)
    return result


def add_not_modified(
    result: dict[str, Any], generator: Any, request: Any, public: bool
) -> dict[str, Any]:
    """Say of each GET that it can answer 304, without a body."""
    for methods in result["paths"].values():
        operation = methods.get("get")
        if operation is not None:
            operation.setdefault("parameters", []).append(_IF_NONE_MATCH)
            operation["responses"]["304"] = {
                "description": "What you keep still holds."
            }
    return result
