from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.power import TTestPower

from benchmarks import bench_outlook
from genie.lib.errors import GenieError
from leaderboard.stats import planning
from leaderboard.stats.mixed import (
    Components,
    mean_variance,
    pilot_components,
    worst_case_components,
)
from leaderboard.stats.planning import plan_half_width
from leaderboard.stats.power import (
    largest_sd_of_difference,
    paired_power,
    plan_power,
)

tenth = partial(plan_half_width, 0.1, Components(1))
variances = st.floats(0.001, 1)


@given(st.floats(0.005, 0.2), variances, variances, st.integers(1, 5))
@settings(deadline=None)
def test_the_plan_is_the_smallest_that_is_enough(half_width, residual, instance, m):
    components = Components(residual, instance=instance)
    plan = plan_half_width(half_width, components, ratings_per_instance=m)
    assert plan.half_width <= half_width * (1 + 1e-9)
    if plan.n_instances > 1:
        less = 1.959964 * mean_variance(components, plan.n_instances - 1, m) ** 0.5
        assert less > half_width * (1 - 1e-6)


def test_in_the_worst_case_800_ratings_give_three_and_a_half_points():
    plan = plan_half_width(0.03465, worst_case_components())
    assert plan.n_instances == 800


def test_a_known_mean_needs_fewer_ratings_than_the_worst_case():
    high = plan_half_width(0.02, worst_case_components(0.9))
    assert high.n_instances < plan_half_width(0.02, worst_case_components()).n_instances
    wide = plan_half_width(2.0, worst_case_components(90, low=0, high=100))
    assert wide.n_instances == high.n_instances


def test_with_so_many_ratings_each_more_workers_are_planned():
    components = Components(0.05, instance=0.02, worker=0.01)
    plan = plan_half_width(0.03, components, ratings_per_worker=25)
    assert plan.n_workers == -(-plan.n_ratings // 25)
    ignored = plan_half_width(0.03, components)
    assert plan.n_ratings > ignored.n_ratings


def test_with_too_few_instances_each_is_rated_more_often():
    components = Components(0.06, instance=0.02)
    free = plan_half_width(0.03, components)
    short = plan_half_width(0.03, components, max_instances=200)
    assert free.n_instances > 200 >= short.n_instances
    assert short.ratings_per_instance > 1
    assert short.half_width <= 0.03
    one_less = short.ratings_per_instance - 1
    assert 1.959964 * mean_variance(components, 200, one_less) ** 0.5 > 0.03
    with pytest.raises(GenieError, match="More than 50") as refused:
        plan_half_width(0.03, components, max_instances=50)
    assert refused.value.code == "out-of-reach"


def test_no_number_of_instances_makes_up_for_too_few_days():
    with pytest.raises(GenieError, match=r"2 days \(at least 11\)") as refused:
        plan_half_width(0.02, Components(0.05, day=0.001), n_days=2)
    assert refused.value.code == "out-of-reach"
    enough = plan_half_width(0.02, Components(0.05, day=0.001), n_days=11)
    assert enough.half_width <= 0.02


def test_pilot_components_come_back_from_simulated_ratings():
    rng = np.random.default_rng(1)
    instance, worker = (a.ravel() for a in np.indices((300, 30)))
    day = worker % 6
    ratings = (
        rng.normal(0, 0.3, 300)[instance]
        + rng.normal(0, 0.2, 30)[worker]
        + rng.normal(0, 0.5, len(instance))
    )
    found = pilot_components(ratings, instances=instance, workers=worker, days=day)
    assert found.instance == pytest.approx(0.09, rel=0.2)
    assert found.worker + found.day == pytest.approx(0.04, rel=0.5)
    assert found.residual == pytest.approx(0.25, rel=0.05)


def test_a_pilot_with_one_rating_each_says_what_it_cannot_tell():
    found = pilot_components([0, 1, 1, 0], instances=list("abcd"))
    assert found.instance == 0
    assert found.residual == pytest.approx(1 / 3)
    assert "instance not separable from the residual" in found.basis


def test_the_formula_agrees_with_a_simulation_of_effects():
    components = Components(0.3, instance=0.1, worker=0.05, day=0.01)
    rng = np.random.default_rng(1)
    turn = np.arange(180)  # 60 instances, rated three times by 9 workers on 3 days
    ratings = rng.normal(0, 0.3**0.5, (6_000, 180))
    for variance, n, of in (
        (0.1, 60, turn // 3),
        (0.05, 9, turn % 9),
        (0.01, 3, turn // 60),
    ):
        ratings += rng.normal(0, variance**0.5, (6_000, n))[:, of]
    means = ratings.mean(axis=1)
    expected = mean_variance(components, 60, 3, 9, 3)
    assert means.var() == pytest.approx(expected, rel=0.08)
    assert means.mean() == pytest.approx(0, abs=0.006)


@pytest.mark.parametrize("n", [2, 10, 34, 200])
@pytest.mark.parametrize("effect", [0.05, 0.3, 1.0])
def test_power_is_that_of_statsmodels(n, effect):
    theirs = TTestPower().power(effect, n, 0.05, alternative="two-sided")
    assert paired_power(n, effect, 1.0) == pytest.approx(theirs, abs=1e-6)
    assert paired_power(n, -effect * 7, 7.0) == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("effect", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.99])
def test_the_planned_number_of_instances_is_that_of_statsmodels(effect, power):
    theirs = TTestPower().solve_power(effect, power=power, alpha=0.05)
    plan = plan_power(effect, 1.0, power=power)
    assert plan.n_instances == max(2, int(np.ceil(np.squeeze(theirs) - 1e-9)))
    assert plan.power >= power


def test_overwhelming_power_is_one_and_not_nan():
    assert paired_power(10_000, 1.0, 0.01) == 1.0
    assert plan_power(1.0, 1e-4).n_instances == 2


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=20))
def test_no_pairs_on_the_scale_differ_more_than_the_bound(pairs):
    gap = np.array([a - b for a, b in pairs])
    assert gap.std() <= largest_sd_of_difference(float(gap.mean())) + 1e-9


