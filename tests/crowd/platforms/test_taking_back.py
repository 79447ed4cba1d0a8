"""Rejections that are taken back: told to the platform once, or a bonus where it refuses."""

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse
from django.utils import timezone

from crowd.campaigns.selectors import rejection_reversal as selector
from crowd.campaigns.services import outbox, overturn, review, run
from crowd.elsewhere import admin
from crowd.elsewhere.services import sync
from crowd.hits.selectors import campaign_progress
from crowd.models import Assignment, ExternalSession, LedgerEntry, RequesterHIT
from genie.lib.errors import GenieError
from tests.crowd.making import do_all, make_campaign, make_worker, refused
from tests.crowd.platforms.faulty import FaultyProxy
from tests.factories import signed_in

State = Assignment.State


@pytest.fixture
def session(elsewhere):
    """Return the name of one rejected answer of two; the other is approved."""
    first, *_ = elsewhere.get_answers()
    elsewhere.reject(first)
    elsewhere.approve_all()
    elsewhere.look()
    return first


def rejected():
    return Assignment.own.get(state=State.REJECTED)


def take_back(turk, **fields):
    work = rejected()
    assert overturn.overturn(work.pk, by=turk.staff, reason="A slip.", **fields)
    return work


def check(elsewhere, turk, n_paid):
    elsewhere.check_books()
    assert turk.paid_cents("Wanda") == n_paid * 10
    assert elsewhere.done_cents() == n_paid * 12
    spent = campaign_progress(elsewhere.campaign).spent_cents
    assert spent == turk.charged_cents()


def test_it_is_approved_there_once_and_paid_once(elsewhere, turk, session):
    assert turk.status(session) == "rejected"
    run.stop(elsewhere.campaign.pk, None, "Enough.")
    elsewhere.look()
    take_back(turk, message="Sorry, a slip of ours.")
    assert not sync.is_settled(elsewhere.campaign, timezone.now() + timedelta(days=3))
    for _ in range(2):
        elsewhere.look()
    assert turk.status(session) == "approved"
    assert turk.row(session).feedback == "Sorry, a slip of ours."
    call = elsewhere.calls("DECIDE").get(wish="override")
    assert call.state == "DONE"
    check(elsewhere, turk, 2)
    assert not overturn.overturn(call.session.work.get().assignment_id, by=turk.staff, reason="x")  # fmt: skip
    elsewhere.campaign.refresh_from_db()
    assert sync.is_settled(elsewhere.campaign, timezone.now() + timedelta(days=3))


def test_whatever_becomes_of_the_call(elsewhere, turk, session):
    proxy = FaultyProxy(turk.options["endpoint_url"])
    turk.options |= {"endpoint_url": proxy.url, "tries": 1}
    proxy.fail(("lost", "twice"), only={"ApproveAssignment"})
    try:
        take_back(turk)
        for _ in range(2):
            elsewhere.look()
        faults = [fault for _, fault in proxy.seen if fault]
        assert faults == ["lost", "twice"]
    finally:
        proxy.close()
    check(elsewhere, turk, 2)


def test_it_waits_for_money_and_after_a_process_dies_the_next_asks(
    elsewhere, turk, session, monkeypatch
):
    turk.spend_all_but(5)
    take_back(turk)
    elsewhere.look()
    call = elsewhere.calls("DECIDE").get(wish="override")
    assert (call.state, call.code) == ("PLANNED", "no-funds")
    turk.deposit(1_000, key="more")
    with monkeypatch.context() as patched:
        patched.setattr(outbox, "note_result", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            elsewhere.look()
    assert turk.status(session) == "approved"
    assert elsewhere.calls("DECIDE").get(wish="override").state == "SENDING"
    elsewhere.look()
    assert elsewhere.calls("DECIDE").get(wish="override").state == "DONE"
    check(elsewhere, turk, 2)


def test_before_the_platform_has_heard_nothing_is_taken_back_there(elsewhere, turk):
    sessions = elsewhere.get_answers()
    elsewhere.reject(sessions[0])
    take_back(turk)
    elsewhere.approve_all()
    elsewhere.look()
    assert not elsewhere.calls("DECIDE").filter(wish__in=["reject", "override"])
    check(elsewhere, turk, 2)


@pytest.mark.every_engine
def test_a_platform_that_refuses_after_all_is_followed(elsewhere, turk, session):
    work = take_back(turk)
    RequesterHIT.own.update(disposed_at=timezone.now())
    elsewhere.look()
    work.refresh_from_db()
    assert work.state == State.REJECTED
    assert "did not reverse the rejection" in work.feedback
    check(elsewhere, turk, 1)
    way = selector.taking_back(work, timezone.now())
    assert not way.possible
    assert "refused to reverse" in way.sentence
    RequesterHIT.own.update(disposed_at=None)
    call = elsewhere.calls("DECIDE").get(wish="override")
    assert admin.send_again(call.pk, turk.staff, "The HIT is there again.")
    elsewhere.look()
    work.refresh_from_db()
    assert work.state == State.APPROVED
    check(elsewhere, turk, 2)


def test_after_the_window_a_bonus_is_paid_instead(elsewhere, turk, session):
    work = rejected()
    assert "until" in selector.taking_back(work, timezone.now()).sentence
    before = timezone.now() - timedelta(days=30, minutes=1)
    ExternalSession.objects.filter(session_id=session).update(submitted_at=before)
    assert "bonus" in selector.taking_back(work, timezone.now()).sentence
    refused("stands-there", overturn.overturn, work.pk, by=turk.staff, reason="x")
    for _ in range(2):
        overturn.pay_instead(work.pk, by=turk.staff, reason="A slip.", message="Sorry.")
    elsewhere.look()
    elsewhere.look()
    assert turk.paid_cents("Wanda") == 20
    assert elsewhere.done_cents() == turk.charged_cents() == 24
    work.refresh_from_db()
    assert work.state == State.REJECTED
    noted = LogEntry.objects.filter(object_id=work.pk).values_list("change_message")
    assert ("A bonus in place of the reward: A slip.",) in noted


def test_a_bonus_is_no_way_round_where_it_can_be_taken_back(elsewhere, turk, session):
    with pytest.raises(GenieError) as caught:
        overturn.pay_instead(rejected().pk, by=turk.staff, reason="x", message="y")
    assert caught.value.code == "can-be-taken-back"
    assert not LedgerEntry.own.filter(kind="BONUS").exists()
    boss = signed_in(turk.staff)
    address = reverse("admin:crowd_assignment_changelist")
    work = rejected()
    chosen = {"action": "take_back_selected", "_selected_action": [work.pk]}
    page = boss.post(address, chosen).text
    assert "Genie notifies Mechanical Turk, which allows this until" in page
    said = {"reason": "A slip.", "words": "Sorry.", "confirmed": "1"}
    boss.post(address, {**chosen, **said})
    work.refresh_from_db()
    assert work.state == State.APPROVED
    elsewhere.look()
    assert turk.row(session).feedback == "Sorry."
    again = boss.post(address, chosen, follow=True).text
    assert "None of these is rejected." in again


def test_a_panel_is_not_told_and_staff_are(db):
    campaign = make_campaign(1)
    worker = make_worker()
    (work,) = do_all(worker)
    review.reject(work.pk, None, "No.")
    campaign.platform = "panel"
    campaign.save()
    way = selector.taking_back(Assignment.own.get(), timezone.now())
    assert way.possible
    assert "The panel is not notified" in way.sentence
