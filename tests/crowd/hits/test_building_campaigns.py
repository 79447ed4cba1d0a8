import pytest
from django.db import connection

from crowd.models import HIT, Campaign, HITType, Item
from genie.lib.errors import GenieError
from tests.crowd.making import hit_type, item, items, make_campaign


def order_of(campaign):
    return list(
        Item.objects.filter(campaign=campaign)
        .order_by("hit__position")
        .values_list("content_key", flat=True)
    )


def refused(code, **fields):
    with pytest.raises(GenieError) as caught:
        make_campaign(**fields)
    assert not Campaign.own.exists()
    assert not HIT.own.exists()
    return caught.value.code == code


def test_each_item_gets_a_hit_of_its_own():
    campaign = make_campaign(5)
    assert [hit.items.count() for hit in campaign.hits.all()] == [1] * 5
    assert [hit.position for hit in campaign.hits.order_by("position")] == [0, 1, 2, 3, 4]  # fmt: skip
    campaign = make_campaign(2, max_assignments=3)
    assert set(campaign.hits.values_list("n_available", "max_assignments")) == {(3, 3)}


@pytest.mark.every_engine
def test_building_the_same_campaign_twice_is_one_campaign():
    first = make_campaign(3, key="same")
    second = make_campaign(3, key="same")
    assert first.pk == second.pk
    assert (HIT.own.count(), Item.own.count()) == (3, 3)


@pytest.mark.every_engine
def test_the_seed_decides_the_order_and_the_order_is_stored():
    one = make_campaign(30, seed=1, of=items(30, "a-"))
    same = make_campaign(30, seed=1, of=items(30, "b-"))
    other = make_campaign(30, seed=2, of=items(30, "c-"))
    assert order_of(one) == order_of(same)
    assert order_of(one) != order_of(other)
    assert sorted(order_of(one)) == sorted(order_of(other))
    assert order_of(one) != [f"input-{i}" for i in range(30)]


def test_equal_hit_types_are_one_row():
    make_campaign(1)
    make_campaign(1)
    make_campaign(1, hit_type=hit_type(reward_cents=11))
    assert HITType.own.count() == 2


def test_a_campaign_never_costs_more_than_was_approved():
    assert refused("over-budget", n=4, budget_cents=39)
    assert refused("over-budget", n=4, budget_cents=79, max_assignments=2)
    assert make_campaign(4, budget_cents=40).hits.count() == 4


def test_the_platforms_share_counts_against_what_was_approved():
    assert refused("over-budget", n=4, budget_cents=47, platform="mturk")
    assert make_campaign(4, budget_cents=48, platform="mturk").fee_cents == 2


def test_what_cannot_work_is_refused_and_leaves_nothing():
    for code, fields in [
        ("no-items", {"of": []}),
        ("duplicate-item", {"of": [item("a"), item("a")]}),
        ("unknown-hit-template", {"hit_type": hit_type(template="nowhere")}),
        ("unknown-scale", {"hit_type": hit_type(scale="stars")}),
        ("no-criteria", {"hit_type": hit_type(criteria={})}),
        ("criterion-too-long", {"hit_type": hit_type(criteria={"x" * 51: "?"})}),
        ("unknown-exposure", {"exposure": "sometimes"}),
        ("too-few-assignments", {"max_assignments": 0}),
        ("unknown-platform", {"platform": "elsewhere"}),
    ]:
        assert refused(code, **fields)


def test_an_item_without_its_texts_is_refused():
    broken = item("a")
    for data in (
        {},
        {**broken.data, "prediction": 3},
        {**broken.data, "fields": []},
        {**broken.data, "fields": "text"},
        {**broken.data, "fields": [{"label": "Question"}]},
        {**broken.data, "fields": ["text"]},
    ):
        spec = type(broken)(key="a", data=data, content_key="a")
        assert refused("unusable-item", of=[spec])


@pytest.mark.every_engine
@pytest.mark.skipif(connection.vendor != "postgresql", reason="of PostgreSQL")
def test_the_database_knows_large_campaigns(
    without_decoys, django_capture_on_commit_callbacks
):
    with django_capture_on_commit_callbacks(execute=True):
        make_campaign(250)
    with connection.cursor() as cursor:
        cursor.execute("select reltuples from pg_class where relname = 'crowd_hit'")
        assert cursor.fetchone() == (250.0,)
