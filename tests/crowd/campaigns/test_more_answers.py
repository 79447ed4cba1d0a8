"""Staff ask for more answers to each HIT of a campaign that is under way."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from crowd.campaigns.services import run
from crowd.campaigns.services import run as shares
from crowd.campaigns.services.more_answers import ask_for_more, price_answers
from crowd.hits.selectors import campaign_progress, is_done
from crowd.models import HIT, Budget, Campaign, Commitment, ExternalCampaign
from crowd.money.services import budgets
from tests.crowd.making import POOL, do_all, make_campaign, make_worker, refused
from tests.factories import act


@pytest.fixture
def campaign(sam):
    campaign = make_campaign(4, budget_cents=40)
    budgets.commit(key=campaign.key, pool=POOL, amount_cents=40, by=sam)
    return campaign


def ask(campaign, more, by, **fields):
    agreed = {"shown": 1, "agreed_cents": 4 * more * 10, "reason": "Too wide."}
    return ask_for_more(campaign.pk, more, by=by, **{**agreed, **fields})


def nothing_changed(campaign, n=1):
    campaign.refresh_from_db()
    assert (campaign.budget_cents, campaign.answers_per_hit) == (40, n)
    assert set(HIT.own.values_list("max_assignments", flat=True)) == {1}
    assert not LogEntry.objects.exists()


def test_each_hit_is_answered_by_others_and_paid_from_the_new_money(campaign, sam):
    first = make_worker()
    do_all(first)
    assert is_done(campaign)
    price = ask(campaign, 2, sam)
    assert (price.n_places, price.cents) == (8, 80)
    campaign.refresh_from_db()
    assert (campaign.budget_cents, campaign.answers_per_hit) == (120, 3)
    assert Commitment.own.get().amount_cents == 120
    assert not is_done(campaign)
    assert do_all(first) == []
    assert [len(do_all(make_worker())) for _ in range(3)] == [4, 4, 0]
    assert is_done(campaign)
    assert campaign_progress(campaign).spent_cents == 120


@pytest.mark.every_engine
def test_the_same_form_twice_asks_once_with_its_history(campaign, sam):
    ask(campaign, 1, sam)
    refused("answers-changed", ask, campaign, 1, sam)
    campaign.refresh_from_db()
    assert (campaign.budget_cents, campaign.answers_per_hit) == (80, 2)
    said = (
        "Asked for 1 more answer to each HIT, 2 in all: 4 assignments, $0.40 added to "
        "the budget. Reason: Too wide."
    )
    assert [row.change_message for row in LogEntry.objects.all()] == [said, said]


@pytest.mark.every_engine
@pytest.mark.parametrize("pool", [None, POOL])
def test_no_budget_is_passed(campaign, sam, pool):
    Budget.objects.update_or_create(pool_id=pool, defaults={"limit_cents": 79})
    refused("over-budget", ask, campaign, 1, sam)
    nothing_changed(campaign)
    Budget.objects.filter(pool=pool).update(limit_cents=80)
    assert ask(campaign, 1, sam).cents == 40


def test_nothing_happens_without_reason_at_another_price_or_for_an_odd_number(
    campaign, sam
):
    for code, more, fields in [
        ("reason-missing", 1, {"reason": " "}),
        ("cost-changed", 1, {"agreed_cents": 39}),
        ("answers-changed", 1, {"shown": 2}),
        *[("bad-number", more, {}) for more in (0, -1, 101)],
    ]:
        refused(code, ask, campaign, more, sam, **fields)
        nothing_changed(campaign)


def test_what_has_ended_or_asks_by_itself_is_not_asked_again(campaign, sam):
    Campaign.own.update(answers_per_hit=None)
    refused("asks-by-itself", ask, campaign, 1, sam)
    nothing_changed(campaign, None)
    Campaign.own.update(answers_per_hit=1)
    run.stop(campaign.pk, None, "Enough.")
    refused("campaign-over", ask, campaign, 1, sam)
    Campaign.own.update(state=Campaign.State.COMPLETE)
    refused("campaign-over", ask, campaign, 1, sam)
    nothing_changed(campaign)


def test_a_paused_campaign_offers_them_once_it_goes_on(campaign, sam):
    do_all(make_worker())
    run.pause(campaign.pk, None)
    ask(campaign, 1, sam)
    other = make_worker()
    assert do_all(other) == []
    run.resume(campaign.pk, None)
    assert len(do_all(other)) == 4


def test_each_worker_may_do_the_same_share_of_more(campaign, sam):
    shares.limit_share(campaign, 0.5, follows_crowd=False)
    assert campaign.hits_per_worker == 2
    ask(campaign, 1, sam)
    campaign.refresh_from_db()
    assert campaign.hits_per_worker == 4


def test_places_of_a_study_are_priced_whole():
    campaign = make_campaign(4)
    ExternalCampaign.objects.create(campaign=campaign, place_size=3, place_fee_cents=13)
    assert price_answers(campaign, 1).cents == 2 * (3 * 10 + 13)
    campaign = make_campaign(2, platform="mturk", max_assignments=8)
    assert price_answers(campaign, 1).cents == 2 * 12
    refused("too-many-answers", price_answers, campaign, 2)
    large = make_campaign(2, platform="mturk", max_assignments=10)
    assert price_answers(large, 2).cents == 4 * 14


def press(client, campaign, **fields):
    page = act(client, "crowd_campaign", "ask_for_more_selected", campaign, **fields)
    return page.text


def test_staff_see_the_price_and_agree_with_a_reason(campaign, office):
    page = office.get(reverse("admin:crowd_campaign_change", args=[campaign.pk]))
    assert 'value="ask_for_more_selected"' in page.text
    assert "1 answer per HIT" in press(office, campaign)
    assert "greater than or equal to 1" in press(
        office, campaign, confirmed="yes", more="0"
    )
    page = press(office, campaign, confirmed="yes", more="2")
    assert "8 more assignments, $0.80" in page
    assert f"Left in the budgets of {POOL}" in page
    agreed = dict(re.findall(r'name="([a-z]+(?:-\d+)?)" value="(\w+)"', page))
    assert agreed[f"cents-{campaign.pk}"] == "80"
    assert "This field is required" in press(office, campaign, **agreed, reason=" ")
    nothing_changed(campaign)
    done = press(office, campaign, **agreed, reason="Too wide.")
    assert "8 more assignments, $0.80 added." in done
    assert "nothing was added" in press(office, campaign, **agreed, reason="Too wide.")
    campaign.refresh_from_db()
    assert (campaign.budget_cents, campaign.answers_per_hit) == (120, 3)
    run.stop(campaign.pk, None, "Enough.")
    assert "This campaign is stopped" in press(
        office, campaign, confirmed="yes", more="1"
    )
