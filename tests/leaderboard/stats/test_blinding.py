"""What ratings should not depend on: measured, and nothing found where nothing is."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from leaderboard.stats.blinding.effects import balanced_share, effect, side_effect
from leaderboard.stats.blinding.levels import codes_of, without_levels
from leaderboard.stats.blinding.style import FEATURES, style_of, style_share
from tests.shared import SHARED, needs_shared


def rows_of(name):
    text = (SHARED / "data" / name).read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def session(rng, *, order=0.0, slope_sd=6.0, n_workers=30, n=400):
    """Draw ratings of four systems on 100 inputs; workers drift, each in their own way."""
    pace = rng.gamma(1.5, size=n_workers)
    worker = rng.choice(n_workers, n, p=pace / pace.sum())
    hit = rng.permutation(n)
    system, instance = hit % 4, hit // 4
    before = np.array([(worker[:k] == worker[k]).sum() for k in range(n)])
    late = before / np.maximum(np.bincount(worker)[worker] - 1, 1)
    level, drift = rng.normal(0, 10, n_workers), rng.normal(order, slope_sd, n_workers)
    values = 60 + 3 * system + rng.normal(0, 8, 100)[instance] + level[worker]
    values = values + drift[worker] * late + rng.normal(0, 15, n)
    return values, late, worker, [system, instance]


def test_the_interval_of_an_effect_covers_it_in_19_of_20_cases():
    rng = np.random.default_rng(41)
    found = [effect(*session(rng, order=-5.0)) for _ in range(400)]
    assert 0.93 <= np.mean([one.low <= -5 <= one.high for one in found]) <= 0.98


def test_without_an_effect_p_values_are_even():
    rng = np.random.default_rng(5)
    p = np.array([effect(*session(rng)).p_value for _ in range(300)])
    assert np.mean(p <= 0.05) <= 0.08
    assert 0.4 <= np.mean(p <= 0.5) <= 0.6


def test_the_slope_is_that_of_least_squares_with_all_levels():
    sm = pytest.importorskip("statsmodels.api")
    values, late, worker, (system, instance) = session(np.random.default_rng(1))
    columns = [
        (labels[:, None] == np.unique(labels)[None, 1:]).astype(float)
        for labels in (worker, system, instance)
    ]
    design = np.column_stack([late, np.ones(len(late)), *columns])
    fit = sm.OLS(values, design).fit()
    found = effect(values, late, worker, [system, instance])
    assert found.estimate == pytest.approx(fit.params[0], abs=1e-6)
    clustered = fit.get_robustcov_results("cluster", groups=worker)
    width = (found.high - found.low) / 2
    assert width == pytest.approx(2.1 * clustered.bse[0], rel=0.35)


def test_standing_first_is_found_whichever_system_is_better():
    rng = np.random.default_rng(2)
    worker, first = np.arange(2_000) % 40, rng.random(2_000) < 0.5
    p_first = np.where(first, 0.7, 0.4) + 0.1
    found = side_effect(
        rng.random(2_000) < p_first, first, worker, np.arange(2_000) % 2
    )
    # A is preferred by .8 standing first and by 1 - .5 standing second
    assert found.low < 0.3 < found.high
    assert found.low > 0.2


def test_sides_without_effect_find_nothing_where_workers_have_a_taste():
    rng = np.random.default_rng(3)
    p = []
    for _ in range(300):
        worker, first = rng.integers(0, 25, 500), rng.random(500) < 0.5
        of_a = rng.random(500) < np.clip(rng.normal(0.6, 0.2, 25), 0, 1)[worker]
        chosen = np.where(first, of_a, ~of_a)
        p.append(side_effect(chosen, first, worker).p_value)
    assert 0.02 <= np.mean(np.array(p) <= 0.05) <= 0.08


@needs_shared
def test_sides_of_the_dynamic_evaluation_add_little():
    rows = rows_of("dynamic/r1.csv")
    first = [row["shown_a"] == "CGA" for row in rows]
    chosen = [row["side"] == "A" for row in rows]
    found = side_effect(chosen, first, [row["worker"] for row in rows])
    assert found.n_ratings == 5_000
    assert found.estimate == pytest.approx(-0.0186, abs=1e-4)
    assert found.low < 0 < found.high


@needs_shared
def test_a_place_further_down_the_page_is_rated_higher_in_rankme():
    rows = rows_of("rankme/setup1_rankme.csv")
    values = np.log([max(float(row["informativeness"]), 1.0) for row in rows])
    place = [float(row["position"]) for row in rows]
    labels = [[row[name] for row in rows] for name in ("worker", "system", "mr_id")]
    found = effect(values, place, labels[0], labels[1:])
    assert found.n_workers == 16
    assert found.estimate == pytest.approx(0.0234, abs=1e-3)
    assert found.low > 0


def test_balanced_sides_do_not_depend_on_the_draw():
    assert balanced_share([1, 1, 1, 0], [True, True, True, False]) == 0.5
    assert balanced_share([1, 0.5], [True, False]) == 0.75
    assert balanced_share([1, 0], [True, True]) is None


def test_style_beyond_system_and_instance_is_found_and_nothing_else_is():
    rng = np.random.default_rng(6)
    place = np.arange(400)
    texts = [" ".join(["Word"] * int(k)) for k in rng.integers(2, 40, 400)]
    about = (place % 20, place % 4, place // 4)
    length = np.array([len(text) for text in texts])
    by_length = style_share(0.3 * length + rng.normal(0, 10, 400), texts, *about)
    assert by_length.low > 0.5
    shares = [style_share(rng.normal(60, 15, 400), texts, *about) for _ in range(30)]
    assert np.mean([one.low > 0 for one in shares]) <= 0.1
    # a system that is better and longer is no house style at work
    systems = [" ".join(["Word"] * (5 + 9 * (i % 4))) + str(i) for i in place]
    better = style_share(60 + 10 * (place % 4) + rng.normal(0, 5, 400), systems, *about)
    assert better.low < 0.05


def test_the_surface_of_a_text_is_read():
    assert len(style_of("")) == len(FEATURES)
    plain, marked = style_of("one two three"), style_of("- One\n- **Two** “three”.")
    assert marked[5] > plain[5] == 0
    assert marked[3] > plain[3] == 0
    assert (plain[6], marked[6]) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("values", "cause", "workers"),
    [
        ([1.0, 2.0, 3.0], [1, 1, 1], ["a", "b", "c"]),  # no variation
        ([1.0, 2.0, 3.0], [1, 2, 3], ["a", "a", "a"]),  # one worker
        ([1.0], [1.0], ["a"]),
    ],
)
def test_where_nothing_can_be_told_nothing_is_said(values, cause, workers):
    assert effect(values, cause, workers) is None
    assert side_effect([1.0, 0.0], [True, True], ["a", "b"]) is None
    assert style_share(values, ["x"] * len(values), workers, workers, workers) is None


def test_columns_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="causes"):
        effect([1.0, 2.0], [1.0], ["a", "b"])
    with pytest.raises(ValueError, match="labels"):
        effect([1.0, 2.0], [1.0, 2.0], ["a"])
    with pytest.raises(ValueError, match="texts"):
        style_share([1.0, 2.0], ["x"], ["a", "b"], [0, 0], [0, 1])


def test_levels_of_two_kinds_are_taken_out():
    rng = np.random.default_rng(1)
    a, b = (
        codes_of(rng.integers(0, 9, 200), 200),
        codes_of(rng.integers(0, 7, 200), 200),
    )
    rest = without_levels(3.0 * a - b, [a, b])
    assert np.abs(rest).max() < 1e-8
