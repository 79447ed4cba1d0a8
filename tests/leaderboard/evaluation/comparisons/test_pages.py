"""What people see of comparisons, who may see it, and how staff decide."""

import re
from dataclasses import replace

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from crowd.models import Campaign
from leaderboard.evaluation import decide, views
from leaderboard.evaluation.charts import course
from leaderboard.evaluation.expected import expected_labels
from leaderboard.evaluation.selectors import joint as joint_selectors
from leaderboard.evaluation.selectors.comparisons import (
    comparisons_seen_by,
    standing_of,
    verdict,
    why_ended_early,
)
from leaderboard.evaluation.services import comparison
from leaderboard.evaluation.services.comparison import Question
from leaderboard.models import (
    Comparison,
    HumanEvaluation,
    JointEvaluation,
    Submission,
)
from leaderboard.stats.stopping.outlook import course_of
from leaderboard.stats.stopping.sequential import BetaMixture, SignFlips, exact_walk
from leaderboard.submissions.selectors import Staff
from tests.cast import allow
from tests.factories import make_score, signed_in
from tests.leaderboard.evaluation.comparisons.conftest import config_with
from tests.leaderboard.evaluation.steps import send_out, settle


@pytest.fixture
def stranger(db):
    return get_user_model().objects.create_user("rita")


def test_the_page_of_a_running_comparison_shows_estimate_band_and_what_is_needed(
    right, wrong, ask, crowd, boss
):
    found = ask(right, wrong, delta=0.001, max_pairs=30)
    crowd.work()
    settle()
    found.refresh_from_db()
    assert found.n_waves > 1
    for _ in range(2):
        crowd.do_hit(crowd.players[2])
    page = signed_in(boss).get(f"/comparisons/{found.pk}/").text
    standing = standing_of(found)
    assert f"{standing.n_labels} of 30 at most" in page
    assert 'class="band"' in page
    assert 'class="line"' in page
    assert "Still needed at the current rate" in page
    assert f"{standing.still} labels" in page
    assert f"${standing.spent_cents / 100:.2f}" in page
    assert standing.spent_cents > 0
    assert not re.search(r"\sstyle=", page)


def test_the_page_of_a_decided_one_says_which_is_better(told_apart):
    found = told_apart
    page = Client().get(f"/comparisons/{found.pk}/").text
    n_workers = standing_of(found).answers.n_workers
    assert n_workers > 1
    decided = f"decided after {found.n_labels} labels by {n_workers} workers with"
    assert f"Right is better than Wrong, {decided}" in page
    assert "with at least 95% confidence" in page
    assert "simulated: not rated by people" in page
    # money is nobody else's business
    assert "Spent" not in page


def ended(found, state):
    HumanEvaluation.objects.filter(pk=found.pk).update(state=state)


def test_a_rule_that_errs_more_often_than_it_says_is_labelled(right, wrong, ask):
    found = ask(right, wrong, rule="hoeffding", max_pairs=30)
    page = Client().get(f"/comparisons/{found.pk}/").text
    assert "not anytime-valid" in page
    ended(found, "DECIDED")
    result = make_score(right, 0.8, 0.2, evaluation=found.evaluation)
    Comparison.objects.filter(pk=found.pk).update(better="A", n_labels=9, result=result)
    found.refresh_from_db()
    assert "actual confidence is lower" in verdict(found, standing_of(found))


def test_an_ended_one_explains_unused_pairs(told_apart, boss):
    found = told_apart
    standing = standing_of(found)
    unused = 36 - standing.n_asked
    assert unused > 0
    page = signed_in(boss).get(f"/comparisons/{found.pk}/").text
    assert "Up to 40 pairs were approved, but only 36 could be asked" in page
    said = f"{unused} of 36 pairs were not used: the answer was clear without them."
    assert said in page
    left = (found.approved_cents - standing.spent_cents) / 100
    assert left > 0
    assert f'Not spent</th><td class="right num">${left:,.2f}</td>' in page

    ended(found, "UNDECIDED")
    page = Client().get(f"/comparisons/{found.pk}/").text
    assert f"Inconclusive after {found.n_labels} labels." in page
    assert "the remaining budget did not pay for another pair" in page
    assert "Not spent" not in page

    whole = replace(standing, n_labels=standing.n_asked)
    assert "have no label" not in why_ended_early(found, whole)
    lacking = replace(whole, n_labels=whole.n_asked - 2)
    said = f"2 of {whole.n_asked} pairs have no label"
    assert said in why_ended_early(found, lacking)


