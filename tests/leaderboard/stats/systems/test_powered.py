"""A metric narrows what holds for another crowd, and the interval still holds."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.stats.prediction_powered import prediction_powered_mean
from leaderboard.stats.systems.estimates import estimate_systems
from leaderboard.stats.systems.powered import powered_systems

N_SETS = 20  # of two systems each
MEAN = 60.0


def crowd(rng, n_workers=30, bias=10.0, n_judged=200, n_systems=2, *, even=True):
    """Let workers with a level of their own rate some of 800 instances."""
    quality = rng.normal(0, 12, (n_systems, 800))
    metric = 0.05 * quality + 0.8 * rng.normal(size=quality.shape)
    judged = rng.permutation(800)[:n_judged]
    system = np.repeat(np.arange(n_systems), n_judged)
    instance = np.tile(judged, n_systems)
    share = np.ones(n_workers) if even else rng.pareto(1.5, n_workers) + 0.1
    worker = rng.choice(n_workers, len(system), p=share / share.sum())
    values = (
        MEAN
        + quality[system, instance]
        + rng.normal(0, bias, n_workers)[worker]
        + rng.normal(0, 20, len(system))
    )
    return values, system, worker, instance, metric[:, :, None]


def for_instances(values, system, instance, metric):
    own = system == 0
    judged = np.unique(instance[own])
    order = np.argsort(instance[own])
    rest = np.delete(metric[0], judged, axis=0)
    return prediction_powered_mean(values[own][order], metric[0][judged], rest)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_workers", "bias", "even"),
    [(30, 10, False), (20, 15, True), (60, 0, False)],
)
def test_intervals_cover_other_workers(n_workers, bias, even):
    rng = np.random.default_rng(n_workers)
    powered, plain, before = [], [], []
    for _ in range(N_SETS):
        drawn = crowd(rng, n_workers, bias, even=even)
        values, system, _, instance, metric = drawn
        for found in powered_systems(*drawn):
            powered.append(found.powered.contains(MEAN))
            plain.append(found.plain.contains(MEAN))
        before.append(
            for_instances(values, system, instance, metric).powered.contains(MEAN)
        )
    # four standard errors of so few
    assert min(np.mean(powered), np.mean(plain)) >= 0.95 - 4 * np.sqrt(0.0475 / 40)
    if bias:
        # what covered instances only, and was said to cover workers
        assert np.mean(before) < 0.88


def test_the_plain_estimate_is_that_of_every_other_page():
    drawn = crowd(np.random.default_rng(1), n_systems=3)
    estimates = estimate_systems(*drawn[:4])
    for system, found in enumerate(powered_systems(*drawn)):
        assert found.plain == estimates.interval(str(system))
        assert found.powered.covers == found.plain.covers


def test_a_metric_that_knows_narrows_and_one_that_does_not_costs_little():
    rng = np.random.default_rng(2)
    values, system, worker, instance, metric = crowd(rng, bias=3.0)
    known = metric.copy()
    known[system, instance, 0] = values
    (good, _) = powered_systems(values, system, worker, instance, known)
    assert good.powered.half_width < 0.8 * good.plain.half_width
    assert good.labels_saved > 50
    noise = rng.normal(size=metric.shape)
    (poor, _) = powered_systems(values, system, worker, instance, noise)
    assert poor.powered.half_width < 1.05 * poor.plain.half_width


def test_scale_and_direction_of_the_metric_mean_nothing():
    values, system, worker, instance, metric = crowd(np.random.default_rng(3))
    (plain, _) = powered_systems(values, system, worker, instance, metric)
    (turned, _) = powered_systems(values, system, worker, instance, 1e3 - 40 * metric)
    assert turned.powered.estimate == pytest.approx(plain.powered.estimate)
    assert turned.powered.half_width == pytest.approx(plain.powered.half_width)
    assert turned.correlation == pytest.approx(plain.correlation)


def test_a_metric_that_does_not_vary_leaves_the_plain_estimate():
    values, system, worker, instance, metric = crowd(np.random.default_rng(4))
    for found in powered_systems(values, system, worker, instance, 0 * metric):
        assert found.powered == found.plain
        assert found.labels_saved == 0


def test_one_worker_leaves_instances_and_the_interval_says_so():
    values, system, _, instance, metric = crowd(np.random.default_rng(5))
    (found, _) = powered_systems(
        values, system, np.zeros(len(values)), instance, metric
    )
    assert found.powered == for_instances(values, system, instance, metric).powered
    assert "another crowd" in found.powered.covers


def test_a_system_without_ratings_or_metric_is_left_out():
    values, system, worker, instance, metric = crowd(np.random.default_rng(6))
    metric = np.concatenate([metric, metric])
    metric[1, 0] = np.nan
    found = powered_systems(values, system, worker, instance, metric)
    assert [one is None for one in found] == [False, True, True, True]


def test_all_instances_rated_leave_nothing_to_learn():
    drawn = crowd(np.random.default_rng(7), n_judged=800)
    for found in powered_systems(*drawn):
        assert found.powered == found.plain


def test_wrong_arguments_are_refused_in_words():
    metric = np.zeros((1, 2, 1))
    with pytest.raises(ValueError, match="a value a system"):
        powered_systems([1], [0], ["w"], [0], [[1.0]])
    with pytest.raises(ValueError, match="metrics know nothing"):
        powered_systems([1], [1], ["w"], [0], metric)
    with pytest.raises(ValueError, match="number of its instance"):
        powered_systems([1], [0], ["w"], [0.5], metric)
    with pytest.raises(ValueError, match="no ratings"):
        powered_systems([], [], [], [], metric)
