"""Intervals of metric statistics, clusters of metrics."""

import numpy as np
import pytest
from scipy import stats

from leaderboard.metric_board.stats.intervals import (
    grouped_interval,
    soft_accuracy_interval,
    system_interval,
)
from leaderboard.metric_board.stats.pairs import average_groups, instance_statistic
from leaderboard.metric_board.stats.soft_accuracy import soft_pairwise_accuracy
from leaderboard.metric_board.stats.system_level import SYSTEM_STATISTICS
from leaderboard.metric_board.stats.verdicts import rank_metrics
from tests.leaderboard.metric_board.stats.system_level import system_statistics
from tests.leaderboard.stats.made_scores import made_scores

PEOPLE, FIRST, SECOND = made_scores()


def board(rng, n_systems=15, n=60, noise=1.0):
    """Draw systems, and people and a metric that see them through noise."""
    quality = rng.normal(0, 0.5, n_systems)
    seen = quality + rng.normal(0, 0.3, n_systems)
    people = quality[:, None] + rng.normal(0, noise, (n_systems, n))
    return people, seen[:, None] + rng.normal(0, noise, (n_systems, n))


@pytest.mark.parametrize("statistic", SYSTEM_STATISTICS)
def test_the_estimate_is_the_statistic_and_lies_inside(statistic):
    found = system_interval(PEOPLE, FIRST, statistic, seed=1)
    expected = system_statistics(np.nanmean(PEOPLE, axis=1), FIRST.mean(axis=1))
    assert found.estimate == pytest.approx(expected[statistic], abs=1e-12)
    assert found.low <= found.estimate <= found.high


@pytest.mark.slow
def test_the_interval_covers_what_it_says():
    rng = np.random.default_rng(2)
    boards = [board(rng) for _ in range(60)]
    typical = np.mean(
        [
            system_statistics(h.mean(axis=1), m.mean(axis=1))["pairwise-accuracy"]
            for h, m in boards
        ]
    )
    held = [
        system_interval(h, m, "pairwise-accuracy", seed=3, n_resamples=300).contains(
            typical
        )
        for h, m in boards
    ]
    # resampling both counts the instances' noise twice and is on the safe side
    assert np.mean(held) >= 0.84


def test_more_instances_narrow_what_instances_leave_open():
    rng = np.random.default_rng(4)
    few, many = (
        system_interval(*board(rng, n=n), "pearson", seed=1) for n in (5, 2_000)
    )
    assert many.half_width < few.half_width


def test_overall_values_that_are_no_means_shift_the_resamples():
    overall = FIRST.mean(axis=1) ** 2
    found = system_interval(PEOPLE, FIRST, "pearson", metric_system=overall, seed=1)
    expected = stats.pearsonr(np.nanmean(PEOPLE, axis=1), overall)[0]
    assert found.estimate == pytest.approx(expected, abs=1e-12)


def test_two_systems_say_nothing_about_others():
    found = system_interval(PEOPLE[:2], FIRST[:2], "pearson", seed=1)
    assert (found.low, found.high) == (-np.inf, np.inf)
    soft = soft_accuracy_interval(PEOPLE[:2], FIRST[:2], seed=1)
    assert (soft.low, soft.high) == (-np.inf, np.inf)


@pytest.mark.parametrize("statistic", ["kendall", "pairwise-accuracy"])
def test_a_system_drawn_twice_is_no_pair_with_itself(statistic):
    # perfect agreement stays perfect in every resample
    level = np.arange(6)[:, None] * np.ones(5)
    found = system_interval(level, level, statistic, seed=1)
    assert (found.low, found.estimate, found.high) == pytest.approx((1, 1, 1))
    assert found.high <= 1


def test_intervals_repeat_by_seed():
    first, again = (
        system_interval(PEOPLE, FIRST, "spearman", seed=5) for _ in range(2)
    )
    assert first == again


def test_instance_level_intervals_are_over_instances():
    found = instance_statistic(PEOPLE, FIRST, "tau-b")
    interval = grouped_interval(found, seed=1)
    assert interval.estimate == pytest.approx(found.value)
    error = found.per_group.std() / np.sqrt(40)
    assert interval.half_width == pytest.approx(1.96 * error, rel=0.15)
    with pytest.raises(ValueError, match="defined on no instance"):
        grouped_interval(average_groups(np.array([np.nan])), seed=1)


def test_soft_accuracys_interval_lies_about_it():
    rng = np.random.default_rng(6)
    people, metric = board(rng, n_systems=12, n=100)
    found = soft_accuracy_interval(people, metric, seed=1)
    limit = soft_pairwise_accuracy(people, metric)
    assert found.estimate == pytest.approx(limit, abs=1e-12)
    assert 0 <= found.low < found.estimate < found.high <= 1
    assert found == soft_accuracy_interval(people, metric, seed=1)


@pytest.mark.slow
def test_soft_accuracys_interval_covers_the_typical_value():
    rng = np.random.default_rng(7)
    found = [
        soft_accuracy_interval(*board(rng, n_systems=10), seed=1) for _ in range(60)
    ]
    typical = np.mean([interval.estimate for interval in found])
    assert np.mean([interval.contains(typical) for interval in found]) >= 0.84


# --- clusters ---------------------------------------------------------------------


def test_a_metric_opens_a_cluster_when_one_of_the_current_cluster_beats_it():
    # 0 > 1 > 2 > 3: 0 beats 2, 2 beats nobody, 0 and 1 beat 3
    beaten = {(0, 2), (0, 3), (1, 3)}
    found = rank_metrics(
        [0.9, 0.8, 0.7, 0.6], lambda i, j: 0.01 if (i, j) in beaten else 0.5
    )
    assert found.ranks == [1, 1, 2, 2]
    assert found.p_values[0, 2] == 0.01
    assert np.isnan(found.p_values[2, 0])


def test_the_better_metric_is_asked_first_and_the_undefined_comes_last():
    asked = []

    def p_better(i, j):
        asked.append((i, j))
        return 0.001

    found = rank_metrics([0.1, np.nan, 0.3], p_better)
    assert found.order == [2, 0, 1]
    assert asked == [(2, 0), (2, 1), (0, 1)]
    assert found.ranks == [2, 3, 1]


def test_no_metric_and_one_metric_have_a_ranking():
    assert rank_metrics([], lambda i, j: 0.0).ranks == []
    assert rank_metrics([0.4], lambda i, j: 0.0).ranks == [1]
