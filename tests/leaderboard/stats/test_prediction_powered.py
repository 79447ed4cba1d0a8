"""A metric narrows people's mean when it knows something, and never fools it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from leaderboard.stats.prediction_powered import (
    prediction_powered_mean,
)

N_SETS = 150
# four standard errors of a coverage of .95 over so many sets
EDGE = 4 * np.sqrt(0.95 * 0.05 / N_SETS)


def draw(rng, n, rho, k=1, likert=False):
    """Draw instances: k metrics, and people who correlate with their sum by rho."""
    metrics = rng.normal(size=(n, k))
    known = metrics.sum(axis=1) / np.sqrt(k)
    people = rho * known + np.sqrt(1 - rho**2) * rng.normal(size=n)
    if likert:
        people = np.clip(np.round(people + 3), 1, 5)
    return people, metrics


def simulate(n_judged, n_others, rho, *, target="population", n_sets=N_SETS, **more):
    rng = np.random.default_rng(1)
    likert = more.get("likert", False)
    true = 0.0
    if likert:
        edges = stats.norm.cdf(np.array([1.5, 2.5, 3.5, 4.5]) - 3)
        true = 1 + np.sum(1 - edges)
    held, plain_held, ratios = 0, 0, []
    for _ in range(n_sets):
        people, metrics = draw(rng, n_judged + n_others, rho, **more)
        found = prediction_powered_mean(
            people[:n_judged], metrics[:n_judged], metrics[n_judged:], target=target
        )
        goal = people.mean() if target == "test-set" else true
        held += found.powered.contains(goal)
        plain_held += found.plain.contains(goal)
        ratios.append(found.powered.half_width / found.plain.half_width)
    return held / n_sets, plain_held / n_sets, np.array(ratios)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_judged", "n_others", "rho", "more"),
    [
        (30, 1_000, 0.5, {}),
        (30, 1_000, 0.0, {}),
        (100, 900, 0.9, {}),
        (300, 700, 0.4, {}),
        (100, 1_000, -0.6, {}),
        (60, 500, 0.5, {"k": 4}),
        (200, 800, 0.5, {"likert": True}),
        (50, 100, 0.6, {"target": "test-set"}),
        (300, 200, 0.6, {"target": "test-set"}),
    ],
)
def test_coverage_is_nominal_and_the_width_as_expected(n_judged, n_others, rho, more):
    held, plain_held, ratios = simulate(n_judged, n_others, rho, **more)
    assert held == pytest.approx(0.95, abs=EDGE)
    assert plain_held == pytest.approx(0.95, abs=EDGE)
    # the price of estimated weights: about k / n of the width, once or twice
    k = more.get("k", 1)
    assert ratios.max() <= 1 + 3.5 * k / n_judged
    if not more.get("likert"):  # rounding lowers the correlation
        # the published formula; on the test set alone the metric is known on all of it
        whole = more.get("target") == "test-set"
        share = 1 if whole else n_others / (n_judged + n_others)
        expected = np.sqrt(1 - rho**2 * share)
        assert ratios.mean() == pytest.approx(expected, abs=2 * k / n_judged)


def test_a_useless_metric_costs_next_to_nothing():
    _, _, ratios = simulate(400, 600, 0.0, n_sets=30)
    assert ratios.max() < 1.005
    assert ratios.mean() == pytest.approx(1, abs=0.003)


def test_a_perfect_metric_leaves_only_its_own_uncertainty():
    rng = np.random.default_rng(2)
    metric = rng.normal(size=1_000)
    found = prediction_powered_mean(2 * metric[:100] + 1, metric[:100], metric[100:])
    # people's scores are known on all 1,000 then
    everything = 2 * metric + 1
    assert found.powered.estimate == pytest.approx(everything.mean(), abs=1e-9)
    assert found.powered.half_width == pytest.approx(
        1.96 * everything.std() / np.sqrt(1_000), rel=0.1
    )
    test_set = prediction_powered_mean(
        2 * metric[:100] + 1, metric[:100], metric[100:], target="test-set"
    )
    assert test_set.powered.half_width == pytest.approx(0, abs=1e-9)


# of ppi-python 0.2.3, whose weight is tuned on pooled variances, its quantile normal
LIBRARY = {"estimate": 2.00553434, "low": 1.91284149, "high": 2.09822719}


def test_it_agrees_with_the_authors_library():
    i = np.arange(1_200)
    metric = np.sin(i * i) + 0.3 * np.cos(7 * i)
    people = 2 + 0.8 * metric[:240] + np.sin(3 * i[:240] + 1)
    found = prediction_powered_mean(people, metric[:240], metric[240:])
    assert found.powered.estimate == pytest.approx(LIBRARY["estimate"], abs=2e-3)
    assert found.powered.low == pytest.approx(LIBRARY["low"], abs=5e-3)
    assert found.powered.high == pytest.approx(LIBRARY["high"], abs=5e-3)


def test_for_endless_unjudged_instances_it_is_the_control_variate():
    rng = np.random.default_rng(3)
    people, metrics = draw(rng, 100, 0.7)
    f = metrics[:, 0]
    others = rng.normal(size=2_000_000)
    found = prediction_powered_mean(people, f, others)
    alpha = np.cov(people, f)[0, 1] / np.var(f, ddof=1)
    control = np.mean(people - alpha * f) + alpha * others.mean()
    assert found.powered.estimate == pytest.approx(control, abs=1e-3)
    assert found.weights == pytest.approx([alpha], rel=1e-3)


def test_scale_and_direction_of_the_metric_mean_nothing():
    rng = np.random.default_rng(4)
    people, metrics = draw(rng, 500, 0.6)
    plain = prediction_powered_mean(people[:100], metrics[:100], metrics[100:])
    turned = prediction_powered_mean(
        people[:100], 1e6 - 40 * metrics[:100], 1e6 - 40 * metrics[100:]
    )
    assert turned.powered.estimate == pytest.approx(plain.powered.estimate)
    assert turned.powered.half_width == pytest.approx(plain.powered.half_width)
    assert turned.weights == pytest.approx(-plain.weights / 40)
    assert turned.correlation == pytest.approx(plain.correlation)


def test_two_metrics_that_say_the_same_share_the_weight():
    rng = np.random.default_rng(5)
    people, metrics = draw(rng, 500, 0.6)
    once = prediction_powered_mean(people[:100], metrics[:100], metrics[100:])
    double = np.hstack([metrics, metrics])
    twice = prediction_powered_mean(people[:100], double[:100], double[100:])
    assert twice.powered.estimate == pytest.approx(once.powered.estimate)
    assert twice.weights == pytest.approx(np.tile(once.weights / 2, 2))


def test_labels_saved_are_those_that_plain_precision_would_cost():
    rng = np.random.default_rng(6)
    people, metrics = draw(rng, 20_000, 0.8)
    found = prediction_powered_mean(people[:500], metrics[:500], metrics[500:])
    n = 500 + round(found.labels_saved)
    assert n > 1_000
    plain = prediction_powered_mean(people[:n], metrics[:n], metrics[n:]).plain
    assert plain.half_width == pytest.approx(found.powered.half_width, rel=0.05)


@pytest.mark.parametrize(
    ("people", "metric", "others"),
    [
        ([3.0], [1.0], [1.0, 2.0, 3.0]),
        ([3.0, 4.0, 5.0], [1.0, 2.0, 3.0], [1.0, 2.0]),  # too few to weigh by
        ([3.0] * 20, list(range(20)), [1.0, 2.0, 3.0]),  # people do not vary
        (list(range(20)), [0.1] * 20, [0.1, 0.1, 0.1]),  # the metric does not
        (list(range(20)), list(range(20)), []),  # all were judged
    ],
)
def test_without_anything_to_learn_it_is_the_plain_estimate(people, metric, others):
    found = prediction_powered_mean(people, metric, others)
    assert found.powered == found.plain
    assert found.weights.tolist() == [0]
    assert found.labels_saved == 0
    assert found.plain.estimate == pytest.approx(np.mean(people))


def test_one_rating_says_nothing_about_its_error():
    found = prediction_powered_mean([3.0], [1.0], [2.0, 3.0])
    assert (found.plain.low, found.plain.high) == (-np.inf, np.inf)


def test_when_all_were_judged_the_test_sets_mean_is_known():
    found = prediction_powered_mean([1.0, 2, 4], [1.0, 2, 3], [], target="test-set")
    assert (found.plain.low, found.plain.high) == pytest.approx((7 / 3, 7 / 3))


def test_the_plain_interval_is_students():
    rng = np.random.default_rng(7)
    people = rng.normal(size=25)
    found = prediction_powered_mean(people, people, [])
    low, high = stats.t.interval(
        0.9, 24, people.mean(), people.std(ddof=1) / np.sqrt(25)
    )
    narrower = prediction_powered_mean(people, people, [], confidence=0.9).plain
    assert (narrower.low, narrower.high) == pytest.approx((low, high))
    assert found.plain.half_width > narrower.half_width


def test_wrong_arguments_are_refused_in_words():
    with pytest.raises(ValueError, match="no ratings"):
        prediction_powered_mean([], [], [])
    with pytest.raises(ValueError, match="one value for each judged instance"):
        prediction_powered_mean([1, 2], [1], [1])
    with pytest.raises(ValueError, match="same metrics are needed"):
        prediction_powered_mean([1, 2], [[1, 2], [3, 4]], [[1], [2]])
    with pytest.raises(ValueError, match="values must be finite"):
        prediction_powered_mean([1, 2], [1, np.nan], [1])
    with pytest.raises(ValueError, match="There is no 'all'"):
        prediction_powered_mean([1, 2], [1, 2], [1], target="all")
    with pytest.raises(ValueError, match="confidence must lie"):
        prediction_powered_mean([1, 2], [1, 2], [1], confidence=95)
