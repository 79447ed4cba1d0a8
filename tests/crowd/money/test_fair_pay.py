from functools import partial

import pytest
from django.urls import reverse

from crowd.campaigns.services import review, run
from crowd.hits.selectors import campaign_progress
from crowd.models import Assignment, Budget, Campaign, Commitment, LedgerEntry
from crowd.money.selectors.earnings import earnings
from crowd.money.selectors.fair_pay import shortfall
from crowd.money.services import budgets, payouts
from crowd.money.services.fair_pay import make_up
from crowd.pricing import missing_cents
from genie.lib.errors import GenieError
from tests.crowd.making import do_all, hit_type, make_campaign, make_worker
from tests.factories import act, make_user
from tests.kept import kept

Kind = LedgerEntry.Kind


@pytest.fixture
def boss():
    return make_user("boss", is_staff=True, is_superuser=True)


def finished(n=6, *, by=None, **fields):
    """Build a campaign that is over, all approved, each answer as long as told."""
    if fields:
        return _finished(n, by=by, **fields)
    make = partial(_finished, n, by=by)
    return kept("approved campaign", make, (n, by and by.pk))


def _finished(n, *, by, seconds=30.0, workers=None, **fields):
    campaign = make_campaign(n, **fields)
    if by is not None:
        budgets.commit(key=campaign.key, pool=campaign.pool_id, amount_cents=60, by=by)
    for worker in workers or [make_worker()]:
        do_all(worker)
    work = Assignment.objects.filter(hit__campaign=campaign)
    work.update(active_seconds=seconds)
    review.approve(work.values_list("pk", flat=True))
    run.complete(campaign.pk)
    if by is not None:
        budgets.settle(campaign.key, campaign_progress(campaign).spent_cents)
    campaign.refresh_from_db()
    return campaign


def bonuses():
    return LedgerEntry.own.filter(kind=Kind.BONUS)


def refused(campaign, by, cents):
    with pytest.raises(GenieError) as caught:
        make_up(campaign.pk, by=by, agreed_cents=cents)
    assert not bonuses().exists()
    return caught.value.code


@pytest.mark.parametrize(
    ("reward", "seconds", "missing"),
    [(10, 24, 0), (10, 24.1, 1), (10, 30, 3), (10, 0, 0), (0, 2.4, 1), (10, None, 0)],
)
def test_what_is_missing_is_rounded_up_to_whole_cents(reward, seconds, missing):
    assert missing_cents(reward, seconds, 1500) == missing


def test_the_median_decides_and_everyone_gets_the_same(boss):
    campaign = finished(6)
    slow = Assignment.own.first()
    Assignment.objects.filter(pk=slow.pk).update(active_seconds=9_999)
    found = shortfall(campaign)
    assert (found.hourly_cents, found.each_cents, found.n_assignments) == (1200, 3, 6)
    assert (found.total_cents, found.n_workers) == (18, 1)
    Assignment.objects.filter(pk=Assignment.own.first().pk).update(state="REJECTED")
    assert shortfall(campaign).n_assignments == 5


def test_good_pay_few_times_and_programs_need_no_bonus():
    assert shortfall(finished(6, seconds=20.0)) is None
    assert shortfall(finished(4, pool="few", workers=[make_worker("few")])) is None
    robot = make_worker("robots", simulated=True)
    simulated = finished(6, pool="robots", simulated=True, workers=[robot])
    assert shortfall(simulated) is None


def test_volunteers_are_unpaid_and_not_paid_too_little(client, boss):
    campaign = finished(6, hit_type=hit_type(reward_cents=0))
    assert shortfall(campaign) is None
    client.force_login(boss)
    listed = client.get(reverse("admin:crowd_campaign_changelist")).text
    assert "unpaid" in listed
    assert "below $15.00" not in listed


def test_a_bonus_is_planned_once_for_each_approved_answer(boss):
    campaign = finished(6, by=boss)
    worker = Assignment.own.first().worker
    assert make_up(campaign.pk, by=boss, agreed_cents=18).total_cents == 18
    assert make_up(campaign.pk, by=boss, agreed_cents=18) is None
    assert sorted(bonuses().values_list("amount_cents", flat=True)) == [3] * 6
    assert earnings(worker).approved == 6 * 13
    account = Commitment.own.get(key=campaign.key)
    assert account.amount_cents == 6 * 13
    assert account.settled_at is not None
    campaign.refresh_from_db()
    assert campaign_progress(campaign).spent_cents <= campaign.budget_cents
    assert payouts.by_hand(LedgerEntry.own, boss, "transfer 7") == 12
    assert earnings(worker).paid == 6 * 13


