"""Requests and answers that look like those of an operation, made from the schema."""

from __future__ import annotations

import json
import shlex
from typing import Any

# What stands for a parameter of a path whose schema gives no example.
_VALUES = {"slug": "demo-qa", "id": "17", "number": "1"}
_FIELDS = {"file": "@predictions.json", "task": "demo-qa", "system_name": "My-System"}
_WORDS = {
    "date": "2026-11-20",
    "date-time": "2026-11-20T16:21:11Z",
    "uri": "https://genie.example/",
    "email": "maria@genie.example",
    "uuid": "0b9c2f5e-6f0e-4d0e-9a51-3f5f0c8f7a11",
}
_PLAIN = {"integer": 1, "number": 0.5, "boolean": True, "null": None}
_DEEPEST = 6


def example_answer(schema: dict[str, Any], answer: dict[str, Any]) -> str:
    """Write an answer as JSON; nothing for those that are something else."""
    for kind, content in answer.get("content", {}).items():
        if "json" in kind and "schema" in content:
            value = _given(content, content.get("example"))
            if value is None:
                value = _sample(schema, content["schema"], 0)
            return json.dumps(value, indent=2, ensure_ascii=False)
    return ""


def example_request(
    schema: dict[str, Any], path: str, method: str, operation: dict[str, Any]
) -> str:
    """Write a request as a command for a shell; the site's address is left open."""
    words = ["curl"]
    if {} not in operation.get("security", [{}]):
        words.append('-H "Authorization: Bearer $GENIE_TOKEN"')
    if method not in ("get", "post"):
        words.append(f"-X {method.upper()}")
    content = operation.get("requestBody", {}).get("content", {})
    if "multipart/form-data" in content and "application/json" not in content:
        shape = resolved(schema, content["multipart/form-data"]["schema"])
        words += [f"-F {shlex.quote(field)}" for field in _form(schema, shape)]
    elif "application/json" in content:
        body = content["application/json"]
        value = _given(body, body.get("example"))
        if value is None:
            value = _sample(schema, body["schema"], 0)
        words.append("--json " + shlex.quote(json.dumps(value, ensure_ascii=False)))
    elif method == "post":
        words.append("-X POST")
    values = {
        parameter["name"]: parameter.get("example", _VALUES.get(parameter["name"], "1"))
        for parameter in operation.get("parameters", [])
        if parameter["in"] == "path"
    }
    return " ".join(words) + " {base}" + path.format(**values)


def resolved(schema: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """Follow a part to where it is described."""
    while "$ref" in part:
        name = part["$ref"].rsplit("/", 1)[-1]
        part = schema["components"]["schemas"][name]
    return part


def _form(schema: dict[str, Any], shape: dict[str, Any]) -> list[str]:
    """List the required fields of a form; a file is read from the disk."""
    fields = []
    for name in shape.get("required", []):
        part = resolved(schema, shape["properties"][name])
        value = _FIELDS.get(name) or _sample(schema, part, 0)
        fields.append(f"{name}={value}")
    return fields


def _given(content: dict[str, Any], found: Any) -> Any:
    """Take the example that a schema has, if any."""
    for named in content.get("examples", {}).values():
        return named.get("value", found)
    return found


def _sample(schema: dict[str, Any], part: dict[str, Any], depth: int) -> Any:
    part = resolved(schema, part)
    for key in ("example", "default", "const"):
        if part.get(key) is not None:
            return part[key]
    if part.get("examples"):
        return part["examples"][0]
    if part.get("enum"):
        return part["enum"][0]
    for option in (
        *part.get("allOf", []),
        *part.get("oneOf", []),
        *part.get("anyOf", []),
    ):
        return _sample(schema, option, depth)
    kind = part.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "array":
        return [] if depth > _DEEPEST else [_sample(schema, part["items"], depth + 1)]
    if kind == "object":
        inner = {} if depth > _DEEPEST else part.get("properties", {})
        return {name: _sample(schema, one, depth + 1) for name, one in inner.items()}
    if kind == "string":
        return _WORDS.get(part.get("format", ""), "…")
    return _PLAIN.get(kind)
