"""What Prolific publishes of the calls that we make, kept beside the tests, to be renewed.

`prolific_contract.json` holds the operations and schemas that concern us, without the
sentences. To renew it, download https://docs.prolific.com/openapi.json and run

    python -m tests.crowd.platforms.prolific_contract openapi.json 2026-11-23

with the day on which it was read. The stand-in refuses requests and answers that are
not as published, so the tests then say what has changed.
"""

import json
import re
import sys
from functools import cache
from pathlib import Path

from openapi_schema_validator import OAS31Validator

KEPT = Path(__file__).with_suffix(".json")
SOURCE = "https://docs.prolific.com/openapi.json"
# What says something about a value, and what is said to people only.
SPOKEN = {"description", "title", "example", "examples", "default", "format"}
REF = "#/components/schemas/"


@cache
def kept():
    return json.loads(KEPT.read_text("utf-8"))


@cache
def operation(method, path):
    for name, one in kept()["operations"].items():
        verb, template = name.split(" ", 1)
        pattern = re.sub(r"\\\{[a-z_]+\\\}", "[^/]+", re.escape(template))
        # the slash at the end is there in some pages and not in others
        if verb == method and re.fullmatch(f"{pattern.removesuffix('/')}/?", path):
            return one
    return None


def problem(schema, value):
    validator = OAS31Validator({**schema, "components": kept()["components"]})
    errors = [
        f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)
    ]
    return "; ".join(errors)[:500]


def wrong_request(method, path, body):
    found = operation(method, f"/api/v1/{path}")
    if found is None:
        return f"{method} {path} is not published"
    return problem(found["body"], body) if "body" in found else ""


def wrong_answer(method, path, status, answer):
    found = operation(method, f"/api/v1/{path}")
    answers = found["answers"] if found else {}
    if str(status) not in answers:
        known = ", ".join(answers)
        return "" if status >= 400 else f"{method} {path}: {status} is none of {known}"
    return problem(answers[str(status)], answer)


def renewed(document, names, day):
    operations = {}
    for name in names:
        verb, path = name.split(" ", 1)
        there = document["paths"].get(path, {}).get(verb.lower())
        if there is None:
            raise SystemExit(f"{name} is no longer published.")
        one = {"answers": {}}
        if "requestBody" in there:
            one["body"] = _schema(there["requestBody"])
        for status, answer in there["responses"].items():
            if "content" in answer:
                one["answers"][status] = _schema(answer)
        operations[name] = one
    schemas = {}
    waiting = [*_named(operations)]
    while waiting:
        name = waiting.pop()
        if name not in schemas:
            schemas[name] = plain(document["components"]["schemas"][name])
            waiting += _named(schemas[name])
    return {
        "read": {"from": SOURCE, "on": day, "version": document["info"]["version"]},
        "operations": operations,
        "components": {"schemas": dict(sorted(schemas.items()))},
    }


def plain(schema):
    """Leave out what is said to people; several of "one of" may fit there."""
    if isinstance(schema, list):
        return [plain(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        "anyOf" if key == "oneOf" else key: (
            {name: plain(one) for name, one in value.items()}
            if key == "properties"
            else plain(value)
        )
        for key, value in schema.items()
        if key not in SPOKEN
    }


def _schema(part):
    return plain(part["content"]["application/json"].get("schema", {}))


def _named(schema):
    text = json.dumps(schema)
    return re.findall(rf'"{re.escape(REF)}([^"]+)"', text)


if __name__ == "__main__":
    published = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    record = renewed(published, kept()["operations"], sys.argv[2])
    KEPT.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
