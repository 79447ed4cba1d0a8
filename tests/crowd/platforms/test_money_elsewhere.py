"""Another currency, and visits that end early: paid to the cent, once, within the budget."""

from decimal import Decimal

import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from django.db.models import Sum
from django.urls import reverse

from crowd.campaigns.services import review
from crowd.elsewhere.services import accounts, sync
from crowd.hits.services.platforms import connect
from crowd.models import (
    Assignment,
    Campaign,
    ExchangeRate,
    ExternalCampaign,
    ExternalSession,
    LedgerEntry,
    OutwardCall,
    Rating,
)
from crowd.money.services import bonuses
from crowd.platforms.base import BonusSpec, StudyTerms
from genie.lib import jobs
from genie.lib.errors import GenieError
from leaderboard.contracts.platforms import REASON, one
from leaderboard.site.roles import make_groups
from tests.crowd.making import make_campaign
from tests.crowd.platforms.test_prolific_campaign import (
    Person,
    approve_all,
    come,
    done_cents,
    look,
    pay_all,
)
from tests.factories import make_user

State = Assignment.State


@pytest.fixture
def campaign(there):
    return make_campaign(6, platform="prolific")


@pytest.fixture
def pounds(there, admin_user):
    there.currency = "GBP"
    return ExchangeRate.objects.create(
        currency="GBP", dollars=Decimal("1.27"), stored_by=admin_user
    )


def foreign(**fields):
    rows = LedgerEntry.own.filter(state="DONE", **fields)
    return rows.aggregate(n=Sum("foreign_amount"))["n"]


def test_a_study_in_pounds_pays_pence_and_both_are_kept(there, pounds, campaign):
    look(campaign)
    (study,) = there.studies.values()
    assert study["reward"] == 24  # 30 cents at 1.27, rounded up
    for name in ("1", "2"):
        Person(there, name).do_all(campaign)
    pay_all(campaign)
    assert foreign(kind="REWARD") == there.rewards == 48
    assert foreign(kind="FEE") == there.fees
    assert done_cents(campaign) >= (there.rewards + there.fees) * pounds.dollars
    assert set(LedgerEntry.own.values_list("rate", flat=True)) == {pounds.pk}
    row = Assignment.own.first()
    bonuses.give(row.pk, 127, key="k", reason="Thanks.", by=pounds.stored_by)
    look(campaign)
    assert there.rewards == 148
    assert foreign(kind="BONUS") == 100


def test_who_approves_is_told_the_currency_and_its_rate(there, pounds):
    accounts.check("prolific", [], StudyTerms())
    said = accounts.pays_in("prolific", 12_700)
    assert "pays in GBP: $127.00 (GBP 100.00)" in said
    assert "GBP at $1.27, stored on" in said
    there.currency = "EUR"
    with pytest.raises(GenieError, match="EUR, but budgets here are in USD"):
        accounts.check("prolific", [], StudyTerms())
    assert "has not reported" in accounts.pays_in("prolific", 100)
    there.faults = [["GET", "workspaces/.*", "503", 1]]
    accounts.check("prolific", [], StudyTerms())  # asked again before publishing
    assert accounts.pays_in("selfhosted", 100) == ""


def test_a_rate_is_stored_by_finance_and_never_changed(client):
    Group.objects.all().delete()  # other tests leave none
    make_groups(apps.get_app_config("leaderboard"), "default")
    fin = make_user("fin", is_staff=True)
    fin.groups.add(Group.objects.get(name="Finance"))
    client.force_login(fin)
    assert "Exchange rates" in client.get(reverse("admin:index")).text
    page = reverse("admin:crowd_exchangerate_add")
    answer = client.post(page, {"currency": "GBP", "dollars": "1.31"})
    assert answer.status_code == 302
    rate = ExchangeRate.objects.get()
    assert rate.stored_by == fin
    page = reverse("admin:crowd_exchangerate_change", args=[rate.pk])
    client.post(page, {"currency": "GBP", "dollars": "9"})
    rate.refresh_from_db()
    assert rate.dollars == Decimal("1.31")


def test_an_amount_in_another_currency_than_the_workspaces_is_never_sent(there):
    there.currency = "GBP"
    result = one(connect("prolific").bonus([BonusSpec("b", "w", "s", 25, "Thanks.")]))
    assert result.state == "again"
    assert "pays in GBP now, not in USD" in result.message
    assert not there.bulks


@pytest.mark.every_engine
def test_what_was_done_before_a_return_is_reviewed_and_paid_once(there, campaign):
    wanda = come(there, campaign)
    wanda.work(at_most=2)
    there.give_up(wanda.session)
    look(campaign)
    states = Assignment.own.order_by("pk").values_list("state", flat=True)
    assert list(states) == [State.SUBMITTED, State.SUBMITTED, State.RETURNED]
    first = Assignment.own.order_by("pk")[0]
    review.reject(first.pk, None, REASON)
    look(campaign)
    assert there.paid == {}  # one answer still waits for a decision
    approve_all(campaign)
    for _ in range(3):
        look(campaign)
    assert there.paid == {wanda.name: 10}
    assert OutwardCall.own.get(kind="BONUS").state == "DONE"
    there.give_up(wanda.session, "AWAITING REVIEW")  # after all
    look(campaign)
    look(campaign)
    assert "paid in part" in ExternalSession.own.get().problem
    assert there.paid == {wanda.name: 10}
    assert not LedgerEntry.objects.filter(idempotency_key__startswith="reward:ses")
    there.give_up(wanda.session)
    for name in ("2", "3"):
        assert Person(there, name).do_all(campaign) == "AWAITING REVIEW"
    pay_all(campaign)
    assert Rating.own.filter(assignment__state=State.APPROVED).count() == 6
    assert there.rewards == 70
    # the bonus and its fee are booked as what was planned for that answer
    assert done_cents(campaign) == there.rewards + there.fees


def test_what_was_done_early_waits_for_money_that_a_person_adds(there, campaign):
    look(campaign)
    cents = OutwardCall.own.get(kind="PUBLISH").amount_cents
    Campaign.own.update(budget_cents=cents + 14)
    wanda = Person(there, "1")
    wanda.come(campaign)
    wanda.work(at_most=1)
    there.give_up(wanda.session, "TIMED-OUT")
    pay_all(campaign)
    assert there.paid == {}
    assert "owed $0.15" in ExternalCampaign.own.get().trouble
    Campaign.own.update(budget_cents=cents + 15)
    look(campaign)
    look(campaign)
    assert there.paid == {wanda.name: 10}
    assert ExternalCampaign.own.get().trouble == ""


def test_a_bonus_for_an_early_end_with_no_answer_waits_for_a_person(there, campaign):
    wanda = come(there, campaign)
    wanda.work(at_most=1)
    there.give_up(wanda.session)
    look(campaign)
    approve_all(campaign)
    there.faults = [["POST", "bulk-bonus-payments/.*", "500 after", 1]]
    for _ in range(3):
        jobs.enqueue(sync.JOB, campaign=campaign.pk)
        jobs.drain()
    assert there.paid == {wanda.name: 10}
    assert OutwardCall.own.get(kind="BONUS").state == "SENDING"
    assert LedgerEntry.own.filter(kind="REWARD", state="SENDING").count() == 1
