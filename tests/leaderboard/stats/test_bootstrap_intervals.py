import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from leaderboard.stats.intervals import (
    bootstrap_mean,
    lattice_step,
    mean_distribution,
    resample_means,
)

rng = np.random.default_rng(20)
LIKERT = rng.choice([0, 0.25, 0.5, 0.75, 1], p=[0.1, 0.1, 0.2, 0.3, 0.3], size=800)
SLIDER = rng.integers(0, 101, size=300).astype(float)
SKEWED = rng.exponential(size=200)


@pytest.mark.parametrize("values", [LIKERT, SLIDER, SKEWED], ids=["5", "101", "real"])
def test_the_interval_is_scipys_within_monte_carlo_error(values):
    theirs = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=40_000,
        batch=2_000,
        method="percentile",
        rng=np.random.default_rng(3),
    ).confidence_interval
    ours = bootstrap_mean(values, seed=3, n_resamples=40_000)
    # the sd of a 2.5% quantile of 40,000 resamples is .0134 standard errors
    margin = 5 * 0.0134 * np.sqrt(2) * stats.sem(values)
    assert ours.low == pytest.approx(theirs.low, abs=margin)
    assert ours.high == pytest.approx(theirs.high, abs=margin)


def test_the_bootstrap_distribution_of_few_ratings_is_the_enumerated_one():
    values = np.array([1.0, 2.0, 2.0, 5.0])
    means = [np.mean(draw) for draw in itertools.product(values, repeat=4)]
    support, counts = np.unique(means, return_counts=True)
    ours = mean_distribution(values)
    occupied = ours.mass > 0
    assert ours.support[occupied] == pytest.approx(support)
    assert ours.mass[occupied] == pytest.approx(counts / 4**4, abs=1e-14)


def test_ratings_off_any_lattice_keep_mean_and_spread_of_their_bootstrap():
    ours = mean_distribution(SKEWED)
    mean = ours.mass @ ours.support
    sd = np.sqrt(ours.mass @ (ours.support - mean) ** 2)
    assert mean == pytest.approx(SKEWED.mean(), rel=1e-9)
    assert sd == pytest.approx(SKEWED.std() / np.sqrt(200), rel=2e-5)


def test_one_outlier_among_thousands_does_not_leave_the_window():
    values = np.zeros(5_000)
    values[0] = 1.0
    ours = mean_distribution(values)
    counts = np.rint(ours.support * 5_000).astype(int)
    exact = stats.binom.pmf(counts, 5_000, 1 / 5_000)
    assert ours.mass == pytest.approx(exact, abs=1e-13)


def test_small_samples_off_a_lattice_draw_every_value():
    values = np.array([0.0, 1.0, np.sqrt(2), np.pi])
    means = resample_means(values, 2_000, np.random.default_rng(1))
    possible = np.unique([np.mean(d) for d in itertools.product(values, repeat=4)])
    assert np.abs(means[:, None] - possible).min(axis=1).max() < 1e-12
    assert means.mean() == pytest.approx(values.mean(), abs=0.06)


@pytest.mark.parametrize("values", [LIKERT, SLIDER, SKEWED], ids=["5", "101", "real"])
def test_same_seed_same_bytes_whatever_the_order(values):
    shuffled = np.random.default_rng(9).permutation(values)
    first = bootstrap_mean(values, seed=7)
    assert bootstrap_mean(shuffled, seed=7) == first
    assert bootstrap_mean(values, seed=8) != first


@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=40).filter(
        lambda v: len(set(v)) > 1
    ),
    st.sampled_from([0.25, 3.0, 100.0]),
    st.sampled_from([-2.0, 0.0, 1.0]),
)
@settings(max_examples=20, deadline=None)
def test_a_change_of_unit_changes_the_interval_the_same_way(values, scale, shift):
    plain = bootstrap_mean(values, seed=1)
    moved = bootstrap_mean(np.array(values) * scale + shift, seed=1)
    assert moved.low == pytest.approx(plain.low * scale + shift, abs=1e-9)
    assert moved.high == pytest.approx(plain.high * scale + shift, abs=1e-9)
    assert plain.low <= plain.estimate <= plain.high


@pytest.mark.slow
def test_nominal_95_percent_intervals_cover_95_percent():
    draw = np.random.default_rng(4)
    weights = np.array([0.05, 0.1, 0.2, 0.3, 0.35])
    levels = np.array([0, 0.25, 0.5, 0.75, 1])
    covered = [
        bootstrap_mean(
            draw.choice(levels, p=weights, size=200),
            seed=i,
            n_resamples=1_000,
        ).contains(weights @ levels)
        for i in range(1_000)
    ]
    assert 0.93 <= np.mean(covered) <= 0.97


def test_nothing_to_average_is_refused_in_words():
    with pytest.raises(ValueError, match="no ratings"):
        bootstrap_mean([], seed=1)
    with pytest.raises(ValueError, match="number 2 is nan"):
        bootstrap_mean([1, np.nan], seed=1)
    with pytest.raises(ValueError, match="number 1 is inf"):
        bootstrap_mean([np.inf, 1], seed=1)


def test_impossible_settings_are_refused_in_words():
    with pytest.raises(ValueError, match="do not fit the scale"):
        bootstrap_mean([1, 2], seed=1, bounds=(0, 1))
    with pytest.raises(ValueError, match="from low to high"):
        bootstrap_mean([1, 1], seed=1, bounds=(1, 1))


def test_one_rating_does_not_pretend_to_be_certain():
    alone = bootstrap_mean([0.75], seed=1)
    assert (alone.low, alone.high) == (-np.inf, np.inf)
    bounded = bootstrap_mean([0.75], seed=1, bounds=(0, 1))
    assert bounded.low == pytest.approx(0.75 * 0.025)
    assert bounded.high == pytest.approx(0.75 + 0.25 * 0.975)


def test_equal_ratings_on_a_scale_get_the_exact_binomial_end():
    perfect = bootstrap_mean([1.0] * 50, seed=1, bounds=(0, 1))
    exact = stats.binomtest(50, 50).proportion_ci(method="exact")
    assert (perfect.low, perfect.high) == pytest.approx((exact.low, 1.0))
    unbounded = bootstrap_mean([1.0] * 50, seed=1)
    assert unbounded.half_width == 0
    assert "no variation" in unbounded.method


def test_the_interval_says_what_it_covers():
    covers = bootstrap_mean([0, 1], seed=1).covers
    assert "instances" in covers
    assert "this crowd of workers; another crowd may differ by more" in covers


def test_the_lattice_is_found_through_rounding_errors():
    assert lattice_step(np.array([0.1, 0.2, 0.3, 0.7])) == pytest.approx(0.1)
    assert lattice_step(np.array([1 / 3, 2 / 3, 1.0])) == pytest.approx(1 / 3)
    assert lattice_step(np.array([2.0, 5.0, 9.0])) == pytest.approx(1)
    assert lattice_step(np.array([0.1, 0.3 - 0.1, 0.2, 0.4])) == pytest.approx(0.1)
    assert lattice_step(np.array([0.0, np.pi, 4.0])) is None
    assert lattice_step(np.array([0.0, 1.0, 1e5])) is None
