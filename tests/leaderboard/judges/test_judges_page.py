"""Everybody sees a task's judges: programs, what they may do here, and why."""

import html
import re

import pytest
from django.urls import reverse
from django.utils import timezone

from genie.lib import jobs
from leaderboard.evaluation.selectors.board_ratings import BY_PEOPLE
from leaderboard.judges.selectors.validation import Validation
from leaderboard.judges.services import license as licensing
from leaderboard.judges.services.work import finish
from leaderboard.metric_board import services
from leaderboard.models import JudgeLicence, JudgeRun, OutsideMetric, Submission
from tests.browser import overflows, violations
from tests.cast import allow
from tests.factories import make_score, make_user
from tests.leaderboard.judges.conftest import add_system, approved, make_script, worked
from tests.leaderboard.judges.test_licence import rated_task, say


@pytest.fixture
def ranked():
    task = rated_task("Kite", "Wren", "Owl")
    for system in task.submissions.order_by("pk"):
        make_score(system, 50.0 + system.pk, evaluation=system.human_evaluation)
    return task


def licence(run, state, **fields):
    reasons = [{"name": "agreement", "holds": state != "REFUSED", "words": "gap 0.01"}]
    row = {"reasons": reasons, "facts": {"crowd": "Prolific"}, **fields}
    return JudgeLicence.objects.create(run=run, criterion="overall", state=state, **row)


def test_the_page_calls_programs_programs_and_says_why(client, judged):
    run = worked(approved(make_script(), judged))
    address = f"/tasks/{judged.slug}/judges/"
    assert "not decided yet" in client.get(address).text
    licence(run, "LICENSED")
    licence(run, "EXPIRED", moved=["crowd: Prolific, now <b>us</b>"])
    page = client.get(address).text
    assert "program: a script" in page
    assert f'<span id="ranks">{BY_PEOPLE}</span>' in page
    assert "crowd: Prolific, now &lt;b&gt;us&lt;/b&gt;" in page
    assert checks(page) == [["agreement", "passed", "gap 0.01"]]
    assert judged.human.criteria["overall"] in html.unescape(page)
    assert "6 of 6 questions answered, 0 without a valid answer" in page
    assert run.judge.signature in page
    (told,) = client.get(f"/api/v1/tasks/{judged.slug}/judges/").json()["results"]
    assert (told["scripted"], told["what"]) == (True, "a script")
    (one,) = told["licences"]
    assert one["state"] == "expired"
    assert [row["state"] for row in one["rows"]] == ["expired", "licensed"]
    assert client.get("/tasks/nothing/judges/").status_code == 404


