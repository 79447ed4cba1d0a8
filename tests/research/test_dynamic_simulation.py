import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from genie_research.papers.dynamic.labels import Majority, OneWorker
from genie_research.papers.dynamic.simulation import (
    FixedWorker,
    FreshRequests,
    Population,
    SimulatedVotes,
    capability_products,
    draw_difficulties,
)

POOL = np.array([0.0, 0.3, 0.8, 0.95, 1.0])
REQUESTS = np.array([-1.0, -0.4, 0.0, 0.25, 1.0])


def votes_by_enumeration(n, distinct):
    draws = (
        itertools.permutations(POOL, n)
        if distinct
        else itertools.product(POOL, repeat=n)
    )
    chances = np.zeros((n + 1, len(REQUESTS)))
    count = 0
    for workers in draws:
        count += 1
        for labels in itertools.product((0, 1), repeat=n):
            each = [
                (1 + c * REQUESTS) / 2 if label else (1 - c * REQUESTS) / 2
                for c, label in zip(workers, labels, strict=True)
            ]
            chances[sum(labels)] += np.prod(each, axis=0)
    return chances / count


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("distinct", [True, False])
def test_votes_are_those_of_every_set_of_workers_that_can_be_drawn(n, distinct):
    found = SimulatedVotes(POOL, REQUESTS).votes(n, distinct=distinct)
    assert found == pytest.approx(votes_by_enumeration(n, distinct), abs=1e-12)


def test_the_mean_powers_of_a_bounded_normal_are_its_integrals():
    population = Population(0.25, 0.1, 10)
    normal = stats.norm(0.25, math.sqrt(0.1))
    for m, found in enumerate(population.difficulty_powers(7)):
        inside, _ = integrate.quad(
            lambda d, m=m: d**m * normal.pdf(d), -1, 1, epsabs=1e-12
        )
        ends = normal.sf(1) + (-1) ** m * normal.cdf(-1)
        assert found == pytest.approx(inside + ends, abs=1e-9)


def test_equally_difficult_requests_have_the_powers_of_their_difficulty():
    assert Population(0.5, 0, 10).difficulty_powers(3).tolist() == [1, 0.5, 0.25, 0.125]
    assert Population(3.0, 0, 10).difficulty_powers(2).tolist() == [1, 1, 1]


def test_difficulties_are_bounded_and_0_1_is_their_variance():
    drawn = draw_difficulties(200_000, 0.0, 0.01, np.random.default_rng(1))
    assert drawn.std() == pytest.approx(0.1, rel=0.01)
    wide = draw_difficulties(20_000, 0.25, 4, np.random.default_rng(1))
    assert (wide.min(), wide.max()) == (-1, 1)


def test_a_fixed_worker_is_one_person_in_all_requests_of_a_run():
    labels = (
        FixedWorker([0.0, 1.0], [1.0] * 40).draw(400, np.random.default_rng(2)).labels
    )
    shares = labels.mean(axis=1)
    perfect = shares == 1
    assert perfect.mean() == pytest.approx(0.5, abs=0.1)
    assert shares[~perfect].max() < 0.95


def test_fresh_requests_for_a_fixed_worker_depend_on_that_worker():
    population = Population(1.0, 0, 300, least=0, most=1)
    shares = (
        FreshRequests(population)
        .draw(2000, np.random.default_rng(3))
        .labels.mean(axis=1)
    )
    # the share for A of a worker of capability c is about (1 + c) / 2: uniform on [1/2, 1]
    assert shares.mean() == pytest.approx(0.75, abs=0.02)
    assert shares.std() == pytest.approx(0.5 / math.sqrt(12), rel=0.1)


@pytest.mark.parametrize("strategy", [None, OneWorker(), Majority(3)])
def test_a_given_pool_of_workers_stays_in_all_runs(strategy):
    population = Population(1.0, 0, 2000)
    shares = [
        FreshRequests(population, strategy, pool)
        .draw(50, np.random.default_rng(6))
        .labels.mean(axis=1)
        for pool in ([0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0])
    ]
    assert shares[0] == pytest.approx(0.5, abs=0.06)
    assert shares[1].tolist() == [1] * 50
    if strategy is None:
        assert set(shares[2].round(1)) == {0.5, 1.0}
    elif strategy == OneWorker():
        assert shares[2].mean() == pytest.approx(1 - 0.5 / 3, abs=0.01)


def test_the_order_of_the_workers_does_not_matter():
    shuffled = np.random.default_rng(1).permutation(POOL)
    for distinct in (True, False):
        assert capability_products(shuffled, 4, distinct=distinct) == pytest.approx(
            capability_products(POOL, 4, distinct=distinct)
        )


def test_more_different_workers_than_there_are_are_refused():
    with pytest.raises(ValueError, match="5 different workers"):
        SimulatedVotes([0.5] * 3, [0.1]).votes(5)
