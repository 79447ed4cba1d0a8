"""Parts that every operation shares, added to the schema."""

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from drf_spectacular.openapi import AutoSchema

from genie.accounts.authentication import IsStaff
from leaderboard.api.base import problems
from leaderboard.api.problems import MEDIA_TYPE
from leaderboard.tasks.api import TaskField

_IF_NONE_MATCH = {
    "in": "header",
    "name": "If-None-Match",
    "schema": {"type": "string"},
    "description": "The ETag of a cached response. The status 304 means that it has not changed.",
}


class Described(AutoSchema):
    """A view's operations, with its parameters, its body and its refusals."""

    def get_description(self) -> str:  # type: ignore[override]  # as its superclass
        # The docstring of a base class is for developers.
        description = str(super().get_description() or "")
        inherited = {inspect.getdoc(base) for base in type(self.view).__mro__[1:]}
        return "" if description in inherited else description

    def get_override_parameters(self) -> list[Any]:
        query = getattr(self.view, "query_class", None)
        return [query] if query and self.method == "GET" and query().fields else []

    def get_tags(self) -> list[str]:
        staff = any(isinstance(one, IsStaff) for one in self.view.get_permissions())
        tag = "staff" if staff else getattr(self.view, "tag", "")
        return [tag] if tag else super().get_tags()

    def get_request_serializer(self) -> Any:
        return getattr(self.view, "body_class", None)

    def _is_create_operation(self) -> bool:
        return self.method == "POST" and "_create" in self.get_operation_id()

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        answers: dict[str, Any] = super()._get_response_bodies(direction)
        method = getattr(self.view, self.method.lower())
        if not hasattr(method, "codes"):
            return answers
        codes = {*method.codes, *self._implied_codes()} - {*method.without}
        describe: Any = self._get_response_for_code
        for (status, media_type), refusal in problems(*sorted(codes)).items():
            answers[str(status)] = describe(refusal, str(status), [media_type])
        return answers

    def _implied_codes(self) -> Iterator[str]:
        """Yield the refusals that follow from access, address, parameters and body."""
        if {} not in self.get_auth():
            yield from ("not-authenticated", "permission-denied")
        if "{" in self.path or self._is_list_view():
            yield "not-found"
        if self.method == "GET":
            view: Any = self.view
            fields = view.query_class().fields.values()
            yield from ["unknown-task" for one in fields if isinstance(one, TaskField)]
        elif self.method == "POST" and self.get_request_serializer():
            yield from ("bad-request", "invalid")
            yield from ("request-too-large", "unsupported-media-type")


# The response to an unknown parameter of a GET.
_BAD_PARAMETER = {
    "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    "description": "Codes: bad-choice, bad-moment, bad-page, invalid, unknown-parameter.",
}


# Recorded responses of a site, shortened, by operation.
_EXAMPLES = Path(__file__).with_name("examples.json")


def complete(
    result: dict[str, Any], generator: Any, request: Any, public: bool
) -> dict[str, Any]:
    _add_answers_of_every_get(result)
    examples = json.loads(_EXAMPLES.read_text("utf-8"))
    for methods in result["paths"].values():
        for operation in methods.values():
            _add_example(operation, examples.get(operation["operationId"], {}))
    return result


def _add_example(operation: dict[str, Any], example: dict[str, Any]) -> None:
    places = {
        "request": [operation.get("requestBody", {})],
        "response": [
            answer
            for status, answer in operation["responses"].items()
            if status.startswith("2")
        ],
    }
    for name, bodies in places.items():
        for body in bodies if name in example else ():
            for content in body.get("content", {}).values():
                content["example"] = example[name]


def _add_answers_of_every_get(result: dict[str, Any]) -> None:
    for methods in result["paths"].values():
        operation = methods.get("get")
        if operation is not None:
            operation.setdefault("parameters", []).append(_IF_NONE_MATCH)
            operation["responses"]["304"] = {"description": "Not modified."}
            operation["responses"]["400"] = _BAD_PARAMETER
            # sorted, so that the stored schema does not change with the order of views
            operation["responses"] = dict(sorted(operation["responses"].items()))
