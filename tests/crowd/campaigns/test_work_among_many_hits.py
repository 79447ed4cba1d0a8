"""Home and next HIT ask as little however many HITs and campaigns are open."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crowd.campaigns.selectors.offers import offers
from crowd.campaigns.services.work import give_back, next_assignment
from crowd.models import HIT, Assignment, Input
from crowd.workers.selectors import eligible
from tests.crowd.making import (
    POOL,
    do_all,
    do_one,
    hit_type,
    item,
    items,
    make_campaign,
    make_worker,
)
from tests.factories import make_user, signed_in


def see(worker, n=None):
    """Let the worker look at the next HITs and give them back: they stay open."""
    while n != 0 and (assignment := next_assignment(worker)) is not None:
        give_back(assignment)
        n = None if n is None else n - 1


def make_campaigns(n, n_items=6, **fields):
    return [
        make_campaign(of=items(n_items, f"{number}-"), **fields) for number in range(n)
    ]


def n_queries(call):
    with CaptureQueriesContext(connection) as captured:
        call()
    return len(captured)


@pytest.mark.parametrize("exposure", ["task", "campaign"])
def test_home_asks_as_many_queries_with_20_campaigns_as_with_2(exposure):
    worker = make_worker(user=make_user("wanda"))
    client = signed_in(worker.user)

    def home():
        assert client.get("/work/").status_code == 200

    make_campaigns(2, exposure=exposure)
    see(worker, 3)
    few = n_queries(home)
    make_campaigns(18, exposure=exposure)
    assert n_queries(home) == few


def test_who_has_seen_everything_costs_few_queries_whatever_the_campaigns():
    make_campaigns(3)
    worker = make_worker()
    see(worker)
    assert next_assignment(worker) is None  # their order is drawn once
    few = n_queries(lambda: next_assignment(worker))
    make_campaigns(17)
    assert next_assignment(worker) is None
    assert n_queries(lambda: next_assignment(worker)) <= few + 1


@pytest.mark.every_engine
@pytest.mark.django_db(transaction=True)
def test_nothing_is_searched_while_others_cannot_write():
    make_campaigns(4)
    worker = make_worker()
    see(worker, 5)
    locked = []

    def note(execute, sql, *given):
        if connection.in_atomic_block:
            locked.append(sql)
        return execute(sql, *given)

    with connection.execute_wrapper(note):
        assert next_assignment(worker) is not None
        see(worker)
    reads = [sql for sql in locked if sql.startswith("SELECT")]
    assert reads
    assert not any('"crowd_hit"' in sql or '"crowd_input"' in sql for sql in reads)


@pytest.mark.parametrize("n_left", [1, 30])
def test_the_last_unseen_inputs_are_found_in_a_campaign_that_has_them(n_left):
    make_campaigns(6)
    worker = make_worker()
    see(worker)
    new = [item(f"new-{i}") for i in range(n_left)]
    older = make_campaign(of=[*items(6, "older-"), *new])
    newer = make_campaign(of=[*items(6, "newer-"), *new])
    got = next_assignment(worker)
    campaign = got.hit.campaign
    assert campaign in {older, newer}
    unseen = campaign.hits.filter(items__content_key__startswith="about-new")
    assert got.hit == unseen.order_by("position").first()


def test_what_was_seen_where_exposure_is_by_campaign_is_seen_in_the_pool():
    make_campaign(of=items(3, "own-"), exposure="campaign")
    worker = make_worker()
    see(worker)
    make_campaign(of=items(3, "shared-"))
    assert next_assignment(worker) is None
    make_campaign(of=items(3, "own-again-"), exposure="campaign")
    assert len(do_all(worker)) == 3


def test_two_hits_of_one_campaign_with_one_input_are_not_both_shown():
    make_campaign(of=[item("a", content_key="same"), item("b", content_key="same")])
    worker = make_worker()
    assert offers(worker)[0].n_left == 1
    assert len(do_all(worker)) == 1


def test_hits_of_one_input_share_it_across_campaigns():
    make_campaigns(3)
    assert Input.own.count() == 6
    assert HIT.own.count() == 18


def test_more_than_is_counted_is_said_so(monkeypatch):
    monkeypatch.setattr(eligible, "counted_to", lambda campaigns: 4)
    monkeypatch.setattr(
        "crowd.campaigns.selectors.offers.counted_to", lambda campaigns: 4
    )
    make_campaign(6)
    worker = make_worker(user=make_user("wanda"))
    client = signed_in(worker.user)
    assert "4+ left for you" in client.get("/work/").text
    see(worker, 3)
    assert "3 left for you" in client.get("/work/").text


def test_an_offer_is_of_the_kind_of_work_that_comes_first():
    kinds = [hit_type(reward_cents=cents) for cents in (5, 10, 20)]
    cheapest, *_ = [
        make_campaign(of=items(2 + number, f"{number}-"), hit_type=kind)
        for number, kind in enumerate(kinds)
    ]
    worker = make_worker()
    assert offers(worker)[0].cents == (5, 20)
    cheapest.hits.update(n_available=0)
    offer = offers(worker)[0]
    assert offer.cents == (10, 20)
    assert next_assignment(worker).hit.campaign.hit_type == offer.hit_type


def test_places_that_are_given_back_are_found_again():
    make_campaigns(4, n_items=2)
    quick = make_worker()
    assert len(do_all(quick)) == 2
    first = next_assignment(make_worker())
    HIT.own.exclude(pk=first.hit_id).update(n_available=0)
    late = make_worker()
    assert next_assignment(late) is None
    give_back(first)
    assert do_one(late).hit == first.hit
    assert Assignment.objects.filter(hit__campaign__pool=POOL).count() == 4
