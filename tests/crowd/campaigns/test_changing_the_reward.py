"""Staff change what is paid for the assignments still to be taken, seeing the price."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission

from crowd.campaigns.selectors.new_reward import price_reward
from crowd.campaigns.services import change_reward as service
from crowd.campaigns.services import run, work
from crowd.hits.selectors import campaign_progress
from crowd.models import Assignment, Budget, Commitment, LedgerEntry, RewardChange
from crowd.money.selectors.fair_pay import shortfall
from crowd.money.services import budgets, fair_pay
from tests.crowd.making import (
    POOL,
    answers_for,
    do_all,
    do_one,
    make_campaign,
    make_worker,
    refused,
)
from tests.factories import act, signed_in


@pytest.fixture
def campaign(sam):
    made = make_campaign(4, budget_cents=40)
    budgets.commit(key=made.key, pool=POOL, amount_cents=40, by=sam)
    return made


def change(campaign, cents, by, *, agreed, shown=10):
    return service.change_reward(
        campaign.pk,
        cents,
        shown_cents=shown,
        agreed_cents=agreed,
        by=by,
        reason="Slow.",
    )


def rewards():
    rows = LedgerEntry.own.filter(kind="REWARD").order_by("pk")
    return list(rows.values_list("amount_cents", flat=True))


def test_what_is_still_to_be_taken_pays_the_new_reward_alone(campaign, sam):
    early, open_one = make_worker(), make_worker()
    do_one(early)
    begun = work.next_assignment(open_one)
    new = price_reward(campaign, 15)
    assert (new.n_places, new.before_cents, new.after_cents) == (2, 20, 30)
    assert new.added_cents == 10
    change(campaign, 15, sam, agreed=10)
    campaign.refresh_from_db()
    assert (campaign.budget_cents, campaign.hit_type.reward_cents) == (50, 15)
    assert Commitment.own.get().amount_cents == 50
    assert campaign_progress(campaign).committed_cents == 50
    work.submit(begun, answers_for(begun))
    do_all(make_worker())
    assert rewards() == [10, 10, 15, 15]
    assert campaign_progress(campaign).spent_cents == 50
    row = RewardChange.own.get()
    assert (row.old.reward_cents, row.new.reward_cents, row.by) == (10, 15, sam)
    assert "Slow." in LogEntry.objects.filter(user=sam).last().change_message


def test_other_campaigns_with_the_same_hit_type_keep_theirs(campaign, sam):
    other = make_campaign(2, pool="other")
    assert other.hit_type_id == campaign.hit_type_id
    change(campaign, 15, sam, agreed=20)
    other.refresh_from_db()
    assert other.hit_type.reward_cents == 10


@pytest.mark.every_engine
def test_only_what_was_agreed_to_is_added_once(campaign, sam):
    refused("cost-changed", change, campaign, 15, sam, agreed=0)
    do_one(make_worker())
    refused("cost-changed", change, campaign, 15, sam, agreed=20)
    change(campaign, 15, sam, agreed=15)
    # a form that is sent twice changes once
    refused("reward-changed", change, campaign, 15, sam, agreed=15)
    refused("same-reward", change, campaign, 15, sam, agreed=0, shown=15)
    assert RewardChange.own.count() == 1
    assert Commitment.own.get().amount_cents == 55


@pytest.mark.every_engine
def test_no_budget_is_passed(campaign, sam):
    Budget.objects.create(pool_id=POOL, limit_cents=59)
    refused("over-budget", change, campaign, 15, sam, agreed=20)
    campaign.refresh_from_db()
    assert campaign.hit_type.reward_cents == 10
    Budget.objects.filter(pool=POOL).update(limit_cents=60)
    change(campaign, 15, sam, agreed=20)


def test_an_hour_never_pays_less_than_the_minimum(campaign, sam):
    done = [do_one(make_worker()) for _ in range(3)]
    Assignment.own.update(active_seconds=10.0)
    # too few times: the template's own expectation decides
    refused("below-minimum-pay", price_reward, campaign, 1)
    more = make_campaign(6, pool="timed", budget_cents=60)
    for _ in range(5):
        do_one(make_worker("timed"))
    Assignment.objects.filter(hit__campaign=more).update(active_seconds=24.0)
    refused("below-minimum-pay", price_reward, more, 9)
    assert price_reward(more, 11).hourly_cents == 1650
    Assignment.objects.filter(hit__campaign=more).update(active_seconds=12.0)
    lower = price_reward(more, 6)
    assert (lower.hourly_cents, lower.added_cents) == (1800, 0)
    assert len(done) == 3


@pytest.mark.parametrize("end", [run.stop, run.complete])
def test_what_offers_no_more_hits_keeps_its_reward(campaign, sam, end):
    end(campaign.pk, sam, "Over.") if end is run.stop else end(campaign.pk)
    refused("campaign-over", change, campaign, 15, sam, agreed=20)


def test_a_reason_is_needed_and_prolific_studies_keep_their_reward(campaign, sam):
    refused(
        "reason-missing", service.change_reward, campaign.pk, 15,
        shown_cents=10, agreed_cents=20, by=sam, reason=" ",
    )  # fmt: skip
    study = make_campaign(4, platform="prolific")
    refused("reward-fixed", price_reward, study, 20)


def test_low_pay_is_made_up_for_by_what_each_answer_was_paid(sam):
    campaign = make_campaign(8, budget_cents=200)
    budgets.commit(key=campaign.key, pool=POOL, amount_cents=200, by=sam)
    early, late = make_worker(), make_worker()
    for _ in range(4):
        do_one(early)
    change(campaign, 12, sam, agreed=0)
    do_all(late)
    Assignment.own.update(active_seconds=30.0, state="APPROVED")
    run.complete(campaign.pk)
    campaign.refresh_from_db()
    found = shortfall(campaign)
    # 30 seconds are 12.5 cents: 3 for who got 10, 1 for who got 12
    assert (found.each_cents, found.n_assignments, found.total_cents) == (3, 8, 16)
    fair_pay.make_up(campaign.pk, by=sam, agreed_cents=16)
    bonuses = LedgerEntry.own.filter(kind="BONUS")
    assert sorted(bonuses.values_list("amount_cents", flat=True)) == [1] * 4 + [3] * 4


LIST = "admin:crowd_campaign_changelist"


@pytest.fixture
def office(sam):
    names = ["view_campaign", "change_campaign"]
    sam.user_permissions.set(Permission.objects.filter(codename__in=names))
    return signed_in(sam)


def post(client, *campaigns, **answers):
    return act(
        client, "crowd_campaign", "change_reward_selected", *campaigns, **answers
    )


def hidden(page):
    return dict(re.findall(r'type="hidden" name="(\w+)" value="(\w*)"', page))


def test_staff_see_the_price_before_they_agree(campaign, office):
    assert "New reward per assignment" in post(office, campaign).text
    price = post(office, campaign, confirmed="yes", dollars="0.15").text
    for words in ("$0.15", "$0.60, before $0.40", "budget</th><td>$0.20"):
        assert words in price
    campaign.refresh_from_db()
    assert campaign.hit_type.reward_cents == 10
    sent = hidden(price)
    no_reason = post(office, campaign, **sent).text
    assert "This field is required" in no_reason
    done = post(office, campaign, **{**sent, "reason": "Slow."}).text
    assert "4 assignments now pay $0.15; $0.20 added" in done
    again = post(office, campaign, **{**sent, "reason": "Slow."}).text
    assert "already" in again
    campaign.refresh_from_db()
    assert (campaign.hit_type.reward_cents, campaign.budget_cents) == (15, 60)


def test_one_campaign_at_a_time(campaign, office):
    other = make_campaign(2, pool="other")
    assert "Select one campaign" in post(office, campaign, other).text
