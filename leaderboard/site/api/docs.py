"""The API's operations as a plain page, written from the schema itself."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularAPIView

from leaderboard.api.base import Shareable
from leaderboard.api.problems import KINDS
from leaderboard.api.throttles import Reads, ReadsOfVisitors


class Schema(Shareable, SpectacularAPIView):
    """The OpenAPI document: YAML, or JSON where it is asked for."""

    throttle_classes = [ReadsOfVisitors, Reads]


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """List every operation with its parameters, body fields and answers."""
    context = {
        "operations": operations(),
        "kinds": sorted(KINDS.items(), key=lambda item: (item[1].status, item[0])),
        "base": f"{request.scheme}://{request.get_host()}",
    }
    return render(request, "api/docs.html", context)


@cache
def operations() -> list[dict[str, Any]]:
    """Read the schema once: it changes with the code only."""
    generator: Any = SchemaGenerator
    schema: dict[str, Any] = generator().get_schema(request=None, public=True)
    return [
        _operation(schema, path, method, operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]


def _operation(
    schema: dict[str, Any], path: str, method: str, operation: dict[str, Any]
) -> dict[str, Any]:
    body = operation.get("requestBody", {}).get("content", {})
    return {
        "id": operation["operationId"],
        "method": method.upper(),
        "path": path,
        "summary": operation.get("summary", ""),
        "description": operation.get("description", ""),
        "parameters": [
            {
                "name": parameter["name"],
                "place": parameter["in"],
                "required": parameter.get("required", False),
                "description": parameter.get("description", ""),
                "choices": parameter["schema"].get("enum", []),
            }
            for parameter in operation.get("parameters", [])
        ],
        "fields": [
            field for content in body.values() for field in _fields(schema, content)
        ],
        "answers": [
            {
                "status": status,
                "media_types": list(answer.get("content", {})),
                "description": answer.get("description", ""),
                "fields": [
                    field
                    for content in answer.get("content", {}).values()
                    for field in _fields(schema, content)
                ]
                if status < "300"
                else [],
            }
            for status, answer in operation["responses"].items()
        ],
    }


def _fields(schema: dict[str, Any], content: dict[str, Any]) -> list[dict[str, Any]]:
    shape = _resolved(schema, content["schema"])
    # a page of a list: readers want the fields of its rows
    if "results" in shape.get("properties", {}):
        shape = _resolved(schema, shape["properties"]["results"]["items"])
    return list(_flat(schema, shape, ""))


def _flat(
    schema: dict[str, Any], shape: dict[str, Any], prefix: str
) -> Iterator[dict[str, Any]]:
    """Go through an object's fields and, indented by name, those of the objects in it."""
    for name, part in shape.get("properties", {}).items():
        yield {
            "name": prefix + name,
            "type": _type(schema, part),
            "required": name in shape.get("required", []),
            "description": part.get("description", ""),
        }
        inner, mark = _inner(schema, part)
        if inner is not None:
            yield from _flat(schema, inner, f"{prefix}{name}{mark}.")


def _inner(
    schema: dict[str, Any], part: dict[str, Any]
) -> tuple[dict[str, Any] | None, str]:
    """Find the object that a field holds: itself, or one of many."""
    part = _resolved(schema, part)
    for option in (
        *part.get("allOf", []),
        *part.get("oneOf", []),
        *part.get("anyOf", []),
    ):
        inner, mark = _inner(schema, option)
        if inner is not None:
            return inner, mark
    for key, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(part.get(key), dict) and part[key]:
            inner, _ = _inner(schema, part[key])
            return inner, mark
    return (part, "") if part.get("properties") else (None, "")


def _resolved(schema: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in part:
        name = part["$ref"].rsplit("/", 1)[-1]
        part = schema["components"]["schemas"][name]
    return part


def _type(schema: dict[str, Any], part: dict[str, Any]) -> str:
    """Say a field's type in a word or two."""
    several = [*part.get("allOf", []), *part.get("oneOf", []), *part.get("anyOf", [])]
    if several:
        return " or ".join(dict.fromkeys(_type(schema, option) for option in several))
    if "$ref" in part:
        return _type(schema, _resolved(schema, part))
    if "enum" in part:
        return " | ".join(str(value) for value in part["enum"])
    kind = part.get("type", "any")
    words = kind if isinstance(kind, list) else [kind]
    if "array" in words:
        return f"list of {_type(schema, part.get('items', {}))}"
    named = [
        part["format"] if word == "string" and "format" in part else word
        for word in words
    ]
    return " or ".join(named)