def checks(page):
    rows = re.findall(r"<tr>\s*<th scope=.row.>.*?</tr>", page, re.DOTALL)
    cells = [re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
    return [[re.sub(r"<.*?>", "", cell) for cell in row] for row in cells]


def test_each_question_has_its_checks_with_one_of_four_outcomes(client, judged):
    fluency = {**judged.config["human"]["criteria"], "fluency": "It reads well."}
    judged.config["human"]["criteria"] = fluency
    judged.save()
    run = worked(approved(make_script(), judged))
    licence(run, "LICENSED")
    reasons = [
        {"name": "agreement", "holds": False, "words": "gap 0.31"},
        {"name": "bias: length", "holds": False, "words": "not checked: no ratings"},
        {"name": "bias: order", "holds": True, "words": "does not apply: one output"},
    ]
    fields = {"run": run, "criterion": "fluency", "state": "REFUSED"}
    JudgeLicence.objects.create(reasons=reasons, **fields)
    page = client.get(f"/tasks/{judged.slug}/judges/").text
    first, second = page.partition("It reads well.")[::2]
    assert ">licensed</span>" in first
    assert ">not licensed</span>" in first.rpartition("<h3>")[2]
    assert checks(first) == [["agreement", "passed", "gap 0.01"]]
    assert checks(second) == [
        ["agreement", "failed", "gap 0.31"],
        ["bias: length", "not checked", "no ratings"],
        ["bias: order", "does not apply", "one output"],
    ]


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
    assert "No judges" in client.get(address).text
    assert client.get(told).json()["results"] == []
    user = make_user("olga", is_staff=True)
    allow(user, "leaderboard.view_judgerun")
    client.force_login(user)
    assert "program: a script" in client.get(address).text


def test_staff_read_the_rows_and_decide_again(client, judged):
    run = worked(approved(make_script(), judged))
    licence(run, "LICENSED")
    client.force_login(make_user("boss", is_staff=True, is_superuser=True))
    page = client.get(reverse("admin:leaderboard_judgerun_change", args=[run.pk]))
    assert "overall: LICENSED (agreement: gap 0.01)" in page.text
    listed = reverse("admin:leaderboard_judgerun_changelist")
    chosen = {"action": "license_selected", "_selected_action": [run.pk]}
    client.post(listed, {**chosen, "confirmed": "yes", "reason": "New ratings."})
    told = client.get(f"/api/v1/judge-runs/{run.pk}/licences/").json()["licences"]
    # nobody has rated, and on other facts than when it was given
    assert [row["state"] for row in told] == ["expired", "licensed"]
    assert told[0]["moved"][0] == "crowd: Prolific, now Our own workers"


def test_the_row_of_the_metric_board_has_the_word(client, ranked):
    made = make_script()
    worked(approved(made, ranked))
    services.refresh(ranked)
    jobs.drain()
    address = f"/tasks/{ranked.slug}/metrics/"
    run = JudgeRun.objects.get()
    for state, word in [
        (None, "no license"),
        ("REFUSED", "no license"),
        ("LICENSED", "licensed"),
        ("EXPIRED", "license expired"),
    ]:
        JudgeLicence.objects.all().delete()
        if state:
            licence(run, state)
        page = client.get(address).text
        assert f'/judges/">program: {word}</a>' in page
        told = client.get(f"/api/v1/tasks/{ranked.slug}/metric-board/").json()
        words = {line["label"]: line["licence"] for line in told["metrics"]}
        assert words["script: words 1 (overall)"] == word
        table = client.get(f"{address}files/agreement.csv").getvalue().decode()
        assert f",{word}" in table


def test_a_judge_that_says_what_people_say_gets_its_licence(ranked):
    run = worked(approved(make_script(), ranked, audit=20))
    people = Validation(run, "overall").overlap.people
    means = people.groupby(["submission", "instance"])["value"].mean()
    say(run, lambda call: means[call.submission_id, call.instance.position])
    run.metrics.all().delete()
    OutsideMetric.objects.update(withdrawn_at=timezone.now())
    JudgeRun.objects.update(state=JudgeRun.State.RUNNING)
    finish(run)
    services.refresh(ranked)
    jobs.drain()
    licensing.look(run.pk)
    (row,) = JudgeLicence.objects.all()
    assert [one for one in row.reasons if not one["holds"]] == []
    assert row.state == "LICENSED"


def test_many_runs_cost_as_many_queries_as_one(
    client, judged, django_assert_max_num_queries
):
    for script in ("words", "likes-long"):
        for asked in ({}, {"occasion": "again", "audit": 1}):
            run = worked(approved(make_script(script), judged, **asked))
            licence(run, "REFUSED")
    address, told = f"/tasks/{judged.slug}/judges/", f"/api/v1/tasks/{judged.slug}"
    with django_assert_max_num_queries(7):
        assert client.get(address).text.count("questions answered") == 4
    with django_assert_max_num_queries(5):
        assert client.get(f"{told}/judges/").json()["count"] == 2
    client.force_login(make_user("boss", is_staff=True, is_superuser=True))
    for page in (address, "/api/v1/judge-runs/", "/admin/leaderboard/judgerun/"):
        with django_assert_max_num_queries(10):
            assert client.get(page).status_code == 200


@pytest.mark.browser
def test_in_a_browser(judged, open_page):
    run = worked(approved(make_script(), judged))
    licence(run, "LICENSED")
    licence(run, "EXPIRED", moved=["crowd: Prolific, now Our own workers"])
    for width, scheme in (("phone", "dark"), ("desktop", "light")):
        found = open_page(f"/tasks/{judged.slug}/judges/", width=width, scheme=scheme)
        for summary in found.locator("main summary").all():
            summary.click()
        assert not overflows(found)
        assert violations(found) == []
