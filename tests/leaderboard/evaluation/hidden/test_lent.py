"""Outputs of other systems as test questions: shown once to a worker, and few."""

import pytest

from crowd.campaigns.services import work
from crowd.models import Assignment, Item
from leaderboard.evaluation import run
from leaderboard.evaluation.services.hidden.drawn import planned
from leaderboard.models import ConfirmedOutput, HumanEvaluation, Submission
from quality.models import TestQuestion
from tests.factories import (
    make_predictions,
    make_submission,
    make_team,
    make_user,
    set_state,
)
from tests.leaderboard.evaluation.hidden.test_texts import placed, say_something, speak


@pytest.fixture
def task(task_with):
    task = task_with(exposure="campaign")
    say_something(task)
    return task


@pytest.fixture
def good_one(task, admin_user):
    """Make a system that waits, all of whose outputs staff have confirmed."""
    user = make_user("olga")
    system = make_submission(
        task, team=make_team("Owls", user), owner=user, system="Owl", state="MEASURED"
    )
    make_predictions(system)
    speak(system)
    rows = list(system.predictions.select_related("instance"))
    for row in rows:
        row.text = f"Owl says of {row.instance.position}: {row.text}"
        ConfirmedOutput.objects.create(prediction=row, confirmed_by=admin_user)
    system.predictions.bulk_update(rows, ["text"])
    return system


def show(worker, hit):
    Assignment.objects.create(
        hit=hit, worker=worker, reward_cents=1, accepted_at=hit.campaign.starts_at,
        deadline_at=hit.campaign.starts_at, state=Assignment.State.EXPIRED,
    )  # fmt: skip


def offered(worker, hit):
    hit.campaign.hits.update(n_available=0)
    type(hit).objects.filter(pk=hit.pk).update(n_available=1)
    found = work.next_assignment(worker, only=hit.campaign)
    return found is not None


def of_input(campaign, test):
    """Find the HIT of a campaign that judges the input of a test question."""
    tests = TestQuestion.own.filter(campaign=campaign).values("item")
    items = Item.objects.filter(campaign=campaign, content_key=test.item.content_key)
    return items.exclude(pk__in=tests).get().hit


def test_good_texts_are_lent_and_half_are_edited(task, good_one, launched):
    _, campaign = launched(task, said=speak)
    good, bad = placed(campaign, "POSITIVE"), placed(campaign, "NEGATIVE")
    assert [one.made_from["submission"] for one in good] == [good_one.pk] * 2
    edited = [one for one in bad if one.made_from["submission"] == good_one.pk]
    assert (len(edited), len(bad)) == (1, 6)


def test_without_references_confirmed_outputs_are_good_and_edits_are_bad(
    task, good_one, launched
):
    task.instances.update(references=[])
    _, campaign = launched(task, said=speak)
    assert [one.kind for one in placed(campaign, "POSITIVE")] == ["confirmed"] * 2
    assert {one.kind[:5] for one in placed(campaign, "NEGATIVE")} == {"edit:"}


def test_without_anything_known_to_be_good_staff_hear_of_missing_tests(task, good_one):
    ConfirmedOutput.objects.all().delete()
    task.instances.update(references=[])
    human = task.human
    criteria = human.separate()[0]
    drawn = planned(task, human, criteria, good_one, 1, campaign_key="it", n_items=20)
    assert (len(drawn.items), drawn.n_wanted) == (4, 8)
    assert "Confirm some outputs as good" in " ".join(drawn.notes)


@pytest.mark.parametrize("later", [False, True])
def test_nobody_meets_a_lent_text_as_a_test_and_as_a_real_item(
    task, good_one, launched, worker_of, later
):
    if not later:
        launch_again(good_one)
    _, campaign = launched(task, said=speak)
    if later:
        launch_again(good_one)
    theirs = good_one.human_evaluation.campaigns.get().campaign
    test = placed(campaign, "POSITIVE")[0]
    own, real = of_input(campaign, test), of_input(theirs, test)
    shown_as_test, shown_there, shown_here, fresh = (
        worker_of(task, name) for name in ("ann", "bob", "cat", "dan")
    )
    show(shown_as_test, test.item.hit)
    assert not offered(shown_as_test, own)
    assert not offered(shown_as_test, real)
    show(shown_there, real)
    assert not offered(shown_there, test.item.hit)
    assert offered(shown_there, own)
    show(shown_here, own)
    assert not offered(shown_here, test.item.hit)
    assert offered(shown_here, real)
    assert offered(fresh, test.item.hit)


def launch_again(submission):
    HumanEvaluation.objects.filter(submissions=submission).update(
        state="APPROVED", approved_cents=100_000, start_now=True
    )
    set_state(Submission.objects.filter(pk=submission.pk), "APPROVED")
    run.step(submission.human_evaluation_id)
