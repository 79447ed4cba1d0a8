"""Campaigns of a pool that are open together are worked on together."""

from collections import Counter
from itertools import pairwise

import pytest
from django.urls import reverse

from crowd.campaigns.selectors.starved import turns
from crowd.campaigns.services import run
from crowd.campaigns.services.work import give_back, next_assignment
from crowd.models import Assignment, DrawnOrder
from crowd.workers.selectors.eligible import in_turns_with
from crowd.workers.services import invitations
from genie.lib.seeds import generator
from tests.crowd.making import (
    POOL,
    do_all,
    do_one,
    hit_type,
    items,
    make_campaign,
    make_worker,
)
from tests.factories import make_user


def open_campaigns(n, n_items, **fields):
    return [make_campaign(of=items(n_items, f"{i}-"), **fields) for i in range(n)]


def answers_per_campaign():
    return Counter(Assignment.own.values_list("hit__campaign", flat=True))


def test_after_a_third_of_the_answers_every_campaign_has_about_a_third():
    campaigns = open_campaigns(4, 45)
    workers = [make_worker() for _ in range(30)]
    rng = generator(12)
    # a few workers do most of it, as in real crowds
    activity = rng.exponential(size=30)
    for who in rng.choice(30, size=4 * 15, p=activity / activity.sum()):
        assert do_one(workers[int(who)])
    counts = answers_per_campaign()
    assert sum(counts.values()) == 60
    assert all(9 <= counts[campaign.pk] <= 21 for campaign in campaigns)


def test_each_worker_gets_the_campaigns_in_balanced_order():
    campaigns = open_campaigns(4, 12)
    orders = set()
    for _ in range(6):
        worker = make_worker()
        got = [do_one(worker).hit.campaign_id for _ in range(6)]
        assert set(got[:4]) == {campaign.pk for campaign in campaigns}
        assert max(Counter(got).values()) == 2
        orders.add(tuple(got[:4]))
    assert len(orders) > 1


@pytest.mark.every_engine
def test_the_order_is_stored_and_is_what_was_offered():
    open_campaigns(3, 9)
    worker = make_worker()
    got = [a.hit.campaign_id for a in do_all(worker)]
    assert len(got) == 9
    rows = DrawnOrder.objects.filter(worker=worker, pool=POOL)
    assert [row.number for row in rows] == [0, 1, 2]
    assert [pk for row in rows for pk in row.campaigns] == got
    assert all(row.n_taken == 3 for row in rows)


def test_to_look_draws_the_same_order_and_keeps_nothing():
    campaigns = open_campaigns(5, 9)
    worker = make_worker()
    looks = [[turn.campaign.pk for turn in turns(worker, campaigns)] for _ in range(2)]
    assert not DrawnOrder.own.exists()
    got = [do_one(worker).hit.campaign_id for _ in range(5)]
    assert looks == [got, got]


def test_what_is_given_back_is_not_offered_twice_in_a_round():
    open_campaigns(3, 9)
    worker = make_worker()
    offered = []
    for _ in range(3):
        assignment = next_assignment(worker)
        offered.append(assignment.hit.campaign_id)
        give_back(assignment)
    assert len(set(offered)) == 3


def test_a_campaign_that_opens_later_joins_in_the_next_round_and_is_not_caught_up_with():
    early = open_campaigns(2, 16)
    worker = make_worker()
    for _ in range(5):
        do_one(worker)
    late = make_campaign(of=items(16, "late-"))
    got = Counter(do_one(worker).hit.campaign_id for _ in range(10))
    assert set(got) == {late.pk, *(campaign.pk for campaign in early)}
    assert got[late.pk] == 3


def test_one_that_has_ended_gives_its_turns_to_the_others():
    first, second, third = open_campaigns(3, 12)
    worker = make_worker()
    do_one(worker)
    run.pause(second.pk, None)
    got = Counter(do_one(worker).hit.campaign_id for _ in range(8))
    assert set(got) == {first.pk, third.pk}
    assert abs(got[first.pk] - got[third.pk]) <= 2


def test_a_small_one_ends_and_the_others_stay_balanced():
    small = make_campaign(of=items(2, "small-"))
    others = open_campaigns(2, 12)
    got = [a.hit.campaign_id for a in do_all(make_worker())]
    assert set(got[:3]) == {small.pk, *(campaign.pk for campaign in others)}
    counts = Counter(got)
    assert counts[small.pk] == 2
    assert {counts[campaign.pk] for campaign in others} == {5}


def test_one_campaign_or_none_with_an_open_hit_draws_nothing():
    assert next_assignment(make_worker()) is None
    make_campaign(3)
    assert len(do_all(make_worker())) == 3
    assert not DrawnOrder.own.exists()
    open_campaigns(2, 2)
    for _ in range(4):
        do_all(make_worker())
    n = DrawnOrder.own.count()
    assert next_assignment(make_worker()) is None
    assert DrawnOrder.own.count() == n


def test_hits_of_one_kind_come_in_runs():
    kinds = [hit_type(title=title) for title in ("one", "two")]
    for kind in kinds:
        make_campaign(of=items(20, kind.title), hit_type=kind)
    worker = make_worker()
    got = [do_one(worker).hit.campaign.hit_type_id for _ in range(20)]
    changes = sum(a != b for a, b in pairwise(got))
    assert Counter(got) == dict.fromkeys(set(got), 10)
    assert changes <= 3


def test_pools_are_drawn_apart():
    open_campaigns(2, 6)
    open_campaigns(2, 6, pool="other")
    worker = make_worker(POOL, "other")
    got = [do_one(worker).hit.campaign.pool_id for _ in range(6)]
    assert got == [POOL] * 6
    got = [do_one(worker).hit.campaign.pool_id for _ in range(6)]
    assert got == ["other"] * 6
    assert set(DrawnOrder.own.values_list("pool", flat=True)) == {POOL, "other"}


@pytest.mark.every_engine
def test_the_site_hands_out_after_submit_in_the_drawn_order(client):
    campaigns = open_campaigns(4, 12)
    worker = make_worker(user=make_user("wanda"))
    client.force_login(worker.user)
    page = client.post(reverse("work:next"), {"pool": POOL})
    for _ in range(4):
        page = client.post(page.url, {"answer-0-0": "0.75"})
        assert page.status_code == 302
    done = Assignment.objects.filter(worker=worker, state="SUBMITTED")
    got = set(done.values_list("hit__campaign", flat=True))
    assert got == {campaign.pk for campaign in campaigns}


def test_the_next_page_counts_what_is_left_of_its_own_kind_only(wim, db):
    for pool in ("weather", "news"):
        make_campaign(3, pool=pool, key=f"of-{pool}")
        invitations.give_consent(wim, pool)
    claimed = next_assignment(wim)
    assert claimed.in_turns == in_turns_with(wim, claimed.hit.campaign)
    assert {campaign.pool_id for campaign in claimed.in_turns} == {
        claimed.hit.campaign.pool_id
    }
