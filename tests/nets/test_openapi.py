"""The committed schema is the one that the site serves, and has all that 0.1.0 had."""

import json
import re

import pytest

from tests.nets.base import kept
from tests.nets.conftest import FILES
from tests.nets.releases import lost

# Texts and bounds may change.
FREE = re.compile(
    "description|summary|tags|version|default|(max|min)(imum|Length)|required"
)


@pytest.mark.django_db
def test_the_api_is_as_the_committed_schema_describes_it(client, net):
    served = client.get("/api/schema/?format=json").json()
    text = json.dumps(_without_examples(served), indent=1, sort_keys=True)
    net("openapi.json", text + "\n")


def _without_examples(part):
    """Leave out recorded answers: they are committed, and say nothing of the API."""
    if isinstance(part, list):
        return [_without_examples(one) for one in part]
    if not isinstance(part, dict):
        return part
    gone = {"example"} if "schema" in part else set()
    return {key: _without_examples(part[key]) for key in part.keys() - gone}


def test_the_api_only_grows():
    before = kept("openapi.json.xz")
    today = json.loads((FILES / "openapi.json").read_text("utf-8"))
    assert [*lost(_outline(before), _outline(today))] == []
    (asked, given), (asked_now, given_now) = _required(before), _required(today)
    assert {name for name in asked if asked_now[name] - asked[name]} == set()
    assert {
        name for name in given if given[name] - given_now.get(name, given[name])
    } == set()


def _outline(part):
    """Return what clients rely on; the order of lists does not matter."""
    if isinstance(part, list):
        named = [_outline(one) for one in part]
        return {
            json.dumps(one.get("name", one) if isinstance(one, dict) else one): one
            for one in named
        }
    if not isinstance(part, dict):
        return part
    return {
        name: _outline(value)
        for name, value in part.items()
        if isinstance(value, dict) or not FREE.fullmatch(name)
    }


def _required(schema):
    """Return what each request must have, and what each answer has, by name."""
    schemas = schema["components"]["schemas"]
    given = {name: set(one.get("required", ())) for name, one in schemas.items()}
    asked = {}
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            needs = {
                one["name"]
                for one in operation.get("parameters", ())
                if one.get("required")
            }
            for name in re.findall(r"schemas/(\w+)", str(operation.get("requestBody"))):
                needs |= given.pop(name, set()) | set(schemas[name].get("required", ()))
            asked[f"{method} {path}"] = needs
    return asked, given
