"""A board's records pass the schema of Every Eval Ever, and hold public rows only."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone
from jsonschema import Draft7Validator

from leaderboard.boards.exports.every_eval_ever import SCHEMA_VERSION
from leaderboard.models import Submission
from tests.factories import make_ranked, make_submission

ADDRESS = "/tasks/tidy-news/every-eval-ever.json"
SCHEMA = json.loads(
    Path(__file__)
    .with_name(f"every_eval_ever-{SCHEMA_VERSION}.schema.json")
    .read_text("utf-8")
)


@pytest.fixture
def systems(task, team, submitter):
    who = {"team": team, "owner": submitter}
    make_ranked(task, 80, system="Kite", **who)
    make_ranked(task, 79, system="Robot", simulated=True, **who)
    make_ranked(task, 99, system="Secret", visibility="PRIVATE", **who)
    make_submission(task, system="Egret", **who)
    Submission.objects.filter(system_name="Kite").update(
        organization="Kite Lab", weights="open", parameters="7B"
    )


PEOPLE = json.loads(
    (settings.BASE_DIR / "docs" / "every-eval-ever-people.schema.json").read_text()
)


def records(client):
    return {r["model_info"]["name"]: r for r in client.get(ADDRESS).json()}


def test_each_record_passes_the_schema_and_says_how_sure_it_is(client, systems):
    found = records(client)
    Draft7Validator.check_schema(SCHEMA)
    for record in found.values():
        Draft7Validator(SCHEMA).validate(record)
    assert "Secret" not in found
    assert record["schema_version"] == SCHEMA["version"]
    human, *metrics = found["Kite"]["evaluation_results"]
    assert human["score_details"]["score"] == 80.0
    assert human["score_details"]["uncertainty"]["confidence_interval"]["lower"] == 78
    assert {m["metric_config"]["metric_id"] for m in metrics} == {"sacrebleu", "rougeL"}
    assert "simulated" in found["Robot"]["source_metadata"]["additional_details"]
    about = found["Kite"]["model_info"]["additional_details"]
    assert (about["parameters"], about["model_availability"]) == ("7B", "open_weights")
    # what only has metrics says nothing of people
    for result in found.get("Egret", {"evaluation_results": []})["evaluation_results"]:
        assert not result["metric_config"]["metric_id"].startswith("genie.human")


def test_the_schema_would_notice(client, systems):
    record = records(client)["Kite"]
    record["source_metadata"]["additional_details"]["ranks"] = 1
    assert list(Draft7Validator(SCHEMA).iter_errors(record))


def test_an_anonymous_system_names_nobody(client, systems):
    until = timezone.now().date() + timedelta(days=3)
    Submission.objects.filter(system_name="Kite").update(anonymous_until=until)
    text = client.get(ADDRESS).content.decode()
    assert "Kite Lab" not in text
    assert records(client)["Kite"]["model_info"]["id"] == "anonymous/Kite"


def test_scores_say_who_gave_them_under_the_proposed_schema(client, systems):
    Draft7Validator.check_schema(PEOPLE)
    found = records(client)
    human = found["Kite"]["evaluation_results"][0]["metric_config"]["human_scoring"]
    Draft7Validator(PEOPLE).validate(human)
    assert human["raters"]["kind"] == "people"
    assert human["pay"]["per_assignment"] == 0.09
    assert human["instrument"]["question"] == "Is the text as good as one by a person?"
    assert human["instrument"]["options"]
    assert human["agreement"] is None  # no two of them rated the same output
    robot = found["Robot"]["evaluation_results"][0]["metric_config"]["human_scoring"]
    Draft7Validator(PEOPLE).validate(robot)
    assert (robot["raters"]["kind"], robot["pay"]) == ("simulated", None)
    # the schema would notice a number that is none
    human["pay"]["per_hour"] = "15"
    assert list(Draft7Validator(PEOPLE).iter_errors(human))


def test_files_name_the_site_as_it_is_set_not_the_host_that_was_asked(
    client, systems, settings
):
    settings.GENIE = {**settings.GENIE, "SITE_URL": "https://genie.example.org/"}
    settings.ALLOWED_HOSTS = ["*"]
    text = client.get(ADDRESS, headers={"host": "10.0.0.7"}).content.decode()
    assert "10.0.0.7" not in text
    assert "https://genie.example.org/tasks/tidy-news/" in text
    board = client.get("/tasks/tidy-news/board.json", headers={"host": "10.0.0.7"})
    assert board.json()["address"].startswith("https://genie.example.org/tasks/")
    # who had rated by a past moment is not known
    past = client.get(f"{ADDRESS}?at={timezone.now():%Y-%m-%dT%H:%M:%SZ}")
    assert "human_scoring" not in past.content.decode()
