"""Before work starts staff see every test question, and whether they stand out."""

import json
import re
from collections import Counter

import pytest
from django.core.management import call_command

from crowd.hit_templates.consent import consents_for
from crowd.hits.services.build import ItemSpec
from genie.lib.errors import GenieError
from leaderboard.demo import file_of
from leaderboard.designs.base import content_key
from leaderboard.evaluation import decide
from leaderboard.evaluation.services.hidden import drawn as gate
from leaderboard.evaluation.services.hidden.compared import ONE, Compared, views
from leaderboard.evaluation.services.hidden.key_pilot import keep_reading
from leaderboard.evaluation.services.hidden.offers import used_texts
from leaderboard.evaluation.strategies import strategy_of
from leaderboard.models import ConfirmedOutput
from leaderboard.tasks.services import load
from leaderboard.tasks.services.configuration import check_consent
from quality.models import DrawnTests, TestCheck, TestQuestion
from quality.test_questions.separability.features import FEATURES, POOLED
from quality.test_questions.services import HiddenItem
from tests.crowd.making import items, make_campaign
from tests.factories import (
    asked_about,
    make_predictions,
    make_submission,
    make_team,
    make_user,
)
from tests.leaderboard.evaluation.steps import settle, shown_cents
from tests.refusals import refusal


@pytest.fixture
def checked(settings):
    settings.GENIE = {**settings.GENIE, "TEST_QUESTIONS_CHECKED": True}


def approve(submission, **fields):
    submission.refresh_from_db()
    decide.measure_together(submission.evaluation)
    decide.approve(submission.evaluation, **fields)


@pytest.fixture
def task(db):
    return load.load_task("demo-summarization").task


@pytest.fixture
def waiting(task):
    """A system that says the beginning of each article, and awaits approval."""
    user = make_user("nina")
    submission = make_submission(
        task, team=make_team("Heron", user), owner=user, system="Kite", state="MEASURED"
    )
    rows = make_predictions(submission)
    for row in rows:
        row.text = row.instance.fields["document"].partition(". ")[0] + "."
    submission.predictions.bulk_update(rows, ["text"])
    return submission


@pytest.fixture
def summaries(waiting):
    """The same with outputs as systems write them, all of which staff found good."""
    texts = json.loads(file_of("demo-summarization", "Nutshell-3").read_text("utf-8"))
    for row in waiting.predictions.select_related("instance"):
        row.text = texts[row.instance.instance_id]
        row.save()
        ConfirmedOutput.objects.create(prediction=row, confirmed_by=waiting.owner)
    return waiting


@pytest.fixture
def in_references(task):
    """Test questions as the original made them."""
    task.config["human"]["test_questions"] = "references"
    task.save()


def test_questions_that_stand_out_need_a_persons_word(
    checked, task, waiting, in_references, admin_user
):
    with refusal("tests-stand-out", match="stand out"):
        approve(waiting, by=admin_user)
    waiting.refresh_from_db()
    assert waiting.state == "MEASURED"
    assert TestCheck.own.get().accepted_at is None
    approve(waiting, by=admin_user, despite="Only to show how it works.")
    check = TestCheck.own.get()
    assert check.refused
    assert check.auc > 0.6
    assert check.accepted_by == admin_user
    assert check.accepted_at
    assert check.accepted_because == "Only to show how it works."
    assert check.kinds == {"reference": 4, "swapped": 4}
    assert gate.objections(check)
    # a published method is chosen with this weakness
    task.config["method"] = "genie-2022"
    task.save()
    assert gate.objections(TestCheck.own.get()) == []
    assert set(DrawnTests.objects.get().texts) <= used_texts(task)


def test_edits_and_confirmed_outputs_do_not_stand_out(checked, summaries, admin_user):
    approve(summaries, by=admin_user, start_now=True)
    check = TestCheck.own.get()
    assert (check.refused, check.accepted_by) == (False, None)
    assert check.n_found == check.n_wanted == 8
    settle()
    assert TestQuestion.own.count() == 8
    assert TestQuestion.own.filter(kind="confirmed").count() == 4


