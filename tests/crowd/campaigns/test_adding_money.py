"""Staff add money to a campaign whose reserve careless workers have used up."""

import re

import pytest
from django.contrib.admin.models import LogEntry

from crowd.campaigns.services import reissue, run
from crowd.campaigns.services.add_money import add_money
from crowd.hits.selectors import campaign_progress, is_done
from crowd.models import Budget, Campaign, Commitment
from crowd.money.services import budgets
from crowd.workers.services import exclusions
from tests.crowd.making import POOL, do_all, make_campaign, make_worker, refused
from tests.factories import act


@pytest.fixture
def short(sam):
    campaign = make_campaign(4, budget_cents=50)
    budgets.commit(key=campaign.key, pool=POOL, amount_cents=50, by=sam)
    careless = make_worker()
    do_all(careless)
    exclusions.exclude(careless, POOL, "No.")
    assert reissue.replace_answers(careless, POOL) == 1
    campaign.refresh_from_db()
    assert campaign.notice
    return campaign


def add(campaign, cents, by, **fields):
    seen = fields.pop("budget_cents", campaign.budget_cents)
    return add_money(
        campaign.pk, cents, budget_cents=seen, by=by, reason="Careless.", **fields
    )


def test_asking_goes_on_where_it_had_stopped_and_the_campaign_finishes(short, sam):
    assert len(do_all(make_worker())) == 1
    assert is_done(short)  # with one answer that counts of four
    assert add(short, 30, sam) == 3
    short.refresh_from_db()
    assert (short.budget_cents, short.notice) == (80, "")
    assert Commitment.own.get().amount_cents == 80
    assert not is_done(short)
    assert len(do_all(make_worker())) == 3
    assert is_done(short)
    assert campaign_progress(short).spent_cents == 80


def test_too_little_money_goes_as_far_as_it_reaches_and_the_notice_says_so(short, sam):
    assert add(short, 15, sam) == 1
    short.refresh_from_db()
    assert short.notice.startswith("2 answers that do not count were not replaced")


@pytest.mark.every_engine
def test_it_stands_in_the_history_of_campaign_and_account(short, sam):
    Campaign.own.update(notice=f"{short.notice} Not all one person's.")
    add(short, 30, sam)
    assert Campaign.own.get().notice == "Not all one person's."
    refused("budget-changed", add, short, 30, sam)
    assert Campaign.own.get().budget_cents == 80
    said = "Added $0.30: the budget rose from $0.50 to $0.80. Reason: Careless."
    assert [row.change_message for row in LogEntry.objects.all()] == [said, said]


@pytest.mark.every_engine
@pytest.mark.parametrize("pool", [None, POOL])
def test_no_budget_is_passed(short, sam, pool):
    Budget.objects.update_or_create(pool_id=pool, defaults={"limit_cents": 79})
    refused("over-budget", add, short, 30, sam)
    short.refresh_from_db()
    assert (short.budget_cents, short.money_added_at) == (50, None)
    assert Commitment.own.get().amount_cents == 50
    assert not LogEntry.objects.exists()
    assert add(short, 29, sam) == 2


def test_a_reason_an_amount_and_a_campaign_under_way_are_needed(short, sam):
    refused("bad-amount", add, short, 0, sam)
    refused(
        "reason-missing", add_money, short.pk, 5, budget_cents=50, by=sam, reason=" "
    )
    run.stop(short.pk, sam, "Enough.")
    refused("campaign-over", add, short, 30, sam)


def test_a_complete_campaign_gets_the_right_to_money_and_sets_none_aside(short, sam):
    do_all(make_worker())
    run.complete(short.pk)
    budgets.settle(short.key, 50)
    assert add(short, 30, sam) == 0
    assert Campaign.own.get().budget_cents == 80
    assert Commitment.own.get().amount_cents == 50
    short.refresh_from_db()
    Budget.own.update(limit_cents=60)
    refused("over-budget", add, short, 30, sam)


def press(client, campaign, **fields):
    return act(client, "crowd_campaign", "add_money_selected", campaign, **fields)


def test_staff_see_what_is_left_and_confirm_an_amount_with_a_reason(short, office):
    page = press(office, short).text
    assert "budget $0.50, $0.00 left" in page
    assert "Left in the budgets of weather-reports" in page
    seen = re.search(r'name="(budget-\d+)" value="(\d+)"', page)
    assert seen is not None
    sure = {"confirmed": "yes", seen[1]: seen[2]}
    press(office, short, **sure, dollars="0.30", reason=" ")
    press(office, short, **sure, dollars="-1", reason="Careless.")
    press(office, short, **sure, dollars="0.305", reason="Careless.")
    assert Campaign.own.get().budget_cents == 50
    press(office, short, **sure, dollars="0.01", reason="A cent.")
    assert Campaign.own.get().budget_cents == 51
    Campaign.own.update(budget_cents=50)
    done = press(office, short, **sure, dollars="0.30", reason="Careless.")
    assert "added $0.30. 3 HITs reassigned." in done.text
    again = press(office, short, **sure, dollars="0.30", reason="Careless.")
    assert "nothing was added" in again.text
    assert Campaign.own.get().budget_cents == 80
