"""Staff stop the evaluation of a submission, not its campaign, and may publish yet."""

from datetime import timedelta

import pytest
from django.utils import timezone

from crowd.campaigns.services import work
from crowd.models import Commitment, Worker
from genie.lib import jobs
from genie.lib.errors import GenieError
from leaderboard.evaluation import campaigns, decide
from leaderboard.models import Score
from tests.factories import asked_about
from tests.leaderboard.evaluation.steps import now, settle, spent
from tests.refusals import refusal


@pytest.fixture
def at_work(begun, task):
    for worker in Worker.own.filter(simulated=True).order_by("-pk"):
        if found := work.next_assignment(worker):
            return found
    raise AssertionError("Nobody can take a HIT.")


def test_what_never_went_out_cannot_be_published(measured, boss):
    submission = measured
    decide.approve(asked_about(submission), by=boss)
    decide.stop(asked_about(submission), by=boss, reason="Too dear after all.")
    assert Commitment.own.get().amount_cents == 0
    with refusal("nothing-rated"):
        decide.publish_partial(asked_about(submission), by=boss, reason="Show it.")
    settle()
    assert (now(submission).state, now(submission).work.failure) == ("STOPPED", "")
    decide.withdraw(submission, by=boss, reason="")
    assert now(submission).state == "WITHDRAWN"


def test_held_exclusions_are_waited_for_before_it_is_published(
    begun, boss, monkeypatch
):
    decide.stop(asked_about(begun), by=boss, reason="Wrong texts.")
    decide.publish_partial(asked_about(begun), by=boss, reason="Enough.")
    with monkeypatch.context() as patch:
        patch.setattr(campaigns, "waits_for_exclusions", lambda _campaigns: True)
        settle()
        assert now(begun).published_at is None
        assert not Score.own.exists()
    settle()
    assert now(begun).state == "PUBLISHED"


def waiting(submission, boss):
    """Leave it as it is."""


def declined(submission, boss):
    decide.decline(asked_about(submission), by=boss, reason="Not now.")


def approved(submission, boss):
    decide.approve(asked_about(submission), by=boss, start_now=True)


def annotating(submission, boss):
    approved(submission, boss)
    settle()


def stopped(submission, boss):
    annotating(submission, boss)
    decide.stop(asked_about(submission), by=boss, reason="Wrong texts.")


BACK = {
    waiting: "MEASURED",
    declined: "DECLINED",
    approved: "MEASURED",
    annotating: "STOPPED",
    stopped: "STOPPED",
}


@pytest.mark.parametrize("reach", [*BACK])
def test_a_withdrawn_submission_comes_back_without_money(hand_in, good, boss, reach):
    submission = hand_in(good, simulated=True)
    jobs.drain()
    reach(submission, boss)
    decide.withdraw(submission, by=submission.owner, reason="Wrong file.")
    settle()
    gone = now(submission)
    assert (gone.state, gone.work.failure) == ("WITHDRAWN", "")
    assert gone.evaluation.state == BACK[reach].replace("MEASURED", "REQUESTED")
    assert sum(Commitment.own.values_list("amount_cents", flat=True)) == spent()
    assert not Commitment.own.filter(settled_at=None).exists()
    with pytest.raises(GenieError):
        decide.withdraw(submission, by=boss, reason="Again.")
    for again in (decide.approve, decide.stop, decide.decline, decide.publish_partial):
        with pytest.raises(GenieError):
            again(gone.human_evaluation, by=boss, reason="Again.")
    before = list(Commitment.own.values_list("key", "amount_cents", "settled_at"))
    decide.restore(submission, by=submission.owner)
    settle()
    found = now(submission)
    assert (found.state, found.work.failure) == (BACK[reach], "")
    after = list(Commitment.own.values_list("key", "amount_cents", "settled_at"))
    assert after == before
    with refusal("not-restorable"):
        decide.restore(submission, by=submission.owner)
    if found.state != "STOPPED":
        # the money is set aside once more by a new approval only, and all of it
        assert found.evaluation.approved_cents is None
        decide.approve(asked_about(found), by=boss, start_now=True)
        settle()
        assert now(submission).state == "ANNOTATING"
        cents = now(submission).evaluation.approved_cents
        assert Commitment.own.get().amount_cents == cents > 0


def test_what_was_withdrawn_before_it_was_checked_goes_on(hand_in, good, boss):
    submission = hand_in(good, simulated=True)
    decide.withdraw(submission, by=submission.owner, reason="")
    jobs.drain()
    assert now(submission).state == "WITHDRAWN"
    decide.restore(submission, by=submission.owner)
    jobs.drain()
    assert now(submission).state == "MEASURED"


def test_what_was_stopped_by_a_withdrawal_can_be_published_after_the_way_back(
    begun, boss
):
    decide.withdraw(begun, by=begun.owner, reason="")
    decide.restore(begun, by=begun.owner)
    decide.publish_partial(asked_about(now(begun)), by=boss, reason="Enough.")
    settle()
    assert now(begun).state == "PUBLISHED"
    assert Commitment.own.get().amount_cents == spent()


def test_there_is_no_way_back_after_a_day(hand_in, good, boss):
    submission = hand_in(good, simulated=True)
    decide.withdraw(submission, by=submission.owner, reason="")
    submission.events.update(at=timezone.now() - timedelta(hours=25))
    with pytest.raises(GenieError):
        decide.restore(submission, by=submission.owner)
    assert now(submission).state == "WITHDRAWN"


def test_what_staff_took_off_the_board_is_not_restored_by_its_team(hand_in, good, boss):
    submission = hand_in(good, simulated=True)
    decide.withdraw(submission, by=boss, reason="Copied references.")
    with refusal("not-restorable"):
        decide.restore(submission, by=submission.owner)
