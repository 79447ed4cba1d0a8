"""The schema and the page that is written from it."""

import re

from django.core.management import call_command
from django.test import Client
from django.urls import get_resolver
from jsonschema import Draft202012Validator

from leaderboard.api.problems import KINDS
from leaderboard.site.api.operations import groups
from tests.leaderboard.api.conftest import schema


def test_the_schema_is_valid_and_raises_no_warning(tmp_path):
    call_command(
        "spectacular",
        "--validate",
        "--fail-on-warn",
        file=str(tmp_path / "schema.yaml"),
    )


def test_every_route_is_in_the_schema():
    routes = {
        f"/api/v1/{pattern.pattern}"
        for resolver in get_resolver().url_patterns
        if str(resolver.pattern) == "api/v1/"
        for pattern in resolver.url_patterns
        if pattern.name != "nowhere"
    }
    named = {re.sub(r"<\w+:(\w+)>", r"{\1}", route) for route in routes}
    assert len(named) > 20
    assert {re.sub(r"\{\w+\}", "{}", r) for r in named} == {
        re.sub(r"\{\w+\}", "{}", path) for path in schema()["paths"]
    }


def test_the_page_lists_every_operation_and_every_code(client):
    assert client.get("/api/").headers["Location"] == "/api/docs/"
    answer = client.get("/api/docs/")
    assert answer.status_code == 200
    there = client.get("/api/docs/", headers={"host": "localhost"})
    assert "http://localhost/api/v1/submissions/" in there.text
    for path, methods in schema()["paths"].items():
        for method in methods:
            assert f"{method.upper()} {path}" in answer.text
    for code in KINDS:
        assert f'id="{code}"' in answer.text
    # it loads no file from other servers
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
    assert "<script" not in answer.text
    assert not re.search(r"\sstyle=|\son\w+=", answer.text)
    # a browser loads neither of these
    loaded = re.sub(r'<link rel="(?:canonical|alternate)"[^>]*>', "", answer.text)
    assert not re.search(r'(?:src|href)="https?://', loaded)


def test_every_operation_has_an_example_that_fits_its_own_schema():
    """Recorded from a site; whoever adds a field or an operation adds it there."""
    with_components = {"components": schema()["components"]}
    for path, methods in schema()["paths"].items():
        for method, operation in methods.items():
            answers = [
                content
                for status, answer in operation["responses"].items()
                if status.startswith("2")
                for media_type, content in answer.get("content", {}).items()
                if "json" in media_type
            ]
            for content in answers:
                validator = Draft202012Validator(
                    {**content["schema"], **with_components}
                )
                validator.validate(content["example"])
            body = operation.get("requestBody", {}).get("content", {})
            for content in body.values():
                assert "example" in content, (method, path)


def test_every_group_has_a_page_with_an_example_of_each_operation():
    paths = schema()["paths"].values()
    ids = sorted(one["operationId"] for m in paths for one in m.values())
    assert sorted(one["id"] for group in groups() for one in group.operations) == ids
    texts = {}
    for group in groups():
        text = texts[group.slug] = Client().get(f"/api/docs/{group.slug}/").text
        for operation in group.operations:
            assert f'<h2 id="{operation["id"]}">' in text
        assert text.count("curl ") >= len(group.operations)
        assert "{base}" not in text
    assert Client().get("/api/docs/nowhere/").status_code == 404
    # choices of parameters and fields of answers are named
    assert "asc | desc" in texts["tasks"]
    for field in ("system_name", "anonymous_until", "histogram"):
        assert f"{field}</code>" in texts["submissions"]
    assert "<code>scores[].histogram</code>" in texts["submissions"]
    assert "<code>metrics{}.signature</code>" in texts["submissions"]
