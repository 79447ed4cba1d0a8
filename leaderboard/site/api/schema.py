"""What holds of every operation, written into the schema once."""

from __future__ import annotations

import inspect
from typing import Any

from drf_spectacular.openapi import AutoSchema

from leaderboard.api.problems import MEDIA_TYPE

_IF_NONE_MATCH = {
    "in": "header",
    "name": "If-None-Match",
    "schema": {"type": "string"},
    "description": "The ETag of a cached response; 304 means that it has not changed.",
}


class Described(AutoSchema):
    """A view's operations, with the parameters that its GET takes."""

    def get_description(self) -> str:  # type: ignore[override]  # as its superclass
        # What a base class says of itself is for developers.
        description = str(super().get_description() or "")
        inherited = {inspect.getdoc(base) for base in type(self.view).__mro__[1:]}
        return "" if description in inherited else description

    def get_override_parameters(self) -> list[Any]:
        query = getattr(self.view, "query_class", None)
        return [query] if query and self.method == "GET" and query().fields else []


# What a GET answers to a parameter that it does not take.
_BAD_PARAMETER = {
    "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    "description": "Codes: bad-choice, bad-moment, bad-page, invalid, unknown-parameter.",
}


def add_answers_of_every_get(
    result: dict[str, Any], generator: Any, request: Any, public: bool
) -> dict[str, Any]:
    """Say of each GET that it can answer 304, without a body, and 400."""
    for methods in result["paths"].values():
        operation = methods.get("get")
        if operation is not None:
            operation.setdefault("parameters", []).append(_IF_NONE_MATCH)
            operation["responses"]["304"] = {"description": "Not modified."}
            operation["responses"]["400"] = _BAD_PARAMETER
            # sorted, so that the stored schema does not change with the order of views
            operation["responses"] = dict(sorted(operation["responses"].items()))
    return result
