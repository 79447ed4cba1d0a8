"""The committed schema is the one that the site serves, and has all that 0.1.0 had."""

import json
import re

import pytest

from tests.nets.conftest import FILES
from tests.nets.releases import lost
from tests.nets.test_releases import kept

# Texts and bounds may change.
FREE = re.compile("description|summary|tags|version|default|m..imum|m..Length|required")


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
    asked, given = _required(before)
    asked_now, given_now = _required(today)
    assert [name for name in asked if asked_now[name] - asked[name]] == []
    answers = [name for name in given if not name.startswith("New")]
    assert [name for name in answers if given[name] - given_now[name]] == []


def _outline(part):
    """Return what clients rely on; the order of lists does not matter."""
    if isinstance(part, list):
        outlines = [_outline(one) for one in part]
        return {
            str(one.get("name", one) if isinstance(one, dict) else one): one
            for one in outlines
        }
    if not isinstance(part, dict):
        return part
    kinds = [(name, isinstance(value, dict)) for name, value in part.items()]
    names = [name for name, is_dict in kinds if is_dict or not FREE.fullmatch(name)]
    return {name: _outline(part[name]) for name in names}


def _required(schema):
    """Return by operation what it requires, and by schema what answers always have."""
    schemas = schema["components"]["schemas"]
    always = {name: set(one.get("required", ())) for name, one in schemas.items()}
    asked = {}
    for path, operations in schema["paths"].items():
        for method, one in operations.items():
            parameters = one.get("parameters", ())
            needs = {each["name"] for each in parameters if each.get("required")}
            for name in re.findall(r"schemas/(\w+)", str(one.get("requestBody"))):
                needs |= always[name]
            asked[f"{method} {path}"] = needs
    return asked, always
