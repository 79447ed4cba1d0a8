"""A mistyped field of a body is refused with what would have been right."""

import json

import pytest
from django.test import Client

from leaderboard.evaluation.services import comparison, joint
from leaderboard.models import Comparison
from leaderboard.papers.task_figures.api import NewPublishedSerializer
from tests.factories import make_predictions, make_submission
from tests.leaderboard.api.conftest import V1, authorization, schema


@pytest.fixture
def systems(task, cast):
    cast.team.members.add(cast.superuser, through_defaults={"role": "OWNER"})
    made = [
        make_submission(task, team=cast.team, owner=cast.superuser, system=name)
        for name in ("Kite", "Heron")
    ]
    for system in made:
        make_predictions(system)
    return made


def sent(user, method, path, body):
    return getattr(Client(), method)(
        path,
        json.dumps(body),
        content_type="application/json",
        headers=authorization(user),
    )


def taking(content_type):
    for path, methods in schema()["paths"].items():
        for method in {"post", "put", "patch"} & methods.keys():
            content = methods[method].get("requestBody", {}).get("content", {})
            # a run of judges takes a judge's server: its body is read below
            if next(iter(content), "") != content_type or "/judge-runs/{id}" in path:
                continue
            yield path, method


def test_every_operation_refuses_a_field_that_it_does_not_have(task, systems, cast):
    asked = comparison.request(
        *systems, comparison.Question("overall"), by=cast.superuser
    )
    together = joint.request(systems, by=cast.superuser)
    pk_of = {
        "comparisons": asked.pk,
        "joint-evaluations": together.pk,
        "submissions": systems[0].pk,
    }
    operations = list(taking("application/json"))
    assert len(operations) > 8
    for path, method in operations:
        kind = path.removeprefix(V1).split("/")[1]
        named = path.replace("{id}", str(pk_of.get(kind, 0))).replace(
            "{slug}", cast.team.slug if kind == "teams" else task.slug
        )
        answer = sent(cast.superuser, method, named, {"surprise": 1})
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid"), path
        assert answer.json()["errors"][0]["field"] == "surprise", path
    assert Comparison.objects.get().state == "REQUESTED"


def test_every_form_with_a_file_refuses_it_too(task, cast):
    operations = list(taking("multipart/form-data"))
    assert len(operations) > 4
    for path, method in operations:
        answer = getattr(Client(), method)(
            path.replace("{slug}", task.slug),
            {"surprise": "1"},
            headers=authorization(cast.superuser),
        )
        assert answer.json()["code"] == "invalid", path
        assert answer.json()["errors"][0]["field"] == "surprise", path


def test_objects_within_a_body_are_read_as_strictly():
    cells = [{"id": "Kite/score", "value": 1}, {"id": "Heron/score", "valeu": 2}]
    body = NewPublishedSerializer(data={"cells": cells})
    assert not body.is_valid()
    assert "valeu" in str(body.errors["cells"])
    assert "this object accepts: id, value" in str(body.errors["cells"])
