"""Estimates against refits without a worker, and what no ratings can say."""

import numpy as np
import pytest

from leaderboard.stats.systems.estimates import Population, estimate_systems


def crowd(seed=1, n_workers=20, n_instances=60, n_systems=4, bias=10.0):
    rng = np.random.default_rng(seed)
    system = np.repeat(np.arange(n_systems), n_instances)
    instance = np.tile(np.arange(n_instances), n_systems)
    worker = rng.integers(0, n_workers, len(system))
    values = (
        60
        + 3.0 * system
        + rng.normal(0, bias, n_workers)[worker]
        + rng.normal(0, 12, n_instances)[instance]
        + rng.normal(0, 20, len(system))
    )
    return values, system, worker, instance


def test_one_worker_says_nothing_of_others():
    values, system, _, instance = crowd()
    estimates = estimate_systems(values, system, np.zeros(len(values)), instance)
    assert estimates.interval("0").ends is None
    difference = estimates.difference("0", "1")
    assert difference.low == -np.inf
    assert difference.p_value == 1


def test_a_system_with_one_worker_leaves_the_others_their_intervals():
    values, system, worker, instance = crowd()
    worker = np.where(system == 2, 99, worker)
    estimates = estimate_systems(values, system, worker, instance)
    assert estimates.n_workers.tolist()[2] == 1
    assert estimates.interval("0").half_width > 0
    assert estimates.interval("2").ends is None


@pytest.mark.parametrize(
    "values", [[5, 5, 5, 5], [0, 0, 0, 0]], ids=["constant", "all wrong"]
)
def test_equal_ratings_have_no_width(values):
    estimates = estimate_systems(values, list("aabb"), list("xyxy"), list("1212"))
    assert estimates.interval("a").half_width == 0
    assert estimates.difference("a", "b").p_value == 1


def test_nonsense_is_refused():
    with pytest.raises(ValueError, match="no ratings"):
        estimate_systems([], [], [])
    for population in Population:
        with pytest.raises(ValueError, match="number 2 is nan"):
            estimate_systems([1, np.nan], list("ab"), list("xy"), population=population)


def test_a_busy_worker_counts_for_less_than_the_share_of_ratings():
    values, system, worker, instance = crowd(bias=20.0)
    busy = np.random.default_rng(4).random(len(worker)) < 0.6
    worker = np.where(busy, 0, worker)
    estimates = estimate_systems(values, system, worker, instance)
    assert (estimates.largest_share < 0.6).all()
    assert (estimates.effective_workers > 3).all()
