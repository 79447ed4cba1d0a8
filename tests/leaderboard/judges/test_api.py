"""Runs of judges by program: priced, approved to the cent, watched."""

import pytest

from leaderboard.models import JudgeRun
from tests.cast import allow
from tests.factories import make_user
from tests.leaderboard.judges.conftest import make_script, worked

RUNS = "/api/v1/judge-runs/"


@pytest.fixture
def organiser(client):
    user = make_user("olga", is_staff=True)
    allow(user, *(f"leaderboard.{verb}_judgerun" for verb in ("view", "add", "change")))
    client.force_login(user)
    return client


def post(client, path, **body):
    return client.post(path, body, content_type="application/json")


def test_a_run_is_priced_approved_and_watched(organiser, judged):
    made = post(organiser, RUNS, judge=make_script().pk, task=judged.slug)
    assert made.status_code == 201
    run = made.json()
    assert run["scripted"]
    assert (run["state"], run["n"], run["most_cents"]) == ("ASKED", 6, 0)
    decision = f"{RUNS}{run['id']}/decision/"
    assert post(organiser, decision, decision="approve").json()["code"] == "invalid"
    said = {"decision": "approve", "cents": 0}
    wrong = post(organiser, decision, **said, references=True)
    assert wrong.json()["code"] == "not-approvable"
    over = post(organiser, decision, decision="approve", cents=5)
    assert over.json()["code"] == "over-budget"
    assert post(organiser, decision, **said).json()["state"] == "RUNNING"
    assert post(organiser, decision, **said).status_code == 409
    worked(JudgeRun.objects.get())
    told = organiser.get(f"{RUNS}{run['id']}/").json()
    assert (told["state"], told["answered"], told["spent_cents"]) == ("DONE", 6, 0)
    assert told["models"] == ["script words"]
    [listed] = organiser.get(RUNS, {"task": judged.slug}).json()["results"]
    assert listed == told
    bad = post(
        organiser, RUNS, judge=make_script().pk, task=judged.slug, criteria=["x"]
    )
    assert bad.json()["code"] == "unusable-question"
