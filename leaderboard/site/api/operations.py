import json
import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe
from django.views.generic import RedirectView
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularAPIView

from leaderboard.api.base import Reads, ReadsOfVisitors, Shareable
from leaderboard.api.problems import KINDS
from leaderboard.site.docs.markdown import in_line

# Values of path parameters, and of fields in a form that sends a file.
_IN_PATH = {"slug": "demo-qa", "id": "17", "number": "1"}
_FIELDS = {
    "file": "@predictions.json",
    "name": "MyScore",
    "system_name": "My-System",
    "task": "demo-qa",
}


def example_answer(answer: dict[str, Any]) -> str:
    for kind, content in answer.get("content", {}).items():
        if "json" in kind and "example" in content:
            return json.dumps(content["example"], indent=2, ensure_ascii=False)
    return ""


def example_request(
    schema: dict[str, Any], path: str, method: str, operation: dict[str, Any]
) -> str:
    words = ["curl"]
    if {} not in operation.get("security", [{}]):
        words.append('-H "Authorization: Bearer $GENIE_TOKEN"')
    if method not in ("get", "post"):
        words.append(f"-X {method.upper()}")
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        body = json.dumps(content["application/json"].get("example", {}))
        words.append(f"--json {shlex.quote(body)}")
    elif "multipart/form-data" in content:
        shape = resolve_reference(schema, content["multipart/form-data"]["schema"])
        words += [f"-F {one}={_FIELDS.get(one, '...')}" for one in shape["required"]]
    elif method == "post":
        words.append("-X POST")
    filled = re.sub(r"{(\w+)}", lambda found: _IN_PATH.get(found[1], "1"), path)
    return " ".join(words) + " {base}" + filled


def resolve_reference(schema: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in part:
        part = schema["components"]["schemas"][part["$ref"].rsplit("/", 1)[-1]]
    return part


_TITLES = {
    "account": "Your account and teams",
    "comparisons": "Comparisons and joint evaluations",
    "history": "Public log",
    "metrics": "Metrics and their board",
    "results": "Scores, ratings and metric results",
    "staff": "For staff",
    "statistics": "Statistics of your table",
    "submissions": "Submissions",
    "tasks": "Tasks and boards",
    "webhooks": "Webhooks",
}
_FIRST, _LAST = ("tasks", "submissions", "results"), "staff"


class Group(NamedTuple):
    """Operations that belong together."""

    slug: str
    title: str
    operations: list[dict[str, Any]]


@cache
def operations() -> list[dict[str, Any]]:
    """Read the schema once per process: it changes only with the code."""
    generator: Any = SchemaGenerator
    schema: dict[str, Any] = generator().get_schema(request=None, public=True)
    return [
        _operation(schema, path, method, operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]


@cache
def groups() -> list[Group]:
    others = {operation["group"] for operation in operations()} - {*_FIRST, _LAST}
    return [
        Group(
            name,
            _TITLES.get(name, name.capitalize()),
            [one for one in operations() if one["group"] == name],
        )
        for name in (*_FIRST, *sorted(others), _LAST)
    ]


def _operation(
    schema: dict[str, Any], path: str, method: str, operation: dict[str, Any]
) -> dict[str, Any]:
    body = operation.get("requestBody", {}).get("content", {})
    answer = operation["responses"].get("200", operation["responses"].get("201", {}))
    return {
        "id": operation["operationId"],
        "group": operation.get("tags", ["others"])[0],
        # whether it works without a token, too
        "open": {} in operation.get("security", [{}]),
        "request": example_request(schema, path, method, operation),
        "response": example_answer(answer),
        "method": method.upper(),
        "path": path,
        "summary": operation.get("summary", ""),
        "description": mark_safe(in_line(operation.get("description", ""))),  # noqa: S308
        "parameters": [
            {
                "name": parameter["name"],
                "place": parameter["in"],
                "required": parameter.get("required", False),
                "description": parameter.get("description", ""),
                "choices": parameter["schema"].get("enum", []),
                "example": parameter.get("example", ""),
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
    shape = resolve_reference(schema, content["schema"])
    # a page of a list: readers want the fields of its rows
    if "results" in shape.get("properties", {}):
        shape = resolve_reference(schema, shape["properties"]["results"]["items"])
    return list(_flat(schema, shape, ""))


def _flat(
    schema: dict[str, Any], shape: dict[str, Any], prefix: str
) -> Iterator[dict[str, Any]]:
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
    part = resolve_reference(schema, part)
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


def _type(schema: dict[str, Any], part: dict[str, Any]) -> str:
    several = [*part.get("allOf", []), *part.get("oneOf", []), *part.get("anyOf", [])]
    if several:
        return " or ".join(dict.fromkeys(_type(schema, option) for option in several))
    if "$ref" in part:
        return _type(schema, resolve_reference(schema, part))
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


class Schema(Shareable, SpectacularAPIView):
    """The OpenAPI document: YAML, or JSON where it is asked for."""

    throttle_classes = [ReadsOfVisitors, Reads]


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    context = {
        "here": "docs",
        "groups": groups(),
        "kinds": sorted(KINDS.items(), key=lambda item: (item[1].status, item[0])),
        "base": f"{request.scheme}://{request.get_host()}",
    }
    return render(request, "api/docs.html", context)


@require_safe
def group(request: HttpRequest, slug: str) -> HttpResponse:
    try:
        shown = next(one for one in groups() if one.slug == slug)
    except StopIteration:
        raise Http404("There is no such group of operations.") from None
    base = f"{request.scheme}://{request.get_host()}"
    rows = [
        {**one, "request": one["request"].replace("{base}", base)}
        for one in shown.operations
    ]
    context = {
        "here": "docs",
        "group": shown._replace(operations=rows),
        "groups": groups(),
    }
    return render(request, "api/group.html", context)


urlpatterns = [
    path("", RedirectView.as_view(pattern_name="api-docs"), name="api-home"),
    path("schema/", Schema.as_view(), name="api-schema"),
    path("docs/", page, name="api-docs"),
    path("docs/<slug:slug>/", group, name="api-docs-group"),
]
