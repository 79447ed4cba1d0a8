"""Test questions are measured by a job, before any transaction; decisions only compare."""

import pytest
from django.db import connection, transaction
from django.test import Client

from crowd.models import Commitment
from leaderboard.evaluation import decide, run
from leaderboard.evaluation.services import comparison as compare
from leaderboard.evaluation.services.comparison import Question
from leaderboard.models import HumanEvaluation
from leaderboard.studio.services import start
from leaderboard.tasks.services import load
from quality.models import DrawnTests, TestCheck, TestQuestion
from quality.test_questions.separability import classifier, measure
from tests.crowd.making import items, make_campaign
from tests.factories import (
    asked_about,
    make_predictions,
    make_submission,
    make_team,
    make_user,
    signed_in,
)
from tests.kept import kept
from tests.leaderboard.admin.conftest import act, confirm
from tests.leaderboard.api.conftest import authorization
from tests.leaderboard.evaluation.steps import settle, shown_cents
from tests.refusals import refusal

UNMEASURED = "The test questions have not been measured yet, or have changed since"


@pytest.fixture
def task(db, settings):
    settings.GENIE = {**settings.GENIE, "TEST_QUESTIONS_CHECKED": True}
    return load.load_task("demo-summarization").task


@pytest.fixture
def systems(task):
    """Two systems that await approval."""
    return kept("two that wait", lambda: waiting(task))


@pytest.fixture
def known(systems, task):
    """The same when a job has measured their test questions."""
    return kept(
        "two that are measured",
        lambda: settle() or list(task.submissions.order_by("pk")),
    )


def waiting(task):
    user = make_user("nina")
    team = make_team("Heron", user)
    made = []
    for name, n_sentences in (("Kite", 1), ("Wren", 2)):
        system = make_submission(task, team=team, owner=user, system=name)
        rows = make_predictions(system)
        for row in rows:
            sentences = row.instance.fields["document"].split(". ")[:n_sentences]
            row.text = ". ".join(sentences) + "."
        system.predictions.bulk_update(rows, ["text"])
        made.append(system)
    return made


@pytest.fixture
def measured(monkeypatch):
    """Count classifiers, and note whether a transaction was open at each."""
    calls, real = [], classifier.held_out_scores

    def held_out_scores(*args, **kwargs):
        calls.append(connection.in_atomic_block)
        return real(*args, **kwargs)

    monkeypatch.setattr(measure, "held_out_scores", held_out_scores)
    return calls


def page_of(submission):
    return f"/admin/leaderboard/submission/{submission.pk}/approve/"


def pressed(client, submission, **fields):
    html = client.get(page_of(submission)).text
    sent = {"approve": "1", "shown_cents": shown_cents(html), "reason": "", **fields}
    return client.post(page_of(submission), sent, follow=True).text


def state_of(submission):
    submission.refresh_from_db()
    return submission.state


def test_neither_programs_nor_bulk_approvals_measure_within_a_request(
    systems, measured, admin_client, admin_user
):
    headers = authorization(admin_user)
    path = f"/api/v1/submissions/{systems[0].pk}/decision/"
    cents = admin_client.get(path, headers=headers).json()["cost_cents"]
    body = {"decision": "approve", "cost_cents": cents}
    refused = Client().post(path, body, "application/json", headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (409, "tests-not-measured")
    page = act(admin_client, "approve_selected", *systems)
    assert UNMEASURED in confirm(admin_client, page).text
    assert measured == []
    assert not Commitment.own.exists()


def test_what_is_measured_is_not_measured_again(known, measured):
    n = len(measured)
    settle()
    for submission in known:
        decide.measure_together(asked_about(submission))
    assert len(measured) == n
    assert DrawnTests.objects.count() == TestCheck.own.count() == 2


def test_a_task_that_changed_is_measured_again(known, task, admin_client, admin_user):
    kite, wren = known
    task.config["human"]["test_questions"] = "references"
    task.save()
    assert UNMEASURED in admin_client.get(page_of(kite)).text
    with refusal("tests-not-measured", match=UNMEASURED):
        decide.approve(asked_about(kite), by=admin_user, despite="A trial.")
    assert not Commitment.own.exists()
    settle()
    for submission in (kite, wren):
        html = admin_client.get(page_of(submission)).text
        assert UNMEASURED not in html
        assert "4 × a reference" in html


def test_texts_that_were_asked_meanwhile_are_drawn_again(known, task, admin_client):
    kite, wren = known
    other = make_campaign(of=items(3), pool=task.slug, key="other")
    TestQuestion.objects.create(
        campaign=other,
        item=other.items.first(),
        polarity="POSITIVE",
        text_sha256=kite.human_evaluation.drawn_tests.get().texts[0],
    )
    assert UNMEASURED in admin_client.get(page_of(kite)).text
    assert UNMEASURED not in admin_client.get(page_of(wren)).text
    settle()
    assert UNMEASURED not in admin_client.get(page_of(kite)).text


def test_where_programs_answer_nobody_waits_for_it(systems, admin_client, measured):
    HumanEvaluation.own.update(simulated=True)
    pressed(admin_client, systems[0])
    assert state_of(systems[0]) == "APPROVED"
    assert measured == []


@pytest.mark.every_engine
@pytest.mark.django_db(transaction=True)
def test_no_lock_is_held_while_it_is_measured(systems, task, measured, admin_user):
    """One by one, on the lists of comparisons, all together, and at the launch."""
    question = Question("overall", max_pairs=10)
    asked = compare.request(*systems, question, by=admin_user)
    HumanEvaluation.own.update(simulated=False)
    run.measure_tests(asked.evaluation.pk)
    client = signed_in(admin_user)
    page = f"/admin/leaderboard/comparison/{asked.pk}/approve/"
    cents = shown_cents(client.get(page).text)
    client.post(page, {"confirmed": "1", "shown_cents": cents, "despite": "A trial."})
    planned = start.Plan(systems, 0, 0)
    start.approve(planned, by=admin_user, at_most_cents=10**6, despite="A trial.")
    states = HumanEvaluation.own.values_list("state", flat=True)
    assert set(states) == {"APPROVED"}
    n = len(measured)
    # what was measured holds no longer
    DrawnTests.objects.update(asked_how="otherwise")
    TestCheck.objects.update(digest="otherwise")
    settle()
    assert len(measured) > n
    assert measured == [False] * len(measured)


@pytest.mark.every_engine
def test_what_is_approved_together_asks_no_text_twice(systems, task, admin_user):
    decide.measure_together(*map(asked_about, systems))
    one, other = (
        set(system.human_evaluation.drawn_tests.get().texts) for system in systems
    )
    assert one
    assert other
    assert not one & other


@pytest.mark.every_engine
def test_measuring_in_a_transaction_is_refused(systems):
    with transaction.atomic(), pytest.raises(RuntimeError, match="durable"):
        decide.measure_together(asked_about(systems[0]))
