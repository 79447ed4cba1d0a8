"""Rejected work and the end of its campaign: neither may be stuck, nor cost anybody."""

import pytest
from django.db import transaction

from crowd.campaigns.services import review, run
from crowd.campaigns.services import run as reopen
from crowd.hits.selectors import campaign_progress, is_done
from crowd.models import Campaign, Commitment
from crowd.money.services import budgets
from crowd.workers.services import exclusions
from leaderboard.evaluation import campaigns
from tests.crowd.campaigns.test_races import at_once
from tests.crowd.making import POOL, do_all, do_one, make_campaign, make_worker
from tests.factories import make_user

State = Campaign.State


def test_a_campaign_that_asks_again_after_a_late_rejection_comes_to_an_end():
    campaign = make_campaign(3)
    budgets.commit(key=campaign.key, pool=POOL, amount_cents=100, by=make_user("sam"))
    noisy, other = make_worker(), make_worker()
    do_one(noisy), do_one(noisy)
    late = do_one(other)
    run.complete(campaign.pk)
    budgets.settle(campaign.key, campaign_progress(campaign).spent_cents)
    review.reject(late.pk, None, "Made by a program.")
    exclusions.exclude(noisy, POOL, "Sorry.")
    assert reopen.reopen(campaign.pk) == 3
    campaign.refresh_from_db()
    do_all(make_worker())
    assert not campaign.hits.filter(n_available__gt=0).exists()
    assert is_done(campaign)


@pytest.mark.every_engine
@pytest.mark.django_db(transaction=True)
def test_a_rejection_and_the_end_at_once_leave_no_place_and_no_money_behind():
    sam = make_user("sam")
    for _ in range(10):
        campaign = make_campaign(1)
        budgets.commit(key=campaign.key, pool=POOL, amount_cents=100, by=sam)
        done = do_one(make_worker())

        def close(campaign=campaign):
            with transaction.atomic():
                return campaigns.close_campaigns([campaign])

        at_once(close, lambda d=done: review.reject(d.pk, sam, "No effort."))
        campaign.refresh_from_db()
        free = sum(campaign.hits.values_list("n_available", flat=True))
        if campaign.state == State.COMPLETE:
            assert free == 0
            assert Commitment.own.get(key=campaign.key).amount_cents == 0
        else:
            assert free == 1
        run.stop(campaign.pk, None, "Over.")
