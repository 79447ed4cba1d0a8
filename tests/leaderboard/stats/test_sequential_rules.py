import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from leaderboard.stats.stopping.sequential import (
    LABEL_RULES,
    BetaMixture,
    Hoeffding,
    NormalMixture,
    Stitched,
    UnionBound,
    rule_named,
)

ALL = [
    rule(delta=delta) for rule in LABEL_RULES.values() for delta in (0.05, 0.01, 0.001)
]
counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


@pytest.mark.parametrize("rule", ALL, ids=repr)
def test_a_side_is_preferred_exactly_when_the_interval_leaves_one_half(rule):
    for n in (1, 2, 7, 30, 120, 333):
        totals = np.arange(n + 1)
        low, high = rule.interval(n, totals)
        assert (rule.favours_a(n, totals) == (low > 0.5)).all()
        assert (rule.favours_b(n, totals) == (high < 0.5)).all()


@pytest.mark.parametrize("rule", ALL, ids=repr)
def test_boundaries_are_the_smallest_lead_that_decides(rule):
    below, above = rule.boundaries(150)
    for n in range(1, 151):
        totals = np.arange(n + 1)
        for_a = np.flatnonzero(rule.favours_a(n, totals))
        for_b = np.flatnonzero(rule.favours_b(n, totals))
        assert above[n - 1] == (for_a[0] if len(for_a) else n + 1)
        assert below[n - 1] == (for_b[-1] if len(for_b) else -1)


@given(counts, st.sampled_from(ALL))
def test_swapping_the_systems_swaps_the_decision_and_mirrors_the_interval(count, rule):
    n, total = count
    assert rule.favours_a(n, total) == rule.favours_b(n, n - total)
    low, high = rule.interval(n, total)
    other_low, other_high = rule.interval(n, n - total)
    assert low == pytest.approx(1 - other_high, abs=1e-12)
    assert high == pytest.approx(1 - other_low, abs=1e-12)


@given(counts, st.sampled_from(ALL))
def test_the_interval_holds_the_mean_label_and_stays_a_probability(count, rule):
    n, total = count
    low, high = rule.interval(n, total)
    assert 0 <= low <= total / n <= high <= 1


@pytest.mark.parametrize("name", LABEL_RULES)
def test_a_smaller_delta_never_decides_earlier(name):
    wide = rule_named(name, 0.001).boundaries(300)[1]
    narrow = rule_named(name, 0.01).boundaries(300)[1]
    assert (wide >= narrow).all()
    assert (wide > narrow).any()


@pytest.mark.parametrize("n", [1, 13, 200])
def test_the_margins_are_the_formulas_of_the_papers(n):
    d = 0.003
    t = math.sqrt(-math.log(d) / (2 * n))
    assert Hoeffding(d).margin(n) == pytest.approx(n * t)
    shared = 6 * d / (math.pi * n) ** 2
    assert UnionBound(d).margin(n) == pytest.approx(
        n * math.sqrt(-math.log(shared) / (2 * n))
    )
    v = max(n / 4, 1)
    lil = 1.7 * math.sqrt(v * (math.log(math.log(2 * v)) + 0.72 * math.log(5.2 / d)))
    assert Stitched(d).margin(n) == pytest.approx(lil)


def test_the_normal_mixture_is_the_mixture_of_exponential_bets():
    # wealth = E over lambda ~ N(0, 1/rho) of exp(lambda S - lambda^2 v / 2)
    rho, delta, n = 25.0, 0.01, 180
    v, s = n / 4, float(NormalMixture(delta, rho=rho).margin(n))
    wealth, _ = integrate.quad(
        lambda x: stats.norm.pdf(x, scale=rho**-0.5) * np.exp(x * s - x * x * v / 2),
        -2,
        4,
    )
    assert wealth == pytest.approx(1 / (2 * delta), rel=1e-6)


def test_the_interval_takes_many_counts_at_once():
    rule = BetaMixture(0.01)
    n, total = np.array([5, 50, 500]), np.array([0, 31, 260])
    low, high = rule.interval(n, total)
    for i in range(3):
        one = rule.interval(int(n[i]), int(total[i]))
        assert (low[i], high[i]) == one


def test_one_label_is_never_enough():
    for rule in ALL:
        assert not rule.favours_a(1, 1)
        assert not rule.favours_b(1, 0)


@pytest.mark.parametrize("delta", [0, 0.5, -1, 2, math.nan])
def test_a_delta_that_is_no_small_probability_is_refused(delta):
    with pytest.raises(ValueError, match="delta must lie between 0 and 1/2"):
        Hoeffding(delta=delta)