def test_what_is_approved_later_gets_the_bonus_later(boss):
    campaign = finished(6, by=boss)
    last = Assignment.own.last()
    Assignment.objects.filter(pk=last.pk).update(state="SUBMITTED")
    make_up(campaign.pk, by=boss, agreed_cents=15)
    assert bonuses().count() == 5
    review.approve([last.pk])
    make_up(campaign.pk, by=boss, agreed_cents=3)
    assert bonuses().count() == 6


def test_an_account_that_is_still_open_stays_open(boss):
    campaign = finished(6)
    budgets.commit(key=campaign.key, pool=campaign.pool_id, amount_cents=60, by=boss)
    make_up(campaign.pk, by=boss, agreed_cents=18)
    account = Commitment.own.get(key=campaign.key)
    assert (account.amount_cents, account.settled_at) == (78, None)


@pytest.mark.every_engine
def test_a_bonus_passes_no_budget(boss):
    campaign = finished(6, by=boss)
    Budget.objects.update_or_create(pool=campaign.pool, defaults={"limit_cents": 77})
    assert refused(campaign, boss, 18) == "over-budget"
    assert Commitment.own.get(key=campaign.key).amount_cents == 60
    Budget.objects.filter(pool=campaign.pool_id).update(limit_cents=78)
    assert make_up(campaign.pk, by=boss, agreed_cents=18)


def test_only_what_was_agreed_to_is_paid_and_only_after_the_end(boss):
    campaign = finished(6)
    Campaign.own.update(state=Campaign.State.RUNNING)
    assert refused(campaign, boss, 18) == "campaign-not-over"
    Campaign.own.update(state=Campaign.State.COMPLETE)
    assert refused(campaign, boss, 17) == "cost-changed"


def test_a_platform_that_pays_is_asked_for_nobody_who_did_not_come_from_there(boss):
    campaign = finished(6)
    Campaign.own.update(platform="mturk")
    assert make_up(campaign.pk, by=boss, agreed_cents=18) is None
    assert not bonuses().exists()


def test_a_panels_bonuses_are_marked_as_paid_by_whoever_pays_its_people(boss):
    campaign = finished(6, by=boss)
    Campaign.own.update(platform="panel")
    assert make_up(campaign.pk, by=boss, agreed_cents=18).fee_cents == 0
    assert payouts.by_hand(bonuses(), boss, "transfer 7") == 6


def press(client, campaign, **fields):
    return act(client, "crowd_campaign", "make_up_selected", campaign, **fields)


def test_staff_see_the_proposal_and_agree_to_it(client, boss):
    campaign = finished(6, by=boss)
    client.force_login(boss)
    listed = client.get(reverse("admin:crowd_campaign_changelist")).text
    assert "$12.00, below $15.00" in listed
    shown = press(client, campaign).text
    assert "$0.03 for each of 6 answers by 1 workers: $0.18" in shown
    assert f'name="agreed-{campaign.pk}" value="18"' in shown
    assert not bonuses().exists()
    agreed = {f"agreed-{campaign.pk}": "18", "confirmed": "yes"}
    assert "planned $0.18" in press(client, campaign, **agreed).text
    assert bonuses().count() == 6
    assert "Pay is not below the minimum" in press(client, campaign, **agreed).text


def test_a_page_that_is_out_of_date_plans_nothing(client, boss):
    campaign = finished(6)
    client.force_login(boss)
    for agreed in ("17", "", "x", "²"):
        fields = {f"agreed-{campaign.pk}": agreed, "confirmed": "yes"}
        assert "check it again" in press(client, campaign, **fields).text, agreed
    assert not bonuses().exists()


def test_workers_see_their_bonus_beside_the_work(client, boss):
    user = make_user("wim")
    campaign = finished(6, workers=[make_worker(user=user)])
    make_up(campaign.pk, by=boss, agreed_cents=18)
    client.force_login(user)
    page = client.get(reverse("work:earnings")).text
    assert page.count("+ $0.03 bonus") == 6
    assert "$0.78" in page
