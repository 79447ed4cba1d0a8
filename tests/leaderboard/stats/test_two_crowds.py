"""Two crowds on one task: a test that is right when they are one, and finds when not."""

import numpy as np
import pytest
from scipy import stats

from leaderboard.stats.crowds import compare_crowds, same_population


def draw(rng, *, move=0.0, scale=1.0, n=500, sizes=(20, 25), n_systems=4):
    """Draw ratings of systems by two crowds whose workers differ in pace."""
    n_workers = sum(sizes)
    pace = rng.gamma(1.2, size=n_workers)
    worker = rng.choice(n_workers, n, p=pace / pace.sum())
    system, instance = rng.integers(0, n_systems, n), rng.integers(0, 60, n)
    second = worker >= sizes[0]
    values = 60 + 3 * system + rng.normal(0, 8, 60)[instance]
    values = values + rng.normal(0, 10, n_workers)[worker] + move * second
    values = values + rng.normal(0, 15, n) * np.where(second, scale, 1)
    return values, system, worker, instance, second


@pytest.fixture(scope="module")
def under_one_population():
    rng = np.random.default_rng(1)
    return [
        same_population(*draw(rng), n_permutations=299, seed=run) for run in range(300)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("which", ["p_value", "p_means", "p_spread"])
def test_under_one_population_p_values_are_even(under_one_population, which):
    p = [getattr(found, which) for found in under_one_population]
    assert np.mean(np.array(p) <= 0.05) <= 0.085
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_the_smallest_difference_found_is_found_in_four_of_five(under_one_population):
    move = float(np.median([found.detectable for found in under_one_population]))
    rng = np.random.default_rng(2)
    found = [
        same_population(*draw(rng, move=move), n_permutations=299, seed=run).p_means
        for run in range(120)
    ]
    assert 0.7 <= np.mean(np.array(found) <= 0.05) <= 0.9


def test_a_crowd_that_scatters_more_is_another_one():
    rng = np.random.default_rng(3)
    found = [
        same_population(*draw(rng, scale=1.8), n_permutations=299, seed=run)
        for run in range(30)
    ]
    assert np.mean([one.p_spread <= 0.05 for one in found]) >= 0.9
    assert np.mean([one.p_value <= 0.05 for one in found]) >= 0.9


def test_with_one_system_and_equal_workers_it_is_the_permutation_test_of_means():
    rng = np.random.default_rng(4)
    worker = np.repeat(np.arange(24), 10)
    values = rng.normal(0, 5, 24)[worker] + rng.normal(0, 3, 240) + 4.0 * (worker >= 12)
    # each rating of an instance that both crowds have once
    instance = np.tile(np.arange(120), 2)
    second = worker >= 12
    found = same_population(
        values, np.zeros(240), worker, np.zeros(240), second, n_permutations=4999
    )
    means = values.reshape(24, 10).mean(1)
    outside = stats.permutation_test(
        (means[:12], means[12:]),
        lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis),
        vectorized=True,
        n_resamples=9_999,
        rng=np.random.default_rng(5),
    )
    assert found.p_means == pytest.approx(outside.pvalue, abs=0.012)
    assert same_population(values, np.zeros(240), worker, instance, second)


def test_harder_instances_are_no_other_crowd():
    rng = np.random.default_rng(6)
    worker = rng.integers(0, 40, 600)
    second = worker >= 20
    instance = rng.integers(0, 30, 600) + 30 * second
    values = 50 + 20 * second + rng.normal(0, 5, 600)
    found = same_population(values, np.zeros(600), worker, instance, second)
    assert found.p_means > 0.05
    assert found.detectable is None


def test_workers_of_both_crowds_are_left_out_and_counted():
    rng = np.random.default_rng(7)
    values, system, worker, instance, second = draw(rng)
    worker = np.where(worker >= 40, worker - 40, worker)  # five belong to both
    found = same_population(values, system, worker, instance, second)
    both = np.intersect1d(worker[second], worker[~second])
    own = [len(np.setdiff1d(worker[rows], both)) for rows in (~second, second)]
    assert found.n_both == len(both) > 0
    assert found.n_workers == tuple(own)


def test_scores_ranks_and_order_of_two_crowds_are_compared():
    found = compare_crowds(*draw(np.random.default_rng(8), move=12.0, n=2_000))
    assert len(found.systems) == 4
    for one in found.systems:
        assert one.difference.low < 12 < one.difference.high
        assert one.difference.estimate == pytest.approx(
            one.means[1] - one.means[0], abs=3
        )
        assert 1 <= one.ranks[0][0] <= one.ranks[0][1] <= 4
    assert found.correlation.low <= found.correlation.r <= found.correlation.high
    assert found.population.p_means < 0.05
    assert sum(found.n_ratings) == 2_000
    again = compare_crowds(*draw(np.random.default_rng(8), move=12.0, n=2_000))
    assert found == again


@pytest.mark.slow
def test_the_difference_of_a_system_covers_the_truth():
    rng = np.random.default_rng(9)
    hits = [
        one.difference.low <= 6 <= one.difference.high
        for _ in range(12)
        for one in compare_crowds(
            *draw(rng, move=6.0, n=1_000, sizes=(30, 30), n_systems=12)
        ).systems
    ]
    assert 0.92 <= np.mean(hits) <= 0.99


@pytest.mark.parametrize(
    ("systems", "second"), [(["a", "a"], [True, True]), (["a", "b"], [True, False])]
)
def test_without_a_system_that_both_judged_there_is_nothing_to_compare(systems, second):
    assert compare_crowds([1.0, 2.0], systems, ["x", "y"], [0, 1], second) is None


def test_small_and_equal_crowds_say_little_and_break_nothing():
    few = compare_crowds([1.0, 2.0], ["a", "a"], ["x", "y"], [0, 0], [False, True])
    assert few.population is None
    assert few.correlation is None
    same = compare_crowds(
        np.full(40, 50.0),
        np.arange(40) // 2 % 4,
        np.arange(40) % 10,
        np.arange(40) // 8,
        np.arange(40) % 2 == 0,
    )
    assert same.correlation is None
    assert same.population.p_value == 1.0
    with pytest.raises(ValueError, match="finite"):
        compare_crowds([1.0, np.nan], ["a", "a"], ["x", "y"], [0, 0], [False, True])