def test_independent_ratings_differ_less_than_the_worst_pairs():
    assert largest_sd_of_difference(0.4, independent=True) == pytest.approx(
        np.sqrt(2 * 0.7 * 0.3)
    )
    assert largest_sd_of_difference(0.4) > largest_sd_of_difference(
        0.4, independent=True
    )


def test_what_ten_million_instances_cannot_do_is_refused():
    with pytest.raises(GenieError, match="10,000,000") as refused:
        plan_power(1e-6, 1.0)
    assert refused.value.code == "out-of-reach"


def test_an_outlook_matches_simulated_studies_within_a_third():
    design = bench_outlook.Design(5)
    real = np.array(bench_outlook.outcome(design, 30, seed=2))
    true = Components(24**2, 15**2 + 8**2, 10**2, taste=5**2)
    known = bench_outlook.forecast(design, true, fixed=False, apart=0.2)
    assert np.abs(known / real - 1).max() < 1 / 3
    after = bench_outlook.after_pilots(design, 20, seed=2, n_pages=30, n_people=5)
    assert np.abs(np.median(after, axis=0) / real - 1).max() < 1 / 3


def test_more_raters_narrow_the_interval_of_raters_like_these_only():
    parts = Components(576, 289, 100, taste=25)
    few, many = (planning.outlook(parts, 80, n) for n in (3, 20))
    assert all(after < before / 2 for before, after in zip(few, many, strict=True))
    few, many = (planning.outlook(parts, 80, n, fixed=True) for n in (3, 20))
    assert few == many
    assert few[0] == pytest.approx(1.99 * (865 / 80) ** 0.5, rel=0.01)
    # more pairs are tested at a smaller level
    assert (
        planning.outlook(parts, 80, 3, n_pairs=6)[1] > planning.outlook(parts, 80, 3)[1]
    )