@pytest.mark.every_engine
def test_who_sees_what(right, wrong, boss, sam, stranger):
    found = comparison.request(right, wrong, Question("overall"), by=boss)
    address = f"/comparisons/{found.pk}/"
    assert Client().get(address).status_code == 404
    assert signed_in(stranger).get(address).status_code == 404
    assert signed_in(boss).get(address).status_code == 200
    decide.approve(found, by=boss)
    assert Client().get(address).status_code == 200
    Submission.objects.filter(pk=wrong.pk).update(visibility="PRIVATE")
    assert Client().get(address).status_code == 404
    assert signed_in(stranger).get(address).status_code == 404
    assert signed_in(sam).get(address).status_code == 200
    assert list(comparisons_seen_by(None)) == []


def post_question(client, chosen, **fields):
    return client.post(
        "/tasks/demo-qa/compare/",
        {
            **dict(zip("ab", (one.pk for one in chosen), strict=True)),
            "criterion": "overall",
            "delta": "0.01",
            "strategy": "majority-3",
            "max_pairs": 20,
            **fields,
        },
    )


@pytest.mark.every_engine
def test_a_submitter_asks_about_two_systems(right, wrong, sam):
    answer = post_question(signed_in(sam), [right, wrong])
    found = Comparison.own.get()
    assert answer.status_code == 302
    assert answer["Location"] == f"/comparisons/{found.pk}/"
    assert (found.strategy, found.n_workers, found.delta) == ("majority", 3, 0.01)
    assert found.rule == "beta-mixture"
    assert (found.state, found.requested_by) == ("REQUESTED", sam)
    settle()
    assert Campaign.own.count() == 0


def test_the_page_shows_labels_and_price_by_strategy_and_six_controls(
    right, wrong, sam, settings
):
    client = signed_in(sam)
    two = client.get(f"/tasks/demo-qa/compare/?a={right.pk}&b={wrong.pk}")
    form = two.text[two.text.index('class="form"') :].partition("</form>")[0]
    controls = re.findall(r"<(?:select|textarea|input(?! type=.hidden))", form)
    assert len(controls) == 6
    assert f'<option value="{right.pk}" selected>' in form
    rows = {row["words"]: row for row in two.context["figures"]["rows"]}
    one, three = rows["One person for each pair"], rows["The majority of three"]
    assert (one["rule"].name, three["rule"].name) == (
        "worker-sign-flips",
        "beta-mixture",
    )
    answer = post_question(client, [right, wrong], delta="0.05", max_pairs=400, show="")
    assert answer.status_code == 200
    assert Comparison.own.count() == 0
    page = re.sub(r"<[^>]+>|\s+", " ", answer.text)
    assert f"${three['cents'] / 100:,.2f}" in page
    fewest = SignFlips(0.025).fewest_workers(answer.context["figures"]["most"])
    assert f"needs at least {fewest} raters to decide" in page
    assert page.count("not valid for other raters") == 5
    # of independent labels, about half of all comparisons have decided by then
    right.task.n_instances = 1000
    for row in expected_labels(right.task, Question("overall", max_pairs=1000))["rows"][
        1:
    ]:
        share = 0.65 if "same" in row["words"] else 0.65**2 * (3 - 1.3)
        if "five" not in row["words"] and "seven" not in row["words"]:
            exact = exact_walk(row["rule"], share, 1000).decided_by[row["labels"] - 1]
            assert 0.4 < exact < 0.65, row


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["one-worker", "fixed-worker", "majority-3", "max-three"])  # fmt: skip
def test_each_strategy_decides_at_the_papers_confidence(
    strategy, right, wrong, boss, task, finish
):
    config_with(task, **task.config["comparison"], rule="beta-mixture")
    asked = {"strategy": strategy, "delta": "0.0001", "max_pairs": 40}
    assert post_question(signed_in(boss), [right, wrong], **asked).status_code == 302
    found = finish(send_out(Comparison.own.get(), boss))
    assert (found.state, found.better, found.delta) == ("DECIDED", "A", 0.0001)
    assert found.strategy in strategy
    assert "99.99%" in Client().get(f"/comparisons/{found.pk}/").text


