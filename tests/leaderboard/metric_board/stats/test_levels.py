"""System and instance level, and tie calibration, agree with mt-metrics-eval."""

import numpy as np
import pytest
from scipy import stats

from leaderboard.metric_board.stats.calibration import calibrated_accuracy
from leaderboard.metric_board.stats.pairs import (
    agreement,
    average_groups,
    instance_statistic,
    pair_counts,
)
from tests.leaderboard.metric_board.stats.system_level import system_statistics
from tests.leaderboard.stats.made_scores import (
    AT_EPSILON_HALF,
    CALIBRATED,
    RECORDED,
    made_scores,
)

PEOPLE, FIRST, SECOND = made_scores()
METRICS = {"first": FIRST, "second": SECOND}


def arranged(metric, group):
    """Turn systems into instances where others' code compares outputs of one system."""
    tables = (PEOPLE, METRICS[metric])
    return tables if group == "instance" else tuple(table.T for table in tables)


def with_epsilon(metric, statistic, epsilon):
    counts = pair_counts(metric[0].T, metric[1].T, epsilon=epsilon)
    return average_groups(agreement(counts, statistic)).value


@pytest.mark.parametrize(("metric", "group"), RECORDED)
def test_instance_level_has_the_recorded_values(metric, group):
    for statistic, expected in RECORDED[metric, group].items():
        found = instance_statistic(*arranged(metric, group), statistic)
        assert found.value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("statistic", AT_EPSILON_HALF)
def test_an_epsilon_makes_ties(statistic):
    found = with_epsilon((PEOPLE, FIRST), statistic, 0.5)
    assert found == pytest.approx(AT_EPSILON_HALF[statistic], abs=1e-9)


@pytest.mark.parametrize(("metric", "group"), CALIBRATED)
def test_calibration_has_the_recorded_values(metric, group):
    found = calibrated_accuracy(*arranged(metric, group))
    accuracy, epsilon = CALIBRATED[metric, group]
    assert found.accuracy == pytest.approx(accuracy, abs=1e-9)
    assert found.epsilon == pytest.approx(epsilon, abs=1e-9)
    assert found.accuracy_without == pytest.approx(
        RECORDED[metric, group]["acc-eq"], abs=1e-9
    )


def test_no_epsilon_is_better_than_the_calibrated_one():
    rng = np.random.default_rng(7)
    people = rng.integers(1, 4, (6, 50)).astype(float)
    people[rng.random((6, 50)) < 0.2] = np.nan
    metric = np.nan_to_num(people, nan=2) + rng.normal(0, 1, (6, 50))
    found = calibrated_accuracy(people, metric)
    gaps = np.abs(metric[:, None] - metric[None, :]).ravel()
    tried = {
        float(epsilon): with_epsilon((people, metric), "acc-eq", float(epsilon))
        for epsilon in np.unique(np.append(gaps, 0.0))
    }
    assert found.accuracy == pytest.approx(max(tried.values()), abs=1e-12)
    assert found.epsilon == min(
        e for e, v in tried.items() if v > found.accuracy - 1e-9
    )
    assert found.epsilon > 0
    assert found.accuracy > found.accuracy_without
    assert found.n_groups == 50


def test_a_metric_that_never_ties_is_no_better_than_one_that_does_rightly():
    people = np.array([[1, 1, 2], [1, 2, 2], [3, 2, 1]])
    exact = calibrated_accuracy(people, people)
    jittered = calibrated_accuracy(people, people + np.eye(3) * 0.01)
    assert exact.accuracy == jittered.accuracy == 1
    assert exact.epsilon == 0
    assert jittered.epsilon == pytest.approx(0.01)


def test_instances_without_pairs_count_for_nothing():
    people = [[1, np.nan, np.nan], [2, 3, np.nan]]
    found = calibrated_accuracy(people, [[1, 2, 3], [2, 3, 4]])
    assert (found.accuracy, found.n_groups, found.n_pairs) == (1, 1, 1)
    nothing = calibrated_accuracy([[np.nan, 1]], [[1, 2]])
    assert np.isnan(nothing.accuracy)
    assert nothing.n_pairs == 0


def test_too_many_pairs_are_refused_before_they_fill_the_memory():
    table = np.zeros((10_000, 1))
    with pytest.raises(ValueError, match="49,995,000 pairs are too many"):
        calibrated_accuracy(table, table)


def test_groups_where_nothing_is_defined_are_left_out_of_the_mean():
    people = [[1, 2], [1, 3]]
    found = instance_statistic(people, [[5, 1], [6, 2]], "tau-b")
    assert found.value == 1
    assert found.n_groups == 1
    assert np.isnan(found.per_group[0])
    empty = instance_statistic([[1, 2]], [[1, 2]], "tau-b")
    assert np.isnan(empty.value)
    assert empty.n_groups == 0


def test_system_level_is_scipys_and_kocmis():
    human, metric = np.nanmean(PEOPLE, axis=1), SECOND.mean(axis=1)
    found = system_statistics(human, metric)
    assert found["pearson"] == pytest.approx(
        stats.pearsonr(human, metric)[0], abs=1e-12
    )
    assert found["spearman"] == pytest.approx(
        stats.spearmanr(human, metric)[0], abs=1e-12
    )
    assert found["kendall"] == pytest.approx(
        stats.kendalltau(human, metric)[0], abs=1e-12
    )
    # ties on one side only are disagreement
    assert system_statistics([1, 1, 2], [1, 2, 3])[
        "pairwise-accuracy"
    ] == pytest.approx(2 / 3)


def test_systems_without_human_scores_are_left_out():
    found = system_statistics([1, np.nan, 2, 3], [10, np.nan, 20, 30])
    assert list(found.values()) == pytest.approx([1] * 4)
    alone = system_statistics([1, np.nan], [1, 2])
    assert all(np.isnan(value) for value in alone.values())


def by_definition(human, metric):
    first, second = np.triu_indices(len(human), 1)
    people = np.sign(human[first] - human[second])
    theirs = np.sign(metric[first] - metric[second])
    same = np.sum(people * theirs > 0)
    other = np.sum(people * theirs < 0)
    metric_ties = np.sum((theirs == 0) & (people != 0))
    agreed = same + np.sum((theirs == 0) & (people == 0))
    ordered = same + other
    return {
        "tau-10": (same - other - metric_ties) / (ordered + metric_ties),
        "tau-13": (same - other) / ordered,
        "tau-14": (same - other) / (ordered + metric_ties),
        "acc-eq": agreed / len(first),
        "tau-eq": 2 * agreed / len(first) - 1,
        "tau-b": stats.kendalltau(human, metric).statistic,
        "pearson": stats.pearsonr(human, metric).statistic,
        "spearman": stats.spearmanr(human, metric).statistic,
    }


@pytest.mark.filterwarnings("ignore")  # of groups in which nothing is defined
def test_every_statistic_of_outputs_is_its_definition():
    people, metric = np.round(PEOPLE), FIRST  # so that people tie, too
    rows = []
    with np.errstate(all="ignore"):
        for human, theirs in zip(people.T, metric.T, strict=True):
            there = ~np.isnan(human)
            if there.sum() >= 2:
                rows.append(by_definition(human[there], theirs[there]))
    for statistic in rows[0]:
        expected = np.nanmean([row[statistic] for row in rows])
        found = instance_statistic(people, metric, statistic)
        assert found.value == pytest.approx(expected, abs=1e-9), statistic
