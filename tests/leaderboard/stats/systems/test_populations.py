"""These raters (fixed; instances are drawn) and raters like these."""

import numpy as np
import pytest
from scipy import stats

from benchmarks.bench_populations import DESIGNS, draw
from leaderboard.evaluation.estimates import as_json, from_json
from leaderboard.stats.systems.estimates import Population, estimate_systems
from leaderboard.stats.systems.fixed_raters import estimate_fixed
from leaderboard.stats.systems.table import rating_table

THESE = Population.THESE


def drawn(name, seed=0):
    return draw(DESIGNS[name], np.random.default_rng(seed))[0]


@pytest.mark.parametrize("raters", [1, 3])
def test_a_crossed_design_is_the_paired_test_of_instances(raters):
    rng = np.random.default_rng(2)
    scores = rng.normal(50, 20, (30, raters, 2)) + rng.normal(0, 30, (raters, 1))
    i, r, s = (axis.ravel() for axis in np.indices(scores.shape))
    found = estimate_systems(scores.ravel(), s, r, i, population=THESE)
    known = stats.ttest_rel(*scores.mean(axis=1).T)
    difference = found.difference("0", "1")
    assert difference.p_value == pytest.approx(known.pvalue)
    assert difference.freedom == pytest.approx(29)
    own = stats.ttest_1samp(scores.mean(axis=1)[:, 0], 0).confidence_interval()
    assert found.interval("0").low == pytest.approx(own.low)
    moved = scores + rng.normal(0, 99, (30, 1, 1)) + rng.normal(0, 99, (raters, 1))
    again = estimate_systems(moved.ravel(), s, r, i, population=THESE)
    assert again.variance[0, 1] == pytest.approx(found.variance[0, 1])


def test_the_degrees_of_freedom_are_those_published_for_two_unequal_groups():
    """Check the Behrens-Fisher design of Imbens and Kolesar (2016): 2.5 for 3 and 27."""
    rng = np.random.default_rng(1)
    values, system = rng.normal(0, 1, 30), np.repeat([0, 1], [3, 27])
    found = estimate_systems(values, system, np.zeros(30), population=THESE)
    assert found.freedom[0, 1] == pytest.approx(900 * 26 * 2 / (9 * 2 + 27**2 * 26))
    parts = [values[:3].var(ddof=1) / 3, values[3:].var(ddof=1) / 27]
    assert found.variance[0, 1] == pytest.approx(sum(parts))


@pytest.mark.parametrize("model", ["additive", "equal weights", "tastes"])
def test_an_unbalanced_design_is_cr2_by_its_definition(model, monkeypatch):
    of = "leaderboard.stats.systems.fixed_raters"
    monkeypatch.setattr(f"{of}._MOST_COST", 99 * (model == "equal weights"))
    monkeypatch.setattr(f"{of}._MOST_CELLS", 999 * (model != "additive"))
    monkeypatch.setattr(f"{of}._LEAST_TASTE", 1)  # as large as the residual
    table = rating_table(*drawn("4, one each, strong levels", 2))
    means, found, freedom = estimate_fixed(table, np.ones(len(table)), 0.3)
    s, y, instance = table.n_systems, table.values, table.instance
    design = np.hstack([np.eye(s)[table.system], np.eye(4)[table.worker]])
    target = np.vstack([np.eye(s), np.full((4, s), 1 / 4)])
    cell = np.eye(4 * s)[table.worker * s + table.system]
    of_cells = np.tile(np.eye(s), (4, 1)) / 4
    if model == "equal weights":
        design, target = cell, of_cells
    if model == "tastes":
        none = np.zeros((4 * s, s + 4))
        design = np.block([[design, cell], [none, np.eye(4 * s)]])
        target = np.vstack([target, of_cells])
        instance = np.r_[instance, table.n_instances + np.arange(4 * s)]
        y = np.r_[y - y.mean(), np.zeros(4 * s)]
    n = len(y)
    same = (instance[:, None] == instance) & (instance < table.n_instances)
    values, vectors = np.linalg.eigh(np.eye(n) + 0.3 * same)
    whiten = vectors / np.sqrt(values) @ vectors.T
    x, y = whiten @ design, whiten @ y
    inverse = np.linalg.pinv(x.T @ x, 1e-9)
    rest = np.eye(n) - x @ inverse @ x.T
    functions = []
    for one in np.unique(instance):
        rows = instance == one
        values, vectors = np.linalg.eigh(rest[np.ix_(rows, rows)])
        root = vectors / np.sqrt(values) @ vectors.T
        functions.append((root @ x[rows] @ inverse @ target).T @ rest[rows])
    scores = np.array([function @ y for function in functions])
    np.testing.assert_allclose(found, scores.T @ scores, rtol=1e-6)
    shift = table.values.mean() * (model == "tastes")
    np.testing.assert_allclose(means, target.T @ inverse @ x.T @ y + shift)
    of_pair = np.array([function[0] - function[1] for function in functions])
    gram = of_pair @ of_pair.T
    known = np.trace(gram) ** 2 / (gram**2).sum()
    assert freedom[0, 1] == pytest.approx(known)


def test_what_ratings_cannot_determine_is_unknown():
    values, system, worker, instance = drawn("equal", 1)
    apart = np.where(system > 1, worker + 10, worker)
    found = estimate_systems(values, system, apart, instance, population=THESE)
    assert found.difference("0", "2").p_value == 1
    assert np.isfinite(found.difference("2", "3").high)
    one = estimate_systems(
        [5, 4, 3, 1], list("abab"), list("xxyy"), [1] * 4, population=THESE
    )
    assert one.interval("a").ends is None
    two = estimate_systems([5, 4], list("ab"), list("xy"), population=THESE)
    assert two.difference("a", "b").p_value == 1
    equal = estimate_systems(
        [5] * 8, list("ab") * 4, list("xxyy") * 2, [1] * 4 + [2] * 4, population=THESE
    )
    assert equal.difference("a", "b").p_value == 1
    assert equal.interval("a").half_width == 0


def test_ratings_without_weight_are_left_out_and_a_fit_is_stored_with_its_population():
    ratings = drawn("5, one each, uneven", 2)
    careless = ratings[2] == 1
    without = estimate_systems(*(one[~careless] for one in ratings), population=THESE)
    found = estimate_systems(
        *ratings, weights=np.where(careless, 0.0, 1.0), population=THESE
    )
    np.testing.assert_allclose(found.means, without.means)
    again = from_json(as_json(found))
    assert again.population is THESE
    np.testing.assert_allclose(again.variance, found.variance, rtol=1e-6)
    assert again.covers == "which instances were drawn, for these raters"
