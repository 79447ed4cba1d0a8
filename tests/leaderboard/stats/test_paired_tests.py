import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from leaderboard.stats.paired import (
    approximate_randomisation,
    paired_bootstrap,
    wilcoxon,
)

rng = np.random.default_rng(11)
A = rng.integers(0, 5, 300) / 4
B = np.clip(A + rng.integers(-2, 2, 300) / 4, 0, 1)
TESTS = [
    lambda a, b: paired_bootstrap(a, b, seed=1),
    lambda a, b: approximate_randomisation(a, b, seed=1, n_shuffles=2_500),
    wilcoxon,
]
every_test = pytest.mark.parametrize(
    "test", TESTS, ids=["bootstrap", "shuffles", "wilcoxon"]
)
few_pairs = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8
)


def test_random_swaps_approach_all_swaps():
    gap = A[:12] - B[:12]
    sums = [np.dot(signs, gap) for signs in itertools.product((1, -1), repeat=12)]
    exact = np.mean(np.abs(sums) >= abs(gap.sum()) - 1e-12)
    some = approximate_randomisation(A[:12], B[:12], seed=1, n_shuffles=40_000).p_value
    assert some == pytest.approx(exact, abs=5 * np.sqrt(exact / 40_000))


def test_random_swaps_of_ratings_off_a_lattice_are_scipys():
    a, b = rng.normal(0.2, 1, 40), rng.normal(0, 1, 40)
    ours = approximate_randomisation(a, b, seed=1, n_shuffles=20_000)
    theirs = stats.permutation_test(
        (a, b),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        n_resamples=20_000,
        vectorized=True,
        rng=np.random.default_rng(1),
    )
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=0.02)


@pytest.mark.parametrize("n", [5, 12, 40])
def test_wilcoxon_without_ties_is_scipys_exact_test(n):
    draw = np.random.default_rng(n)
    a, b = draw.normal(0.5, 1, n), draw.normal(0, 1, n)
    expected = stats.wilcoxon(a, b, method="exact").pvalue
    assert wilcoxon(a, b).p_value == pytest.approx(expected, abs=1e-12)


def test_wilcoxon_with_ties_is_near_scipys_approximation_and_equal_to_it_when_large():
    c = np.roll(A, 1)
    small = stats.wilcoxon(A, c, zero_method="pratt", method="approx").pvalue
    assert wilcoxon(A, c).p_value == pytest.approx(small, abs=0.005)
    a, b = np.tile(A, 4), np.tile(np.roll(A, 1), 4)
    large = stats.wilcoxon(a, b, zero_method="pratt", method="approx").pvalue
    assert wilcoxon(a, b).p_value == pytest.approx(large, rel=1e-9)


@given(few_pairs)
@settings(deadline=None)
def test_wilcoxon_with_ties_is_the_enumerated_signed_rank_test(pairs):
    gap = np.array([a - b for a, b in pairs])
    ranks = stats.rankdata(np.abs(gap))[gap != 0]
    signs = np.sign(gap[gap != 0])
    sums = [np.dot(s, ranks) for s in itertools.product((1, -1), repeat=len(ranks))]
    expected = np.mean(np.abs(sums) >= abs(signs @ ranks) - 1e-9)
    found = wilcoxon(*zip(*pairs, strict=True))
    assert found.p_value == pytest.approx(expected, abs=1e-12)


def test_the_paired_bootstrap_agrees_with_a_plain_loop():
    draw = np.random.default_rng(0)
    gaps = np.array([draw.choice(A - B, 300).mean() for _ in range(20_000)])
    found = paired_bootstrap(A, B, seed=1, n_resamples=20_000)
    assert found.p_above == pytest.approx(
        (np.mean(gaps > 1e-12) + np.mean(gaps >= -1e-12)) / 2, abs=0.01
    )


@every_test
def test_swapping_the_systems_turns_the_sign_and_nothing_else(test):
    forth, back = test(A[:50], B[:50]), test(B[:50], A[:50])
    assert forth.difference == pytest.approx(-back.difference)
    assert forth.p_value == pytest.approx(back.p_value, abs=0.01)


@every_test
def test_the_order_of_the_instances_changes_nothing(test):
    order = np.random.default_rng(3).permutation(300)
    assert test(A[order], B[order]) == test(A, B)


@every_test
def test_identical_systems_are_not_told_apart(test):
    found = test(A, A)
    assert (found.difference, found.p_value) == (0.0, 1.0)


@every_test
def test_a_gain_on_every_instance_is_as_rare_as_equal_signs(test):
    assert test([1.0], [0.0]).p_value == 1.0
    assert test([1.0] * 6, [0.0] * 6).p_value == pytest.approx(2 / 64, abs=0.006)


@every_test
def test_broken_pairs_are_refused_in_words(test):
    with pytest.raises(ValueError, match="no ratings of the first system"):
        test([], [])
    with pytest.raises(ValueError, match="second system must be finite"):
        test([1, 2], [1, np.nan])


@pytest.mark.slow
@every_test
def test_false_alarms_are_as_rare_as_promised(test):
    draw = np.random.default_rng(6)
    n_sets = 250
    pairs = draw.integers(0, 5, (n_sets, 2, 80))
    alarms = np.mean([test(a, b).p_value <= 0.05 for a, b in pairs])
    assert 0.022 <= alarms <= 0.081


@every_test
def test_rounding_does_not_break_ties(test):
    a = np.array([0.3, 0.1, 0.7, 0.2, 0.9, 0.4] * 5)
    b = a + np.array([0.1, -0.1, 0.1, 0.1, -0.1, 0.1] * 5)
    whole = np.rint(10 * a), np.rint(10 * b)
    assert test(a, b).p_value == pytest.approx(test(*whole).p_value, abs=1e-12)


def test_same_seed_same_answer_other_seed_nearly():
    a, b = A[:20], B[:20]
    assert paired_bootstrap(a, b, seed=5) == paired_bootstrap(a, b, seed=5)
    assert paired_bootstrap(a, b, seed=5) != paired_bootstrap(a, b, seed=6)
    one, two = (approximate_randomisation(A[:40], B[:40], seed=s) for s in (1, 2))
    assert one.p_value == pytest.approx(two.p_value, abs=0.03)