@pytest.mark.every_engine
def test_people_ask_about_own_systems_only(right, wrong, stranger, boss):
    assert Client().get("/tasks/demo-qa/compare/").status_code == 302
    answer = post_question(signed_in(stranger), [right, wrong])
    assert answer.status_code == 400
    # written into the page, the apostrophe is a reference
    assert "belong to your team" in answer.text
    assert Comparison.own.count() == 0
    assert post_question(signed_in(boss), [right, wrong]).status_code == 302


def test_staff_ask_about_others_systems_if_they_may(right, wrong, stranger):
    stranger.is_staff = True
    stranger.save()
    assert post_question(signed_in(stranger), [right, wrong]).status_code == 400
    allow(stranger, Staff.ASK_COMPARISONS)
    assert post_question(signed_in(stranger), [right, wrong]).status_code == 302


def test_a_form_that_cannot_be_asked_comes_back(right, wrong, sam):
    for fields in [
        {"a": ""},
        {"b": right.pk},
        {"criterion": "beauty"},
        {"delta": "0.7"},
        {"strategy": "everybody"},
        {"max_pairs": 0},
        {"max_pairs": "many"},
        {"b": "999999"},
    ]:
        answer = post_question(signed_in(sam), [right, wrong], **fields)
        assert answer.status_code == 400, fields
    assert Comparison.own.count() == 0


def test_staff_approve_with_the_total_before_their_eyes(right, wrong, boss):
    found = comparison.request(right, wrong, Question("overall", max_pairs=20), by=boss)
    client, own = signed_in(boss), f"/admin/leaderboard/comparison/{found.pk}/"
    shown = client.get(f"{own}change/").text
    assert f"{own}approve/" in shown
    assert f"{own}stop/" not in shown
    assert "The total is" in client.get(f"{own}approve/").text
    missing = client.get(f"/admin/leaderboard/comparison/{10**6}/approve/")
    assert missing.status_code == 404
    data = {"action": "approve_selected", "_selected_action": [found.pk]}
    address = "/admin/leaderboard/comparison/"
    page = client.post(address, data).text
    cost = decide.quote(found).total_cents
    assert f"${cost / 100:,.2f}, at least 10 workers" in page
    found.refresh_from_db()
    assert found.state == "REQUESTED"
    client.post(address, {**data, "confirmed": "yes", "shown_cents": "1"})
    found.refresh_from_db()
    assert found.state == "REQUESTED"
    client.post(address, {**data, "confirmed": "yes", "shown_cents": str(cost)})
    found.refresh_from_db()
    assert (found.state, found.approved_cents) == ("APPROVED", cost)
    stop = {**data, "action": "stop_selected", "confirmed": "yes"}
    client.post(address, {**stop, "reason": ""})
    found.refresh_from_db()
    assert found.state == "APPROVED"
    client.post(address, {**stop, "reason": "Wrong texts."})
    found.refresh_from_db()
    assert (found.state, found.decision_reason) == ("STOPPED", "Wrong texts.")


