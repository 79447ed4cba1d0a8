"""Days as a third source of variation: against the whole covariance, and where they count."""

import json

import numpy as np
import pytest

from genie_research.boards.crowd_simulation import Crowd, simulate_crowd
from leaderboard.evaluation.estimates import as_json, from_json
from leaderboard.stats.mixed import fit_mixed
from leaderboard.stats.systems.criteria import together
from leaderboard.stats.systems.estimates import (
    COVERS_CROWD,
    COVERS_DAYS,
    estimate_systems,
)
from leaderboard.stats.systems.fragility import ratings_to_drop
from leaderboard.stats.systems.table import Variances, rating_table, variances_of
from leaderboard.stats.systems.weighting import influence_of, weigh_systems

GIVEN = Variances(100.0, 144.0, 400.0, "given", 60.0)


def crowd(seed=1, n_days=6, day_sd=8.0):
    rng = np.random.default_rng(seed)
    system = np.repeat(np.arange(4), 60)
    instance = np.tile(np.arange(60), 4)
    worker = rng.integers(0, 20, 240)
    day = rng.integers(0, n_days, 240)
    values = (
        60
        + 3.0 * system
        + rng.normal(0, 10, 20)[worker]
        + rng.normal(0, 12, 60)[instance]
        + rng.normal(0, day_sd, n_days)[day]
        + rng.normal(0, 20, 240)
    )
    return values, system, worker, instance, day


def weights_of(equations):
    return np.concatenate([block for _, _, block in equations.blocks()])


@pytest.fixture(params=[True, False], ids=["days", "no days"])
def ratings(request):
    return crowd() if request.param else crowd()[:4]


@pytest.mark.parametrize("instance_variance", [144.0, 0.0])
def test_the_weights_are_those_of_the_whole_covariance(ratings, instance_variance):
    table = rating_table(*ratings)
    day_variance = 60.0 * (len(ratings) == 5)
    given = Variances(100.0, instance_variance, 400.0, "given", day_variance)
    equations = weigh_systems(table, given)
    worker, instance = np.eye(20)[table.worker], np.eye(60)[table.instance]
    covariance = 100 * worker @ worker.T + instance_variance * instance @ instance.T
    if day_variance:
        day = np.eye(6)[table.day]
        covariance += day_variance * day @ day.T
    covariance += 400 * np.eye(240)
    systems = np.eye(4)[table.system]
    expected = 400 * np.linalg.solve(covariance, systems)
    assert weights_of(equations) == pytest.approx(expected, abs=1e-9)
    assert equations.information == pytest.approx(expected.T @ systems, abs=1e-8)
    assert equations.right == pytest.approx(expected.T @ table.values, abs=1e-6)


def test_the_means_and_variances_are_those_of_the_mixed_model(ratings):
    values, system, *factors = ratings
    names = ["worker", "instance", "day"][: len(factors)]
    fit = fit_mixed(values, system, dict(zip(names, factors, strict=True)))
    found = estimate_systems(*ratings)
    assert found.means == pytest.approx(fit.means, abs=1e-7)
    for name in names:
        variance = getattr(found.variances, name)
        assert variance == pytest.approx(fit.variances[name], rel=1e-6)


def test_contributions_are_sums_over_the_weights():
    table = rating_table(*crowd())
    equations = weigh_systems(table, GIVEN)
    bread = np.linalg.inv(equations.information)
    means = bread @ equations.right
    found = influence_of(equations, bread, means)
    weights = weights_of(equations)
    scores = weights * (table.values - means[table.system])[:, None]
    of_instance = np.eye(60)[table.instance].T
    of_day = np.eye(6)[table.day].T
    of_worker = np.eye(20)[table.worker].T
    cells = [table.worker, table.instance, table.day]
    cell = np.unique(np.column_stack(cells), axis=0, return_inverse=True)[1].ravel()
    own = np.eye(cell.max() + 1)[cell].T @ scores
    assert len(own) < len(scores)
    assert found.squares == pytest.approx(own.T @ own, rel=1e-9)
    single = influence_of(equations, bread, means, by_cell=False)
    assert single.squares == pytest.approx(scores.T @ scores, rel=1e-9)
    assert found.instance_scores == pytest.approx(of_instance @ scores, abs=1e-8)
    assert found.weight == pytest.approx(of_worker @ weights, abs=1e-9)
    assert found.day_weight == pytest.approx(of_day @ weights, abs=1e-9)
    assert found.shares.sum(axis=0) == pytest.approx(np.ones(4))
    # what a day adds to all ratings, it adds to the means
    assert (found.day_weight @ bread.T).sum(axis=0) == pytest.approx(np.ones(4))


def test_the_part_of_workers_is_the_jackknife_with_the_weights_kept(ratings):
    found = estimate_systems(*ratings)
    table = rating_table(*ratings)
    weights = weights_of(weigh_systems(table, found.variances))
    systems = np.eye(4)[table.system]
    shifts = np.array(
        [
            np.linalg.solve(
                weights[kept].T @ systems[kept], weights[kept].T @ table.values[kept]
            )
            - found.means
            for kept in (table.worker != one for one in range(20))
        ]
    )
    assert found.worker_part == pytest.approx(shifts.T @ shifts * 19 / 20, rel=1e-6)


