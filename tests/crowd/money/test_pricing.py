import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowd.pricing import fee_per_assignment, hourly_cents, quote
from tests.crowd.making import refused

cents = st.integers(0, 10_000)
counts = st.integers(0, 2_000)
bills = st.fixed_dictionaries(
    {
        "platform": st.sampled_from(["selfhosted", "mturk"]),
        "reward_cents": cents,
        "n_items": counts,
        "n_test_questions": counts,
        "ratings_per_item": st.integers(1, 12),
        "repost_share": st.decimals(0, 1, places=3) | st.floats(0, 1),
        "max_assignments": st.integers(1, 20),
        "masters": st.booleans(),
    }
)


@given(bills)
def test_parts_lines_fees_and_reposts_add_up_to_the_total(bill):
    cost = quote(**bill)
    assert cost.total_cents == (
        cost.reward_cents
        + cost.fee_cents
        + cost.test_question_cents
        + cost.repost_cents
    )
    assert cost.total_cents == sum(line.cents for line in cost.lines)
    assert all(line.cents == line.n * line.unit_cents for line in cost.lines)
    assert all(isinstance(line.cents, int) for line in cost.lines)
    fee = fee_per_assignment(
        bill["platform"],
        bill["reward_cents"],
        max_assignments=bill["max_assignments"],
        masters=bill["masters"],
    )
    assert cost.total_cents == cost.n_assignments * (bill["reward_cents"] + fee)
    n = bill["ratings_per_item"] * (bill["n_items"] + bill["n_test_questions"])
    share = Fraction(Decimal(str(bill["repost_share"])))
    assert cost.n_assignments == n + math.ceil(n * share)


@given(cents, st.integers(1, 20), st.booleans())
def test_mturk_takes_what_its_price_list_says(reward, n, masters):
    share = Fraction(reward * 20, 100)
    expected = max(Fraction(1), share)
    if n >= 10:
        expected += share
    if masters:
        expected += Fraction(reward * 5, 100)
    fee = fee_per_assignment("mturk", reward, max_assignments=n, masters=masters)
    assert fee == math.ceil(expected)


def test_a_known_bill_comes_out_to_the_cent():
    cost = quote(
        platform="mturk",
        reward_cents=40,
        n_items=1_000,
        n_test_questions=0,
        ratings_per_item=3,
        max_assignments=3,
    )
    assert (cost.reward_cents, cost.fee_cents) == (120_000, 24_000)


@pytest.mark.parametrize(
    "wrong",
    [
        {"reward_cents": -1},
        {"n_items": -1},
        {"n_test_questions": -1},
        {"ratings_per_item": 0},
        {"max_assignments": 0},
        {"repost_share": -0.1},
        {"repost_share": 1.1},
    ],
)
def test_impossible_figures_are_refused(wrong):
    right = {
        "platform": "mturk",
        "reward_cents": 5,
        "n_items": 1,
        "n_test_questions": 1,
    }
    with pytest.raises(ValueError, match=next(iter(wrong))):
        quote(**{**right, **wrong})


def test_an_unknown_platform_has_no_price():
    refused("unknown-platform", fee_per_assignment, "fiverr", 10)


@given(st.integers(0, 5_000), st.floats(0.5, 7_200))
def test_the_hourly_rate_never_flatters(reward, seconds):
    hourly = hourly_cents(reward, seconds)
    assert hourly * seconds <= reward * 3600 * (1 + 1e-12)
    assert (hourly + 1) * seconds > reward * 3600 * (1 - 1e-12)


@pytest.mark.parametrize("seconds", [None, 0, -3.0, math.nan])
def test_without_a_pace_there_is_no_hourly_rate(seconds):
    assert hourly_cents(10, seconds) is None