def test_what_is_compared_is_what_workers_see(task, waiting):
    rows = [content_key(task.slug, row.instance_id) for row in task.instances.all()]
    judged = [
        ItemSpec(key=f"k{at}", data={"prediction": f"text {at}"}, content_key=key)
        for at, key in enumerate(rows)
    ]
    twin = ItemSpec("t", {"prediction": "text 3, edited"}, judged[3].content_key)
    sides_of = views()
    compared = Compared(task, task.human, [waiting], own=False)
    for seed in (1, 2):
        compared.add([HiddenItem(twin, "NEGATIVE")], judged, sides_of, seed=seed)
    alone = sides_of[ONE]
    assert (len(alone.tests.features), len(alone.real.features)) == (2, len(judged))
    assert alone.tests.groups == [alone.real.groups[3]] * 2
    # drawn a second time it is no other text
    assert len(set(alone.tests.texts)) == 1
    assert (len(alone.good.features), len(alone.bad.features)) == (0, 2)
    # five workers with a fifth each have seen everything, and the test beside its text
    pooled = sides_of["5 workers who pool what they saw and know the campaigns"]
    of_input = len(FEATURES) + POOLED.index("texts of its input")
    assert [row[of_input] for row in pooled.tests.features] == [2, 2]
    assert Counter(row[of_input] for row in pooled.real.features) == {1: 62, 2: 2}


def test_questions_of_a_pool_that_changed_are_measured_again(
    checked, task, summaries, waiting, admin_user, monkeypatch
):
    for module in (gate, decide):
        monkeypatch.setattr(module, "objections", lambda _check: ["They stand out."])
    approve(waiting, by=admin_user, start_now=True, despite="A trial.")
    drawn, before = DrawnTests.objects.get(), TestCheck.own.get()
    other = make_campaign(of=items(3), pool=task.slug, key="other")
    TestQuestion.objects.create(
        campaign=other,
        item=other.items.first(),
        polarity="POSITIVE",
        text_sha256=drawn.texts[0],
    )
    settle()
    evaluation = waiting.human_evaluation
    evaluation.refresh_from_db()
    assert evaluation.state == "APPROVED"
    assert "drawn again" in evaluation.failure
    assert "stand out" in evaluation.failure
    check = TestCheck.own.get()
    assert check.digest != before.digest
    assert check.accepted_at is None
    # staff's word, by their name
    decide.retry(waiting.evaluation, by=admin_user)
    settle()
    evaluation.refresh_from_db()
    assert evaluation.state == "ANNOTATING"
    assert TestCheck.own.get().accepted_by == admin_user
    asked = set(
        TestQuestion.own.exclude(campaign=other).values_list("text_sha256", flat=True)
    )
    assert drawn.texts[0] not in asked


def test_a_withdrawn_confirmation_draws_tests_anew(checked, summaries, admin_user):
    approve(summaries, by=admin_user, start_now=True)
    question = next(
        q for q in DrawnTests.objects.get().questions if q["kind"] == "confirmed"
    )
    text = question["spec"]["data"]["prediction"]
    ConfirmedOutput.objects.filter(prediction__text=text).delete()
    settle()
    shown = [row.item.data["prediction"] for row in TestQuestion.own.all()]
    assert len(shown) == 8
    assert text not in shown


def test_too_few_questions_need_a_persons_word(checked, task, waiting, admin_user):
    task.instances.update(references=["The same for all of them."])
    waiting.predictions.update(text="Fine.")
    with pytest.raises(GenieError, match="Only 0 of 8 test questions"):
        approve(waiting, by=admin_user)


def test_the_dry_run_shows_questions_keeps_nothing(task, waiting, admin_client, capsys):
    page = f"/admin/leaderboard/submission/{waiting.pk}/tests/"
    html = admin_client.get(page).text
    # a public reference is known to all
    assert html.count("a reference</th>") == 0
    assert html.count("an output with") == 4
    assert "was changed to" in html or "changed places" in html
    assert "overall: Neutral" in html or "overall: " in html
    call_command("show_tests", task.slug)
    assert capsys.readouterr().out.count("Right on overall:") == 4
    assert not TestQuestion.own.exists()


