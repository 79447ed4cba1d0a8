import json
from functools import cache

import pytest
from django.core.cache import cache as throttle_counts
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from jsonschema import Draft202012Validator

from genie.accounts import tokens
from genie.accounts.models import AccessToken
from tests.factories import make_task

V1 = "/api/v1"


@pytest.fixture(autouse=True)
def fresh_throttles():
    throttle_counts.clear()


@pytest.fixture
def task(db):
    return make_task("tidy-news", title="Tidy news")


class Api:
    """Asks as one member of the cast, by token; checks each answer with the schema."""

    def __init__(self, user):
        self.client = Client(raise_request_exception=False)
        self.headers = {}
        if user is not None:
            self.headers = authorization(user)

    def get(self, path, **query):
        answer = self.client.get(f"{V1}{path}", query, headers=self.headers)
        return conforming(answer, "get")

    def post(self, path, data):
        answer = self.client.post(f"{V1}{path}", data, headers=self.headers)
        return conforming(answer, "post")

    def submit(self, content=None, *, name="predictions.json", **fields):
        if content is None:
            content = json.dumps({f"i{n}": f"Prediction {n}." for n in range(3)})
        if isinstance(content, str):
            content = content.encode()
        data = {
            "task": "tidy-news",
            "system_name": "Kite",
            "file": SimpleUploadedFile(name, content),
            **fields,
        }
        wanted = {key: value for key, value in data.items() if value is not None}
        return self.post("/submissions/", wanted)


def authorization(user, *scopes):
    everything = [
        scope for scope in AccessToken.Scope.values if scope != "staff" or user.is_staff
    ]
    _, secret = tokens.issue(user, name="test", scopes=scopes or everything, days=None)
    return {"Authorization": f"Bearer {secret}"}


# Who asks is in a team, and the rest of the cast is made only for tests that ask for it.
TEAMS = {"submitter": "team", "team_mate": "team", "rival": "rival_team"}


@pytest.fixture
def api_of(request):
    if hasattr(request.function, "cases"):  # each of which is undone
        request.getfixturevalue("cast")

    def api(name):
        request.getfixturevalue(TEAMS.get(name, "db"))
        return Api(None if name == "visitor" else request.getfixturevalue(name))

    return api


@cache
def schema():
    return SchemaGenerator().get_schema(request=None, public=True)


@cache
def documented_path(path):
    """Find the address of the schema that a request's address is an instance of."""
    wanted = path.strip("/").split("/")
    # submissions/validate/ is not the submission of that name
    for template in sorted(schema()["paths"], key=lambda one: one.count("{")):
        parts = template.strip("/").split("/")
        if len(parts) == len(wanted) and all(
            part == given or part.startswith("{")
            for part, given in zip(parts, wanted, strict=True)
        ):
            return template
    return None


def conforming(answer, method):
    """Hold an answer against the schema: its status, media type and shape."""
    template = documented_path(answer.request["PATH_INFO"])
    if template is None:
        return answer
    responses = schema()["paths"][template][method]["responses"]
    assert str(answer.status_code) in responses, (answer.status_code, answer.content)
    content = responses[str(answer.status_code)]["content"]
    media_type = answer["Content-Type"].split(";")[0]
    assert media_type in content
    validator = Draft202012Validator(
        {**content[media_type]["schema"], "components": schema()["components"]}
    )
    validator.validate(json.loads(answer.content))
    return answer
