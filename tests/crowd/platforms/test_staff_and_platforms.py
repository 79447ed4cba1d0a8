"""What staff see and may say of work on other platforms."""

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from crowd.campaigns.services import outbox
from crowd.elsewhere import admin
from crowd.elsewhere.services import collect, decisions, sync
from crowd.models import (
    Assignment,
    Budget,
    ExternalCampaign,
    ExternalSession,
    LedgerEntry,
    OutwardCall,
)
from crowd.money.services import bonuses, payments, payouts
from crowd.workers.services.invitations import register_worker
from genie.lib import jobs
from genie.lib.errors import GenieError
from tests.crowd.making import make_campaign
from tests.factories import act, signed_in


@pytest.fixture
def boss():
    return get_user_model().objects.create_superuser("boss", password="-")


@pytest.fixture
def client(boss):
    return signed_in(boss)


@pytest.fixture
def campaign():
    made = make_campaign(2, platform="mturk", budget_cents=1_000)
    ExternalCampaign.objects.create(
        campaign=made,
        environment="sandbox",
        is_open=True,
        balance_cents=1234,
        trouble="Posting needs $2.00, but the account on the platform has $1.00.",
    )
    return made


@pytest.fixture
def approved(campaign):
    """One approved answer that was given on the platform."""
    worker = register_worker(platform_worker_id="A1", platform="mturk")
    session = collect.arrive(campaign, worker, "3S", "submitted")
    now = timezone.now()
    row = Assignment.objects.create(
        hit=campaign.hits.first(),
        worker=worker,
        state="APPROVED",
        reward_cents=10,
        accepted_at=now,
        deadline_at=now,
        submitted_at=now,
    )
    collect.record_work(session, row)
    payments.plan(row, campaign)
    return row


def test_the_list_shows_money_and_trouble(client, campaign, approved):
    page = client.get("/admin/crowd/externalcampaign/").text
    assert "Posting needs $2.00" in page
    assert "$0.12" in page  # spent
    assert "$12.34" in page  # the account there
    assert "sandbox" in page
    for name in ("outwardcall", "externalsession"):
        assert client.get(f"/admin/crowd/{name}/").status_code == 200
    pk = ExternalCampaign.own.get().pk
    one = client.get(f"/admin/crowd/externalcampaign/{pk}/change/").text
    assert "all calls of this campaign" in one
    session = ExternalSession.own.get().pk
    seen = client.get(f"/admin/crowd/externalsession/{session}/change/")
    assert seen.status_code == 200
    act(client, "crowd_externalcampaign", "look_now", ExternalCampaign.own.get())
    assert (sync.JOB, (("campaign", campaign.pk),)) in jobs.queued_jobs()


def test_what_the_platform_pays_nobody_here_pays_again(boss, approved):
    assert payouts.by_hand(LedgerEntry.own, boss, "transfer 1") == 0
    assert set(LedgerEntry.own.values_list("state", flat=True)) == {"PLANNED"}


def unknown_bonus(approved, boss):
    """Plan a bonus and lose the answer of the call that paid it, perhaps."""
    bonuses.give(approved.pk, 25, key="thanks", reason="Thank you.", by=boss)
    campaign = approved.hit.campaign
    decisions._plan_bonuses(campaign)
    call = OutwardCall.own.get(kind="BONUS")
    assert outbox.take([call], timezone.now(), repeatable=False)
    return call


def test_a_person_says_that_a_bonus_was_paid(client, approved, boss):
    call = unknown_bonus(approved, boss)
    data = {"action": "was_paid", "_selected_action": [call.pk]}
    asked = client.post("/admin/crowd/outwardcall/", data).text
    assert "you have seen on the platform" in asked
    said = {**data, "confirmed": "1", "reference": "payment 7"}
    client.post("/admin/crowd/outwardcall/", said)
    entries = LedgerEntry.own.filter(kind="BONUS") | LedgerEntry.objects.filter(
        idempotency_key__startswith="bonus-fee"
    )
    assert set(entries.values_list("state", "platform_id")) == {("DONE", "payment 7")}
    assert admin.confirm_payment(call.pk, boss, "again") is False


def test_a_person_says_that_a_bonus_was_not_paid(approved, boss):
    call = unknown_bonus(approved, boss)
    call.refresh_from_db()
    assert outbox.take([call], timezone.now(), repeatable=False) == []
    with pytest.raises(GenieError, match="how you know"):
        admin.send_again(call.pk, boss, " ")
    assert admin.send_again(call.pk, boss, "Not in their list.")
    call.refresh_from_db()
    assert call.state == "PLANNED"
    assert outbox.take([call], timezone.now(), repeatable=False) != []


def test_a_post_that_may_have_happened_is_not_a_persons_to_judge(campaign, boss):
    call = outbox.plan(campaign, OutwardCall.Kind.POST, "1", n=1)
    outbox.take([call], timezone.now())
    assert admin.confirm_payment(call.pk, boss, "seen") is False
    assert admin.send_again(call.pk, boss, "surely not") is False


@pytest.mark.every_engine
def test_a_bonus_is_planned_once_within_the_budgets(approved, boss):
    first = bonuses.give(approved.pk, 25, key="a", reason="Thanks.", by=boss)
    assert bonuses.give(approved.pk, 99, key="a", reason="Thanks.", by=boss) == first
    fee = LedgerEntry.objects.get(idempotency_key=bonuses.fee_key(first.pk))
    assert fee.amount_cents == 5
    with pytest.raises(GenieError) as caught:
        bonuses.give(approved.pk, 10**8, key="b", reason="Thanks.", by=boss)
    assert caught.value.code == "over-budget"
    with pytest.raises(GenieError, match="at least one cent"):
        bonuses.give(approved.pk, 0, key="c", reason="Thanks.", by=boss)


def test_staff_give_a_bonus_once_for_a_reason(client, approved):
    page = "/admin/crowd/assignment/"
    data = {"action": "give_bonus", "_selected_action": [approved.pk]}
    assert "charges its fee" in client.post(page, data).text
    said = {**data, "confirmed": "1", "amount": "25", "reason": "It took longer."}
    for _ in range(2):
        client.post(page, said)
    assert LedgerEntry.own.get(kind="BONUS").amount_cents == 25
    dear = {**said, "amount": "10000", "reason": "Much longer."}
    Budget.own.update(limit_cents=100)
    assert "is left" in client.post(page, dear, follow=True).text
    assert LedgerEntry.own.filter(kind="BONUS").count() == 1


def test_settled_campaigns_are_left_alone(
    campaign, settings, django_assert_num_queries
):
    assert sync.enqueue_due() == 1
    campaign.state = "STOPPED"
    campaign.save()
    assert not sync.is_settled(campaign, timezone.now())  # still open there
    ExternalCampaign.own.update(is_open=False)
    assert sync.is_settled(campaign, timezone.now())
    with django_assert_num_queries(2):  # however many there are
        assert sync.enqueue_due(timezone.now() + timedelta(days=1)) == 0
    outbox.plan(campaign, OutwardCall.Kind.DECIDE, "1.approve")
    assert not sync.is_settled(campaign, timezone.now())


def test_a_site_that_is_not_set_up_says_so_on_the_campaign(campaign, settings):
    settings.GENIE = {**settings.GENIE, "PLATFORMS": {}}
    ExternalCampaign.own.all().delete()
    jobs.enqueue(sync.JOB, campaign=campaign.pk)
    jobs.drain()
    assert "GENIE_MTURK_ENVIRONMENT" in ExternalCampaign.own.get().trouble
