"""Texts of test questions: real outputs with a minimal edit, good ones, none twice."""

import pytest
from django.utils import timezone

from crowd.models import Item
from leaderboard.evaluation.services.hidden.drawn import plan_test_questions
from leaderboard.evaluation.services.hidden.offers import edit_outputs, fingerprint
from leaderboard.models import ConfirmedOutput, Submission
from quality.models import TestQuestion
from quality.test_questions.edits.edit import ADEQUACY
from tests.factories import make_task

PLACES = ["Oslo", "Bern", "Graz", "Lyon", "Turin", "Ghent", "Malmo", "Porto"]


def say_something(task):
    rows = list(task.instances.all())
    for row in rows:
        place = PLACES[row.position % len(PLACES)]
        n = 10 + row.position
        row.references = [f"In {place} {n} people saw the bridge near the mill."]
        row.fields = {"source": f"News {n} of the day from {place}."}
    task.instances.bulk_update(rows, ["references", "fields"])


def speak(submission):
    rows = list(submission.predictions.select_related("instance"))
    for row in rows:
        place = PLACES[row.instance.position % len(PLACES)]
        # no two are nearly equal
        n = (10 + row.instance.position) * 7919 % 100_003
        row.text = (
            f"Not far away, at {n}, the new one has been visited by {n} in {place}."
        )
    submission.predictions.bulk_update(rows, ["text"])


@pytest.fixture
def task(task_with):
    task = task_with()
    say_something(task)
    return task


def placed(campaign, polarity):
    return list(
        TestQuestion.own.filter(campaign=campaign, polarity=polarity)
        .select_related("item")
        .order_by("pk")
    )


def test_negatives_are_outputs_with_a_recorded_edit(task, launched):
    submission, campaign = launched(task, said=speak)
    outputs = set(submission.predictions.values_list("text", flat=True))
    negatives = placed(campaign, "NEGATIVE")
    # nothing is known to be good but references, which can be looked up
    assert (len(placed(campaign, "POSITIVE")), len(negatives)) == (0, 4)
    for one in negatives:
        assert one.kind.startswith("edit:")
        text = one.item.data["prediction"]
        assert text not in outputs
        assert one.text_sha256 == fingerprint(text)


@pytest.mark.parametrize(("kind", "drops"), [("translation", True), ("qa", False)])
def test_a_clause_is_left_out_of_translations_alone(kind, drops):
    task = make_task(kind=kind)
    rows = list(task.instances.all())
    outputs = {row.pk: [(0, "If it rains, we stay at home and read.")] for row in rows}
    harms = {ADEQUACY: ["overall"]}
    found = [
        offer.kind
        for seed in range(5)
        for offers in edit_outputs(task, rows, outputs, harms, seed=seed)
        for offer in offers
    ]
    assert ("edit:clause-dropped" in found) == drops


def test_no_text_is_a_test_twice(task, launched):
    for name in ("Kite", "Gull", "Tern"):
        launched(task, name, said=speak)
    hashes = list(TestQuestion.own.values_list("text_sha256", flat=True))
    assert len(hashes) == len(set(hashes)) == 12
    assert "" not in hashes
    shown = Item.objects.filter(pk__in=TestQuestion.own.values("item"))
    texts = [item.data["prediction"] for item in shown]
    assert len(texts) == len(set(texts))


def test_no_text_is_a_test_in_two_campaigns_of_one_evaluation(task_with, launched):
    task = task_with(
        n=20,
        positive_share=0.3,
        setup=2,
        criteria={"true": "Is it true?", "whole": "Is it whole?"},
        test_criteria={"positive": ["true", "whole"], "negative": ["true", "whole"]},
    )
    say_something(task)
    launched(task, said=speak)
    assert len(set(TestQuestion.own.values_list("campaign", flat=True))) == 2
    hashes = list(TestQuestion.own.values_list("text_sha256", flat=True))
    assert len(hashes) == len(set(hashes)) == 8


def test_what_staff_confirmed_comes_first(task, launched, admin_user):
    def confirmed(submission):
        speak(submission)
        for row in submission.predictions.filter(instance__sample_rank__lt=4):
            ConfirmedOutput.objects.create(prediction=row, confirmed_by=admin_user)

    submission, campaign = launched(task, said=confirmed)
    outputs = set(submission.predictions.values_list("text", flat=True))
    for one in placed(campaign, "POSITIVE"):
        assert one.kind == "confirmed"
        assert one.item.data["prediction"] in outputs


def test_private_outputs_are_shown_in_no_campaign_but_their_own(task, launched):
    private, _ = launched(task, "Owl", said=speak)
    Submission.objects.filter(pk=private.pk).update(
        visibility="PRIVATE", published_at=timezone.now()
    )
    other, campaign = launched(task, "Gull", said=speak)
    sources = {
        one.made_from.get("submission")
        for one in TestQuestion.own.filter(campaign=campaign)
    }
    assert sources <= {other.pk, None}


def test_a_fluency_criterion_has_questions_of_its_own(task_with, launched):
    task = task_with(
        criteria={"true": "Is it true?", "fluent": "Is it fluent?"},
        test_criteria={
            "positive": ["true", "fluent"],
            "negative": ["true"],
            "form": ["fluent"],
        },
    )
    say_something(task)
    _, campaign = launched(task, said=speak)
    on = [one.expected["criteria"] for one in placed(campaign, "NEGATIVE")]
    assert sorted(on) == [["fluent"]] * 2 + [["true"]] * 2


def test_without_anything_known_to_be_good_staff_hear_of_missing_tests(task, launched):
    task.instances.update(references=[])
    submission, _ = launched(task, said=speak)
    of = (task, task.human, task.human.separate()[0], submission, 1)
    drawn = plan_test_questions(*of, campaign_key="it", n_items=20)
    assert (len(drawn.items), drawn.n_wanted) == (4, 8)
    assert "Confirm some outputs as good" in " ".join(drawn.notes)
