"""A reward is raised while HITs are out: our ledger has what the platform pays, always."""

import pytest
from django.utils import timezone

from crowd.campaigns.selectors.new_reward import price_reward
from crowd.campaigns.services import change_reward as service
from crowd.campaigns.services import outbox
from crowd.elsewhere.services import sync
from crowd.models import ExternalCampaign, LedgerEntry, RequesterHIT
from crowd.requester.services import turns
from tests.crowd.making import refused
from tests.crowd.platforms.elsewhere import Elsewhere
from tests.crowd.platforms.faulty import AFTER_COMMIT, BEFORE
from tests.crowd.platforms.test_faults import Killed, proxy, settle  # noqa: F401

FIELDS = (("answer-0-0", "0.75"), ("active_seconds", "0.0"))


def change(elsewhere, cents, *, shown=10):
    elsewhere.campaign.refresh_from_db()
    new = price_reward(elsewhere.campaign, cents)
    return service.change_reward(
        elsewhere.campaign.pk,
        cents,
        shown_cents=shown,
        agreed_cents=new.added_cents,
        by=elsewhere.turk.staff,
        reason="Too slow.",
    )


def finish(elsewhere):
    settle(elsewhere)
    elsewhere.approve_all()
    settle(elsewhere)
    elsewhere.check_books()


def rewards():
    rows = LedgerEntry.own.filter(kind="REWARD", state="DONE")
    return sorted(rows.values_list("amount_cents", flat=True))


def test_each_hit_pays_what_it_says_there(turk):
    elsewhere = Elsewhere(turk, n=3, budget_cents=10_000)
    settle(elsewhere)
    done, taken, free = elsewhere.hit_ids()
    turk.do(done, "Wanda", FIELDS)
    settle(elsewhere)
    wilma = turk.worker("Wilma")
    open_one = turns.accept(RequesterHIT.objects.get(entity_id=taken), wilma)

    new = change(elsewhere, 15)
    assert (new.n_places, new.fee_cents, new.after_cents) == (2, 3, 36)
    settle(elsewhere)
    at = dict(RequesterHIT.own.values_list("entity_id", "reward_cents"))
    assert (at[done], at[taken], at[free]) == (10, 10, 15)
    states = elsewhere.calls("RETYPE").values_list("hit__platform_hit_id", "state")
    assert dict(states) == {taken: "FAILED", free: "DONE"}
    assert not outbox.stuck(elsewhere.campaign).exists()
    change(elsewhere, 20, shown=15)
    settle(elsewhere)

    turns.submit(open_one, wilma, FIELDS)
    turk.do(free, "Wim", FIELDS)
    finish(elsewhere)
    assert rewards() == [10, 10, 20]
    assert turk.charged_cents() == 12 + 12 + 24


def test_what_is_posted_later_is_posted_under_the_new_type(turk, monkeypatch):
    elsewhere = Elsewhere(turk, n=3, budget_cents=10_000)
    monkeypatch.setattr("crowd.platforms.mturk.MTurk.balance_cents", lambda _: 99_999)
    turk.spend_all_but(30)
    elsewhere.look()
    assert turk.n_posted() == 2
    change(elsewhere, 15)
    turk.deposit(1_000, key="more")
    settle(elsewhere)
    assert turk.n_posted() == 3
    assert set(RequesterHIT.own.values_list("reward_cents", flat=True)) == {15}
    elsewhere.answer_all()
    finish(elsewhere)
    assert rewards() == [15] * 3


def test_it_can_be_raised_often_and_never_lowered(elsewhere, turk):
    change(elsewhere, 15)  # before anything is posted only the new type is made
    settle(elsewhere)
    assert turk.n_offers() == 1
    change(elsewhere, 20, shown=15)
    settle(elsewhere)
    change(elsewhere, 25, shown=20)
    settle(elsewhere)
    refused("reward-fixed", change, elsewhere, 12, shown=25)
    elsewhere.answer_all()
    finish(elsewhere)
    assert rewards() == [25] * 2
    assert turk.n_offers() == 3


def test_replacements_are_asked_for_at_what_the_hit_pays(elsewhere, turk):
    settle(elsewhere)
    first, *_ = elsewhere.answer_all("Wanda")
    settle(elsewhere)
    change(elsewhere, 15)
    elsewhere.reject(first)
    elsewhere.approve_all()
    settle(elsewhere)
    assert len(elsewhere.answer_all("Wilma")) == 1
    finish(elsewhere)
    assert rewards() == [10] * 2


@pytest.mark.parametrize("kinds", [BEFORE, AFTER_COMMIT])
def test_calls_that_break_leave_both_books_the_same(elsewhere, turk, proxy, kinds):  # noqa: F811
    settle(elsewhere)
    proxy.fail(kinds, only={"UpdateHITTypeOfHIT", "CreateHITType", "GetHIT"})
    proxy.left = 6
    if "slow" in kinds:
        turk.options["timeout_seconds"] = 2.0
        proxy.silence = 4.0
    change(elsewhere, 15)
    settle(elsewhere)
    assert {fault for _, fault in proxy.seen} - {None} == set(kinds)
    elsewhere.answer_all()
    finish(elsewhere)
    assert rewards() == [15] * 2


def test_answers_wait_until_it_is_known_what_they_pay(elsewhere, turk, proxy):  # noqa: F811
    """The change arrived, its answer was lost, and then somebody took the HITs."""
    settle(elsewhere)
    change(elsewhere, 15)
    proxy.fail(("lost",), only={"UpdateHITTypeOfHIT"})
    turk.options["tries"] = 1
    elsewhere.look()
    assert elsewhere.calls("RETYPE").filter(state="SENDING").exists()
    elsewhere.answer_all()
    elsewhere.look()
    unknown = elsewhere.calls("RETYPE").filter(state="SENDING")
    assert not elsewhere.assignments().filter(hit__in=unknown.values("hit")).exists()
    proxy.share = 0.0
    finish(elsewhere)
    assert rewards() == [15] * 2


@pytest.mark.slow
@pytest.mark.every_engine
@pytest.mark.parametrize("where", ["before-sending", "after-sending", "while-moving"])
def test_after_a_process_dies_another_goes_on(elsewhere, turk, monkeypatch, where):
    def die(*_args, **_fields):
        raise Killed

    settle(elsewhere)
    change(elsewhere, 15)
    take, note = outbox.take, outbox.note_result
    with monkeypatch.context() as patch:
        if where == "before-sending":
            patch.setattr(turk.platform.__class__, "retype", die)
        elif where == "after-sending":
            patch.setattr(
                outbox,
                "note_result",
                lambda call, *a: die() if call.kind == "RETYPE" else note(call, *a),
            )
        else:

            def die_after(calls, *args):
                taken = take(calls, *args)
                return die() if taken and taken[0][0].kind == "RETYPE" else taken

            patch.setattr(outbox, "take", die_after)
        with pytest.raises(Killed):
            elsewhere.look()
    elsewhere.answer_all()
    finish(elsewhere)
    assert set(rewards()) <= {10, 15}
    elsewhere.check_books()


@pytest.mark.every_engine
def test_it_waits_while_hits_are_being_posted(elsewhere):
    settle(elsewhere)
    place = ExternalCampaign.objects.filter(campaign=elsewhere.campaign)
    place.update(busy_until=timezone.now() + sync.LEASE)
    refused("platform-busy", change, elsewhere, 15)
    place.update(busy_until=None)
    change(elsewhere, 15)
