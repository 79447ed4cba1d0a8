"""Tests between metrics: the values of a plain loop, the right level, much faster."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from leaderboard.metric_board.stats.pairs import instance_statistic
from leaderboard.metric_board.stats.permutation import (
    permutation_test,
    random_swaps,
    standardize,
)
from leaderboard.metric_board.stats.soft_accuracy import (
    complete_instances,
    soft_accuracy_test,
    soft_pairwise_accuracy,
    superiority,
)
from leaderboard.metric_board.stats.verdicts import verdicts, verdicts_test
from tests.leaderboard.stats.made_scores import (
    SOFT,
    SOFT_WITH_GAPS,
    SWAPPED,
    SWAPPED_SYSTEMS,
    made_scores,
    shaken,
)

PEOPLE, FIRST, SECOND = made_scores()
ALL_SWAPS = np.array([*product((0, 1), repeat=7)], dtype=np.float32)
STATISTICS = ["pearson", "spearman", "tau-b", "tau-10", "tau-13", "tau-14", "acc-eq"]


@pytest.fixture
def every_swap(monkeypatch):
    monkeypatch.setattr(
        "leaderboard.metric_board.stats.permutation.random_swaps",
        lambda *_: iter([ALL_SWAPS]),
    )


def value(human, metric, statistic):
    if np.ndim(human) == 1:
        human, metric = human[:, None], metric[:, None]
    found = instance_statistic(human, metric, statistic).value
    return 0.0 if np.isnan(found) else found


def loop(human, first, second, statistic, swaps):
    """Share of the given swaps that reach the difference, one after the other."""
    x = standardize(np.where(np.isnan(human), np.nan, first))
    y = standardize(np.where(np.isnan(human), np.nan, second))
    observed = value(human, x, statistic) - value(human, y, statistic)
    reached = 0
    for w in swaps:
        mixed, other = np.where(w > 0, x, y), np.where(w > 0, y, x)
        gap = value(human, mixed, statistic) - value(human, other, statistic)
        reached += gap >= observed - 1e-12
    return observed, reached / len(swaps)


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("coarse", [False, True])
def test_all_swaps_of_systems_are_those_of_a_loop(statistic, coarse, every_swap):
    rng = np.random.default_rng(4)
    human, first, second = rng.normal(size=(3, 7))
    human[2] = np.nan
    if coarse:
        human, first, second = (np.round(x) for x in (human, first, second))
    found = permutation_test(
        human, first, second, statistic=statistic, seed=0, n_permutations=128
    )
    observed, share = loop(human, first, second, statistic, ALL_SWAPS)
    share = (128 * share + 1) / 129
    assert found.difference == pytest.approx(observed, abs=1e-12)
    assert found.p_value == pytest.approx(share, abs=1e-12)


@pytest.mark.parametrize("statistic", SWAPPED)
def test_instance_level_has_the_recorded_p_values(statistic):
    found = permutation_test(
        PEOPLE, FIRST, SECOND, statistic=statistic, seed=3, n_permutations=4_000
    )
    recorded = SWAPPED[statistic]
    error = np.sqrt(2 * recorded * (1 - recorded) / 4_000)
    assert abs(found.p_value - recorded) < 4 * error + 1 / 4_000


@pytest.mark.parametrize("statistic", SWAPPED_SYSTEMS)
def test_system_level_has_the_recorded_p_values(statistic, every_swap):
    human = np.nanmean(PEOPLE, axis=1)
    found = permutation_test(
        human,
        FIRST.mean(axis=1),
        SECOND.mean(axis=1),
        statistic=statistic,
        seed=3,
        n_permutations=128,
    )
    recorded = SWAPPED_SYSTEMS[statistic]
    error = np.sqrt(recorded * (1 - recorded) / 16_000)
    assert abs((129 * found.p_value - 1) / 128 - recorded) < 4 * error


def test_equal_metrics_are_never_told_apart():
    for statistic in ("pearson", "tau-b"):
        found = permutation_test(
            PEOPLE, FIRST, 3 * FIRST - 1, statistic=statistic, seed=1
        )
        assert found.difference == pytest.approx(0, abs=1e-12)
        assert found.p_value == 1


@pytest.mark.slow
@pytest.mark.parametrize("statistic", ["pearson", "tau-b"])
def test_between_equally_good_metrics_small_p_values_are_rare(statistic):
    rng = np.random.default_rng(11)
    p_values = []
    for _ in range(100):
        people = rng.normal(size=(6, 20))
        first, second = people + rng.normal(size=(2, 6, 20))
        p_values.append(
            permutation_test(
                people, first, second, statistic=statistic, seed=1, n_permutations=99
            ).p_value
        )
    # uniform: 100 draws, sd of the share below .1 is .03
    assert np.mean(np.array(p_values) <= 0.1) == pytest.approx(0.1, abs=0.085)
    assert stats.kstest(p_values, "uniform").pvalue > 1e-4


def test_the_same_seed_gives_the_same_bytes_and_another_another():
    first, again, other = (
        permutation_test(PEOPLE, FIRST, SECOND, statistic="tau-b", seed=seed)
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first.p_value != other.p_value


def test_a_constant_metric_is_nothing_rather_than_an_error():
    found = permutation_test(
        PEOPLE, FIRST, np.ones_like(FIRST), statistic="pearson", seed=1
    )
    assert found.p_value < 0.05
    nothing = permutation_test([1.0], [2.0], [3.0], statistic="pearson", seed=1)
    assert (nothing.difference, nothing.p_value) == (0, 1)


def test_groups_too_large_for_tau_are_refused():
    long = np.zeros((5_000, 1))
    with pytest.raises(ValueError, match="too large for tau-b"):
        permutation_test(long, long, long, statistic="tau-b", seed=1)


def test_coins_are_fair_and_come_in_chunks(monkeypatch):
    monkeypatch.setattr("leaderboard.metric_board.stats.permutation.CHUNK", 1_000)
    chunks = list(random_swaps(np.random.default_rng(1), 500, 30))
    assert len(chunks) > 10
    whole = np.concatenate(chunks)
    assert whole.shape == (500, 30)
    assert set(np.unique(whole)) == {0.0, 1.0}
    assert whole.mean(axis=0) == pytest.approx(np.full(30, 0.5), abs=0.1)


# --- verdicts on pairs, calibrated -------------------------------------------------


def calibrated_test(human, first, second, **settings):
    return verdicts_test(verdicts(human, first), verdicts(human, second), **settings)


def test_swaps_by_instance_keep_their_level():
    rng = np.random.default_rng(6)
    p_values = []
    for _ in range(150):
        people = rng.integers(1, 4, (12, 30)).astype(float)
        people[:, rng.random(30) < 0.2] = np.nan
        first, second = np.nan_to_num(people) + rng.normal(0, 1, (2, 12, 30))
        found = calibrated_test(people, first, second, seed=1, n_permutations=199)
        p_values.append(found.p_value)
    assert 0.01 <= np.mean(np.array(p_values) <= 0.05) <= 0.11


def test_swaps_by_instance_are_those_of_a_loop():
    rng = np.random.default_rng(3)
    found = calibrated_test(PEOPLE, FIRST, SECOND, seed=1, n_permutations=5_000)
    gaps = (
        verdicts(PEOPLE, FIRST).calibrated.per_group
        - verdicts(PEOPLE, SECOND).calibrated.per_group
    )
    flips = rng.choice([-1, 1], size=(5_000, len(gaps)))
    share = np.mean((flips * gaps).mean(axis=1) >= gaps.mean() - 1e-12)
    assert found.difference == pytest.approx(gaps.mean(), abs=1e-12)
    assert abs(found.p_value - share) < 0.01


def test_verdicts_that_are_all_equal_have_p_one():
    found = calibrated_test(PEOPLE, FIRST, FIRST * 2, seed=1)
    assert (found.difference, found.p_value) == (0, 1)


# --- soft pairwise accuracy -------------------------------------------------------


@pytest.mark.parametrize("metric", SOFT)
def test_soft_accuracy_has_the_recorded_values(metric):
    people = np.where(np.isnan(PEOPLE), 1.0, PEOPLE)
    table = {"first": shaken(FIRST), "second": SECOND}[metric]
    assert soft_pairwise_accuracy(people, table) == pytest.approx(
        SOFT[metric], abs=0.007
    )


def test_instances_that_miss_a_system_are_left_out():
    assert soft_pairwise_accuracy(PEOPLE, shaken(FIRST)) == pytest.approx(
        SOFT_WITH_GAPS, abs=0.007
    )
    assert complete_instances(PEOPLE, PEOPLE)[0].shape == (7, 15)
    with pytest.raises(ValueError, match="no instance with ratings of every"):
        complete_instances([[1, np.nan], [np.nan, 1]], [[1, 2], [3, 4]])


def test_p_values_of_pairs_are_the_limit_of_many_sign_flips():
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(2, 400)) + np.array([[0], [0.05]])
    gap = scores[0] - scores[1]
    flips = rng.choice([-1, 1], size=(20_000, 400))
    share = np.mean(flips @ gap >= gap.sum())
    assert superiority(scores)[0, 1] == pytest.approx(share, abs=0.015)


def test_two_systems_alike_and_a_metric_that_is_people():
    scores = [[1.0, 2.0], [1.0, 2.0]]
    assert superiority(scores)[0, 1] == 0.5
    assert soft_pairwise_accuracy(PEOPLE, np.nan_to_num(PEOPLE)) == 1
    assert np.isnan(soft_pairwise_accuracy([[1, 2]], [[1, 2]]))


def test_a_metric_turned_round_is_as_wrong_as_people_are_sure():
    level = np.arange(4)[:, None] * np.ones(50)
    people = level + np.random.default_rng(1).normal(0, 0.1, (4, 50))
    assert soft_pairwise_accuracy(people, -people) == pytest.approx(0, abs=1e-9)


def test_soft_accuracy_does_not_ask_for_more_certainty_than_people_have():
    rng = np.random.default_rng(5)
    unsure, sure = [], []
    for _ in range(100):
        people, other = rng.normal(size=(2, 8, 50))  # nobody is better
        certain = other * 0.01 + rng.permutation(8)[:, None]
        unsure.append(soft_pairwise_accuracy(people, other))
        sure.append(soft_pairwise_accuracy(people, certain))
    # uniform p-values are 1/3 apart on average, and 1/2 from 0 or 1
    assert np.mean(unsure) == pytest.approx(2 / 3, abs=0.03)
    assert np.mean(sure) == pytest.approx(1 / 2, abs=0.03)


def test_soft_accuracies_are_compared():
    rng = np.random.default_rng(9)
    level = np.linspace(0, 1, 8)[:, None]
    people = level + rng.normal(size=(8, 100))
    good, poor = level + rng.normal(size=(8, 100)), rng.normal(size=(8, 100))
    found = soft_accuracy_test(people, good, poor, seed=1, n_permutations=200)
    assert found.difference > 0.2
    assert found.p_value < 0.02
    back = soft_accuracy_test(people, poor, good, seed=1, n_permutations=200)
    assert back.p_value > 0.98
    same = soft_accuracy_test(people, good, good, seed=1, n_permutations=50)
    assert same.p_value == 1
