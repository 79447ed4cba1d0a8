"""Estimates against refits without a worker, and what no ratings can say."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.stats.mixed import fit_mixed
from leaderboard.stats.systems.estimates import estimate_systems
from leaderboard.stats.systems.jackknife import influence_of
from leaderboard.stats.systems.table import rating_table
from leaderboard.stats.systems.variances import Variances, variances_of
from leaderboard.stats.systems.weighting import weighting


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


def test_the_means_are_those_of_the_mixed_model():
    values, system, worker, instance = crowd()
    fit = fit_mixed(values, system, {"worker": worker, "instance": instance})
    estimates = estimate_systems(values, system, worker, instance)
    assert estimates.means == pytest.approx(fit.means, abs=1e-7)


def test_the_weights_are_those_of_the_whole_covariance():
    values, system, worker, instance = crowd()
    table = rating_table(values, system, worker, instance)
    equations = weighting(table, Variances(100.0, 144.0, 400.0, "given"))
    one = np.eye(20)[table.worker]
    other = np.eye(60)[table.instance]
    covariance = 100 * one @ one.T + 144 * other @ other.T + 400 * np.eye(len(values))
    systems = np.eye(4)[table.system]
    expected = 400 * np.linalg.solve(covariance, systems)
    weights = np.concatenate([block for _, _, block in equations.blocks()])
    assert weights == pytest.approx(expected, abs=1e-9)
    assert equations.information == pytest.approx(expected.T @ systems, abs=1e-8)
    assert equations.right == pytest.approx(expected.T @ table.values, abs=1e-6)


def test_contributions_are_sums_over_the_weights():
    table = rating_table(*crowd())
    equations = weighting(table, variances_of(table))
    bread = np.linalg.inv(equations.information)
    means = bread @ equations.right
    found = influence_of(equations, bread, means)
    weights = np.concatenate([block for _, _, block in equations.blocks()])
    scores = weights * (table.values - means[table.system])[:, None]
    of_instance = np.eye(table.n_instances)[table.instance].T
    of_worker = np.eye(table.n_workers)[table.worker].T
    assert found.squares == pytest.approx(scores.T @ scores, rel=1e-9)
    assert found.instance_scores == pytest.approx(of_instance @ scores, abs=1e-8)
    assert found.weight == pytest.approx(of_worker @ weights, abs=1e-9)
    assert found.shares.sum(axis=0) == pytest.approx(np.ones(4))


def test_the_part_of_workers_is_the_jackknife_with_the_weights_kept():
    values, system, worker, instance = crowd()
    table = rating_table(values, system, worker, instance)
    equations = weighting(table, variances_of(table))
    weights = np.concatenate([block for _, _, block in equations.blocks()])
    systems = np.eye(4)[table.system]
    estimates = estimate_systems(values, system, worker, instance)
    shifts = []
    for one in range(table.n_workers):
        kept = table.worker != one
        left = np.linalg.solve(
            weights[kept].T @ systems[kept], weights[kept].T @ table.values[kept]
        )
        shifts.append(left - estimates.means)
    shifts = np.array(shifts)
    n = len(shifts)
    expected = shifts.T @ shifts * (n - 1) / n
    assert estimates.worker_part == pytest.approx(expected, rel=1e-6)


def test_moments_find_the_variances_that_the_likelihood_finds(monkeypatch):
    rng = np.random.default_rng(2)
    n = 40_000
    system, worker, instance = (rng.integers(0, k, n) for k in (5, 300, 400))
    values = (
        rng.normal(0, 10, 300)[worker]
        + rng.normal(0, 12, 400)[instance]
        + rng.normal(0, 20, n)
    )
    table = rating_table(values, system, worker, instance)
    monkeypatch.setattr("leaderboard.stats.systems.variances._AFFORDABLE", 0)
    found = variances_of(table)
    assert found.method == "moments"
    assert found.worker == pytest.approx(100, rel=0.15)
    assert found.instance == pytest.approx(144, rel=0.15)
    assert found.residual == pytest.approx(400, rel=0.03)


def test_labels_and_order_of_ratings_change_no_byte():
    values, system, worker, instance = crowd()
    order = np.random.default_rng(3).permutation(len(values))
    renamed = np.array([f"w{(7 * w) % 20}" for w in worker])
    one = estimate_systems(values, system, worker, instance)
    other = estimate_systems(
        values[order], system[order], renamed[order], instance[order]
    )
    assert one.means.tobytes() == other.means.tobytes()
    assert one.worker_part.tobytes() == other.worker_part.tobytes()


def test_one_worker_says_nothing_of_others():
    values, system, _, instance = crowd()
    estimates = estimate_systems(values, system, np.zeros(len(values)), instance)
    with pytest.raises(ValueError, match="Only one worker rated 0"):
        estimates.interval("0")
    difference = estimates.difference("0", "1")
    assert difference.low == -np.inf
    assert difference.p_value == 1


def test_a_system_with_one_worker_leaves_the_others_their_intervals():
    values, system, worker, instance = crowd()
    worker = np.where(system == 2, 99, worker)
    estimates = estimate_systems(values, system, worker, instance)
    assert estimates.n_workers.tolist()[2] == 1
    assert estimates.interval("0").half_width > 0
    with pytest.raises(ValueError, match="Only one worker rated 2"):
        estimates.interval("2")


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
    with pytest.raises(ValueError, match="number 2 is nan"):
        estimate_systems([1, np.nan], list("ab"), list("xy"))
    with pytest.raises(ValueError, match="one worker"):
        estimate_systems([1, 2], list("ab"), list("x"))


def test_a_busy_worker_counts_for_less_than_the_share_of_ratings():
    values, system, worker, instance = crowd(bias=20.0)
    busy = np.random.default_rng(4).random(len(worker)) < 0.6
    worker = np.where(busy, 0, worker)
    estimates = estimate_systems(values, system, worker, instance)
    assert (estimates.largest_share < 0.6).all()
    assert (estimates.effective_workers > 3).all()


def test_instances_that_systems_share_are_no_noise_of_their_difference():
    rng = np.random.default_rng(4)
    separated = []
    for _ in range(150):
        hard = rng.normal(0, 30, 100)
        system, instance = np.repeat([0, 1], 100), np.tile(np.arange(100), 2)
        worker = rng.integers(0, 40, 200)
        values = hard[instance] + rng.normal(0, 10, 200)
        estimates = estimate_systems(values, system, worker, instance)
        separated.append(estimates.difference("0", "1").p_value <= 0.2)
    # at 20 %: with the variance of independent ratings as the least one it was never
    assert 0.1 < np.mean(separated) < 0.3