def test_moments_find_the_variance_of_days(monkeypatch):
    rng = np.random.default_rng(2)
    n = 40_000
    system, worker, instance, day = (rng.integers(0, k, n) for k in (5, 300, 400, 60))
    values = (
        rng.normal(0, 10, 300)[worker]
        + rng.normal(0, 12, 400)[instance]
        + rng.normal(0, 8, 60)[day]
        + rng.normal(0, 20, n)
    )
    table = rating_table(values, system, worker, instance, day)
    monkeypatch.setattr("leaderboard.stats.systems.table._AFFORDABLE", 0)
    found = variances_of(table)
    assert found.method == "moments"
    assert found.day == pytest.approx(64, rel=0.3)
    assert found.worker == pytest.approx(100, rel=0.15)
    assert found.instance == pytest.approx(144, rel=0.15)
    assert found.residual == pytest.approx(400, rel=0.03)


def test_days_that_all_systems_share_widen_scores_and_not_differences():
    values, system, worker, instance, day = crowd(day_sd=15.0)
    without = estimate_systems(values, system, worker, instance)
    found = estimate_systems(values, system, worker, instance, day)
    assert found.covers == found.interval("0").covers == COVERS_DAYS
    assert without.covers == COVERS_CROWD
    assert found.interval("0").half_width > 1.3 * without.interval("0").half_width
    error = found.difference("0", "1").standard_error
    assert error < 1.1 * without.difference("0", "1").standard_error


def test_a_system_that_stood_on_good_days_gains_nothing_by_it():
    rng = np.random.default_rng(5)
    day = rng.integers(0, 8, 4_000)
    # the first system's ratings came on the better days
    system = (rng.random(4_000) < np.where(day < 4, 0.2, 0.8)).astype(int)
    values = 60 + 10.0 * (day < 4) + rng.normal(0, 5, 4_000)
    worker, instance = rng.integers(0, 40, (2, 4_000))
    found = estimate_systems(values, system, worker, instance, day)
    without = estimate_systems(values, system, worker, instance)
    assert abs(found.difference("0", "1").estimate) < 0.6
    assert without.difference("0", "1").estimate > 4


@pytest.mark.parametrize(
    "day",
    [
        np.arange(240) % 2,
        # three days, on one of which only one system was rated
        np.where(np.arange(240) < 5, 2, np.arange(240) % 2),
        # a day for each system
        np.arange(240) // 60,
    ],
    ids=["two", "one of three alone", "confounded"],
)
def test_too_few_days_do_not_count(day):
    values, system, worker, instance, _ = crowd()
    found = estimate_systems(values, system, worker, instance, day)
    without = estimate_systems(values, system, worker, instance)
    assert found.day_freedom == 0
    assert found.covers == COVERS_CROWD
    assert found.variance.tobytes() == without.variance.tobytes()
    assert json.dumps(as_json(found)) == json.dumps(as_json(without))
    assert "day" not in json.dumps(as_json(found))


def test_a_fit_with_days_is_read_as_it_was_written():
    found = estimate_systems(*crowd())
    back = from_json(json.loads(json.dumps(as_json(found))))
    assert back.covers == COVERS_DAYS
    assert back.variance == pytest.approx(found.variance, rel=1e-7)
    assert back.freedom == pytest.approx(found.freedom, rel=1e-7)
    both = together([found, found], [1, 1])
    assert both.covers == COVERS_DAYS
    assert both.variance[0, 0] == pytest.approx(found.variance[0, 0] / 2)
    assert found.keep_systems(["2", "0"]).day_part.shape == (2, 2)


def test_labels_and_order_of_ratings_change_no_byte():
    values, system, worker, instance, day = crowd()
    order = np.random.default_rng(3).permutation(240)
    renamed = np.array([f"w{(7 * w) % 20}" for w in worker])
    one = estimate_systems(values, system, worker, instance, day)
    other = estimate_systems(
        values[order], system[order], renamed[order], instance[order], day[order]
    )
    assert one.means.tobytes() == other.means.tobytes()
    assert one.variance.tobytes() == other.variance.tobytes()
    assert one.worker_part.tobytes() == other.worker_part.tobytes()


def test_equal_ratings_have_no_width_and_a_first_place_its_ratings():
    day = [1, 2, 3] * 4
    equal = estimate_systems([5] * 12, list("ab") * 6, list("xyz") * 4, None, day)
    assert equal.interval("a").half_width == 0
    values, system, worker, instance, days = crowd()
    found = ratings_to_drop(values, system, worker, instance, days)
    fit = estimate_systems(values, system, worker, instance, days)
    assert found.leader == fit.systems[int(np.argmax(fit.means))]


@pytest.mark.slow
@pytest.mark.parametrize(("n_days", "day_sd"), [(3, 6.0), (5, 6.0), (10, 3.0)])
def test_intervals_cover_another_draw_of_days(n_days, day_sd):
    cell = Crowd(30, 10.0, 300, n_days=n_days, day_sd=day_sd)
    found = simulate_crowd(cell, n_tasks=24, seed=0)
    assert found.coverage.value >= 0.95 - 4 * found.coverage.error
    assert found.separated.value <= 0.05 + 4 * found.separated.error