def test_staff_confirm_an_output_and_take_it_back(task, waiting, admin_client):
    page = f"/admin/leaderboard/submission/{waiting.pk}/tests/"
    # only outputs of inputs that are for tests
    offered = re.findall(r'name="confirm" value="(\d+)"', admin_client.get(page).text)
    assert len(offered) == 8
    row = waiting.predictions.get(pk=offered[0])
    admin_client.post(page, {"confirm": row.pk})
    confirmed = ConfirmedOutput.objects.get()
    assert confirmed.prediction == row
    assert confirmed.confirmed_by.get_username() == "admin"
    assert ">Undo<" in admin_client.get(page).text
    admin_client.post(page, {"take-back": row.pk})
    assert not ConfirmedOutput.objects.exists()


def test_the_page_to_approve_on_asks_for_the_word(
    checked, waiting, in_references, admin_client
):
    page = f"/admin/leaderboard/submission/{waiting.pk}/approve/"
    settle()
    html = admin_client.get(page).text
    assert "Test questions stand out" in html
    assert "Start in spite of this" in html
    sent = {"approve": "1", "shown_cents": shown_cents(html), "reason": ""}
    admin_client.post(page, sent)
    waiting.refresh_from_db()
    assert waiting.state == "MEASURED"
    admin_client.post(page, {**sent, "despite": "A trial."})
    waiting.refresh_from_db()
    assert waiting.state == "APPROVED"
    assert TestCheck.own.get().accepted_because == "A trial."


def test_edits_that_two_of_three_readers_miss_are_dropped(
    checked, summaries, admin_client
):
    settle()
    page = f"/admin/leaderboard/submission/{summaries.pk}/tests/"
    html = admin_client.get(f"{page}?read=1").text
    drawn = DrawnTests.objects.get()
    edits = [q["spec"]["key"] for q in drawn.questions if q["kind"].startswith("edit:")]
    assert html.count('name="wrong"') == 2 * len(drawn.questions)
    assert "an output with" not in html
    admin_client.post(page, {"read": 1, "wrong": edits[1:]})
    assert DrawnTests.objects.get().questions[0].keys() == drawn.questions[0].keys()
    keep_reading(summaries.human_evaluation, make_user("olga"), edits)
    assert len(DrawnTests.objects.get().questions) == 8
    keep_reading(summaries.human_evaluation, make_user("otto"), edits[1:])
    kept = DrawnTests.objects.get()
    assert (len(kept.questions), kept.n_wanted) == (7, 7)
    assert edits[0] not in {q["spec"]["key"] for q in kept.questions}


def test_paid_work_needs_a_consent_that_says_who_asks(task):
    del task.config["human"]["contact"]
    task.save()
    with refusal("consent-incomplete", match="contact"):
        check_consent(task.human)
    task.config["human"] |= {"contact": "ada@example.org", "withdrawal": "Ask Ada."}
    task.save()
    form = task.human.form(task.human.criteria)
    texts = consents_for("summarization", form)
    assert {"en", "de", "ar", "zh-hans"} <= set(texts)
    for text in texts.values():
        assert "ada@example.org" in text.text
        assert "Ask Ada." in text.text
        assert "{" not in text.text.replace("{{", "")
    assert "wrong on purpose" in texts["en"].html


def test_what_is_known_to_be_good_does_not_choose_what_is_rated(waiting, admin_user):
    def plan():
        DrawnTests.objects.all().delete()
        (part,) = strategy_of(asked_about(waiting)).plan(asked_about(waiting))
        return [one.instance_pk for one in part.judged], {
            t.text_sha256 for t in part.hidden
        }

    rated, tests = plan()
    for row in waiting.predictions.all():
        ConfirmedOutput.objects.get_or_create(prediction=row, confirmed_by=admin_user)
    assert plan()[0] == rated
    assert plan()[1] != tests
