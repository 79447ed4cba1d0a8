import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_research.papers.dynamic.labels import (
    CollectedVotes,
    Majority,
    MaxThree,
    OneWorker,
    Outcomes,
)

STRATEGIES = [
    OneWorker(),
    Majority(1),
    Majority(3),
    Majority(5),
    MaxThree(),
    MaxThree(slip="A"),
]
pools = st.integers(5, 8).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def ask_in_order(strategy, labels):
    # the strategy in words, on the labels in the order in which workers come
    if isinstance(strategy, OneWorker):
        return labels[0], 1
    if isinstance(strategy, Majority):
        return int(sum(labels[: strategy.n]) * 2 > strategy.n), strategy.n
    if labels[0] == labels[1]:
        slipped = strategy.slip == ("A" if labels[0] else "B")
        return labels[0], 3 if slipped else 2
    return labels[2], 3


def chances_by_outcome(outcomes, request=0):
    found = Counter()
    for label, cost, chance in zip(
        outcomes.labels, outcomes.costs, outcomes.chances[:, request], strict=True
    ):
        found[int(label), int(cost)] += chance
    return found


@given(pools, st.sampled_from(STRATEGIES))
def test_outcomes_are_those_of_every_order_in_which_workers_can_come(pool, strategy):
    for_a, n = pool
    labels = [1] * for_a + [0] * (n - for_a)
    orders = list(itertools.permutations(labels, 5))
    expected = Counter(ask_in_order(strategy, order) for order in orders)
    found = chances_by_outcome(strategy.outcomes(CollectedVotes([for_a], [n])))
    for outcome in set(expected) | set(found):
        assert found[outcome] == pytest.approx(expected[outcome] / len(orders))


@pytest.mark.parametrize(
    "strategy", [Majority(3, distinct=False), MaxThree(distinct=False)]
)
def test_outcomes_with_replacement_are_those_of_independent_labels(strategy):
    p = 0.3
    expected = Counter()
    for labels in itertools.product((0, 1), repeat=3):
        chance = np.prod([p if label else 1 - p for label in labels])
        expected[ask_in_order(strategy, labels)] += chance
    found = chances_by_outcome(strategy.outcomes(CollectedVotes([3], [10])))
    for outcome in expected:
        assert found[outcome] == pytest.approx(expected[outcome])


def test_draws_come_with_the_chances_and_costs_of_the_outcomes():
    outcomes = MaxThree(slip="B").outcomes(CollectedVotes([7, 4], [10, 10]))
    series = outcomes.draw(200_000, np.random.default_rng(2))
    for request in range(2):
        seen = Counter(
            zip(
                series.labels[:, request].tolist(),
                series.costs[:, request].tolist(),
                strict=True,
            )
        )
        for outcome, chance in chances_by_outcome(outcomes, request).items():
            assert seen[outcome] / 200_000 == pytest.approx(chance, abs=0.005)


def test_chances_too_fine_for_sixteen_bits_are_kept():
    chance = 0.4 / 2**16
    outcomes = Outcomes(
        np.array([True, False]),
        np.array([1, 1]),
        np.array([[chance] * 5000, [1 - chance] * 5000]),
    )
    rng = np.random.default_rng(7)
    count = sum(int(outcomes.draw(400, rng).labels.sum()) for _ in range(20))
    expected = 20 * 400 * 5000 * chance
    # draws of one call share their rounding: 400 runs of a request come up or not
    spread = math.sqrt(expected + 20 * 5000 * (400 / 2**16) ** 2)
    assert count == pytest.approx(expected, abs=4 * spread)


@pytest.mark.parametrize(
    ("for_a", "collected", "said"),
    [
        ([], [], "one request is needed"),
        ([1, 2], [3], "two counts"),
        ([4], [3], "at most the labels"),
        ([-1], [3], "at most the labels"),
        ([0.5], [3], "whole"),
        ([np.nan], [3], "whole"),
    ],
)
def test_counts_that_cannot_be_are_refused_in_words(for_a, collected, said):
    with pytest.raises(ValueError, match=said):
        CollectedVotes(for_a, collected)


def test_more_workers_than_labels_are_refused_in_words():
    votes = CollectedVotes([2, 3], [9, 4])
    with pytest.raises(
        ValueError, match="5 workers are needed, but a request has only 4"
    ):
        Majority(5).outcomes(votes)
    assert Majority(5, distinct=False).outcomes(votes).n_requests == 2
