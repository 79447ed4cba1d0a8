"""Workers who like different systems: busy ones then count for less a rating."""

import numpy as np
import pytest

from leaderboard.stats.systems.table import Variances, rating_table, variances_of
from leaderboard.stats.systems.weighting import influence_of, weigh_systems

GIVEN = Variances(100.0, 64.0, 400.0, "given", 0.0, 60.0)


def crowd(taste, *, seed=0, n=3_000, n_days=0):
    """Draw 40 workers, some much busier than others, who rate five systems."""
    rng = np.random.default_rng(seed)
    busy = np.exp(rng.normal(0, 1, 40))
    worker = rng.choice(40, n, p=busy / busy.sum())
    system, instance = rng.integers(0, 5, n), rng.integers(0, 400, n)
    values = 60 + rng.normal(0, 10, 40)[worker] + rng.normal(0, 8, 400)[instance]
    values += rng.normal(0, taste, (40, 5))[worker, system] + rng.normal(0, 18, n)
    days = rng.integers(0, n_days, n) if n_days else None
    return rating_table(values, system, worker, instance, days)


def covariance(table, variances, *, exact):
    same = table.worker[:, None] == table.worker
    full = variances.worker * same
    full = full + variances.instance * (table.instance[:, None] == table.instance)
    if exact:
        alike = same & (table.system[:, None] == table.system)
        own = np.eye(len(table)) * (variances.residual - variances.taste)
        return full + variances.taste * alike + own
    precision = weigh_systems(table, variances).precision[table.worker]
    return full + np.diag(variances.residual / precision)


def test_the_estimate_is_generalised_least_squares_with_each_workers_precision():
    table = crowd(9, n=400)
    equations = weigh_systems(table, GIVEN)
    assert np.ptp(equations.precision) > 0.1
    bread = np.linalg.inv(equations.information)
    x = np.eye(5)[table.system]
    inverse = np.linalg.inv(covariance(table, GIVEN, exact=False))
    wanted = np.linalg.solve(x.T @ inverse @ x, x.T @ inverse @ table.values)
    means = bread @ equations.right
    np.testing.assert_allclose(means, wanted, atol=1e-9)
    weights = np.concatenate([block for _, _, block in equations.blocks()])
    np.testing.assert_allclose(weights.T @ x, equations.information, atol=1e-9)
    found = influence_of(equations, bread, means)
    np.testing.assert_allclose(found.shares.sum(axis=0), 1)
    np.testing.assert_allclose(found.weight.sum(axis=0), weights.sum(axis=0), atol=1e-9)


@pytest.mark.parametrize("n_days", [0, 5])
def test_without_it_all_ratings_weigh_the_same(n_days):
    for seed in range(5):
        table = crowd(0, seed=seed, n_days=n_days)
        found = variances_of(table)
        assert found.taste == 0
        assert (weigh_systems(table, found).precision == 1).all()


def test_workers_of_one_system_each_have_no_taste_that_is_not_their_level():
    table = crowd(9)
    apart = rating_table(table.values, table.worker % 5, table.worker, table.instance)
    assert variances_of(apart).taste == 0
