"""Everybody sees a task's judges: programs, what they may do here, and why."""

from __future__ import annotations

import pytest
from django.urls import reverse

from genie.lib import jobs
from leaderboard.metric_board.services import boards
from leaderboard.models import JudgeLicence, JudgeRun, Submission
from tests.cast import allow
from tests.factories import make_user
from tests.leaderboard.judges.conftest import add_system, approved, worked
from tests.leaderboard.judges.test_scripts import make_script
from tests.leaderboard.metric_board.conftest import (  # noqa: F401
    cast,
    rival,
    rival_team,
    staff,
    submitter,
    superuser,
    team,
    team_mate,
    world,
)

pytestmark = pytest.mark.django_db


def licence(run, state, **fields):
    reasons = [{"name": "agreement", "holds": state != "REFUSED", "words": "gap 0.01"}]
    row = {"reasons": reasons, "facts": {"crowd": "Prolific"}, **fields}
    return JudgeLicence.objects.create(run=run, criterion="overall", state=state, **row)


def test_the_page_calls_programs_programs_and_says_why(client, judged):
    run = worked(approved(make_script(), judged))
    address = f"/tasks/{judged.slug}/judges/"
    assert "not decided yet" in client.get(address).content.decode()
    licence(run, "LICENSED")
    licence(run, "EXPIRED", moved=["crowd: Prolific, now <b>us</b>"])
    page = client.get(address).content.decode()
    assert "program: a script" in page
    assert "crowd: Prolific, now &lt;b&gt;us&lt;/b&gt;" in page
    assert "agreement, passed:</strong> gap 0.01" in page
    assert "6 of 6 questions answered, 0 without a valid answer" in page
    assert run.judge.signature in page
    (told,) = client.get(f"/api/v1/tasks/{judged.slug}/judges/").json()
    assert (told["scripted"], told["what"]) == (True, "a script")
    (one,) = told["licences"]
    assert one["state"] == "expired"
    assert [row["state"] for row in one["rows"]] == ["expired", "licensed"]
    assert client.get("/tasks/nothing/judges/").status_code == 404


def test_what_rests_on_private_outputs_is_for_staff(client, judged):
    hidden = Submission.Visibility.PRIVATE
    add_system(judged, "Owl", lambda at: "c" * 9, visibility=hidden)
    run = worked(
        approved(make_script(), judged, said={"private": True}, with_private=True)
    )
    licence(run, "LICENSED")
    address = f"/tasks/{judged.slug}/judges/"
    told = f"/api/v1/tasks/{judged.slug}/judges/"
    client.force_login(make_user("stranger"))
    assert "No judges" in client.get(address).content.decode()
    assert client.get(told).json() == []
    user = make_user("olga", is_staff=True)
    allow(user, "leaderboard.view_judgerun")
    client.force_login(user)
    assert "program: a script" in client.get(address).content.decode()


def test_staff_read_the_rows_and_decide_again(client, judged):
    run = worked(approved(make_script(), judged))
    licence(run, "LICENSED")
    client.force_login(make_user("boss", is_staff=True, is_superuser=True))
    page = client.get(reverse("admin:leaderboard_judgerun_change", args=[run.pk]))
    assert "overall: LICENSED (agreement: gap 0.01)" in page.content.decode()
    listed = reverse("admin:leaderboard_judgerun_changelist")
    chosen = {"action": "license_selected", "_selected_action": [run.pk]}
    client.post(listed, {**chosen, "confirmed": "yes", "reason": "New ratings."})
    told = client.get(f"/api/v1/judge-runs/{run.pk}/licences/").json()["licences"]
    # nobody has rated, and on other facts than when it was given
    assert [row["state"] for row in told] == ["expired", "licensed"]
    assert told[0]["moved"][0] == "crowd: Prolific, now Our own workers"


def test_the_row_of_the_metric_board_has_the_word(client, world):  # noqa: F811
    made = make_script()
    worked(approved(made, world.task))
    boards.refresh(world.task)
    jobs.drain()
    address = f"/tasks/{world.task.slug}/metrics/"
    run = JudgeRun.objects.get()
    for state, word in [
        (None, "no licence"),
        ("REFUSED", "no licence"),
        ("LICENSED", "licensed"),
        ("EXPIRED", "licence expired"),
    ]:
        JudgeLicence.objects.all().delete()
        if state:
            licence(run, state)
        page = client.get(address).content.decode()
        assert f'/judges/">program: {word}</a>' in page
        told = client.get(f"/api/v1/tasks/{world.task.slug}/metric-board/").json()
        words = {line["label"]: line["licence"] for line in told["metrics"]}
        assert words == {"chrF": "", "TER": "", "script: words 1 (overall)": word}
        table = client.get(f"{address}files/agreement.csv").content.decode()
        assert f",{word}" in table