def test_a_joint_evaluation_has_one_page_and_one_answer_of_the_api(
    ranked, three, boss, sam, monkeypatch
):
    fields = {"systems": [one.pk for one in three], "criteria": ["quality"]}
    answer = signed_in(sam).post(
        "/tasks/demo-qa/side-by-side/", {**fields, "n_instances": 8, "n_workers": 2}
    )
    asked = JointEvaluation.objects.exclude(pk=ranked.pk).get()
    assert (asked.n_asked, asked.n_workers) == (8, 2)
    assert answer["Location"] == f"/joint-evaluations/{asked.pk}/"
    assert Client().get(answer["Location"]).status_code == 404
    found, address = ranked, f"/joint-evaluations/{ranked.pk}/"
    page = Client().get(address).text
    for word in ("Cluster", "TrueSkill", "ICC(1,k)", "geometric mean", "Right"):
        assert word in page
    assert '1 <span class="quiet">100% same</span>' in page
    assert "vs. <bdi>Right</bdi>" in page
    for module in (joint_selectors, views):
        monkeypatch.setattr(module, "MANY", 2)
    many = Client().get(address).text
    assert "<h1>3 systems, side by side</h1>" in many
    assert "vs. <bdi>" not in many
    assert len(many) < len(page)
    inner = signed_in(boss).get(f"/api/v1/joint-evaluations/{found.pk}/").json()
    assert 0 < inner["spent_cents"] <= inner["approved_cents"]
    address = f"/api/v1/joint-evaluations/{found.pk}/"
    with CaptureQueriesContext(connection) as queries:
        told = Client().get(address).json()
    assert sum('FROM "leaderboard_submission"' in one["sql"] for one in queries) == 1
    assert (told["spent_cents"], told["approved_cents"]) == (None, None)
    three[0].system_name = "Renamed"
    three[0].save()
    with CaptureQueriesContext(connection) as queries:
        assert all("Renamed" in Client().get(address).text for _ in range(2))
    # the matrices are read once for both
    assert sum('."results"' in one["sql"] for one in queries) == 1
    listed = Client().get("/api/v1/joint-evaluations/?task=demo-qa").json()
    assert [one["id"] for one in listed["results"]] == [found.pk]


def test_the_api_tells_how_a_comparison_stands(told_apart, boss):
    found = told_apart
    inner = signed_in(boss).get(f"/api/v1/comparisons/{found.pk}/").json()["standing"]
    assert inner["spent_cents"] == standing_of(found).spent_cents > 0
    assert inner["approved_cents"] == found.approved_cents > 0
    told = Client().get(f"/api/v1/comparisons/{found.pk}/").json()
    assert (told["state"], told["better"], told["a"]["system"]) == (
        "DECIDED",
        "A",
        "Right",
    )
    assert told["standing"]["low"] > 0.5
    assert told["standing"]["anytime_valid"] is True
    assert told["standing"]["n_votes"] >= told["standing"]["n_labels"] > 0
    assert told["standing"]["spent_cents"] is None
    assert told["standing"]["approved_cents"] is None
    listed = Client().get("/api/v1/comparisons/?task=demo-qa").json()
    assert [one["id"] for one in listed["results"]] == [found.pk]
    assert Client().get("/api/v1/comparisons/?task=nothing").status_code == 404
    assert Client().get("/api/v1/comparisons/999/").status_code == 404


def test_the_seed_that_hides_test_questions_is_told_when_it_is_over(
    told_apart, right, wrong, ask, boss
):
    found = ask(right, wrong, max_pairs=30)
    address = f"/comparisons/{found.pk}/"
    for reader in (Client(), signed_in(boss)):
        assert str(found.seed) not in reader.get(address).text
        assert reader.get(f"/api/v1{address}").json()["seed"] is None
    found, address = told_apart, f"/comparisons/{told_apart.pk}/"
    assert str(found.seed) in Client().get(address).text
    assert Client().get(f"/api/v1{address}").json()["seed"] == found.seed


@pytest.mark.parametrize(
    ("decided", "line", "words"), [(40, 1, 1), (290, 1, 0), (301, 0, 0), (None, 0, 0)]
)
def test_the_chart_says_when_it_was_decided_where_there_is_room(decided, line, words):
    found = course_of(BetaMixture(0.025), [True] * 300)
    drawn = course(found, first="A", second="B", description="x", decided=decided)
    assert drawn.count('class="decided"') == line
    assert drawn.count("decided at 40</text>") == words


@pytest.mark.parametrize("n", [0, 1, 2, 500])
def test_the_chart_stays_inside_its_frame_and_escapes_names(n):
    found = course_of(BetaMixture(0.025), [i % 3 > 0 for i in range(n)])
    drawn = course(found, first="<b>A</b>", second="B", description="x")
    if n == 0:
        assert drawn == ""
        return
    assert "<b>" not in drawn
    numbers = re.findall(r'points="([^"]+)"', drawn)
    for pair in " ".join(numbers).split():
        x, y = (float(part) for part in pair.split(","))
        assert 0 <= x <= 640
        assert 0 <= y <= 240
