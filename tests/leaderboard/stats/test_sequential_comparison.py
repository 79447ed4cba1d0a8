import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_research.papers.dynamic.stopped_series import first_crossings, last_runs
from leaderboard.stats.stopping.sequential import (
    LABEL_RULES,
    BetaMixture,
    Comparison,
    Hoeffding,
    NormalMixture,
)

labels = st.lists(st.booleans(), min_size=1, max_size=150)
rules = st.sampled_from(
    [rule(delta=delta) for rule in LABEL_RULES.values() for delta in (0.1, 0.01)]
)


def lopsided(p, n, seed=3):
    return (np.random.default_rng(seed).random(n) < p).astype(int)


@given(labels, rules)
def test_a_decision_depends_on_the_labels_up_to_it_alone(series, rule):
    whole = Comparison(rule).extend(series)
    cut = Comparison(rule).extend(series[: whole.n])
    assert whole == cut


@given(labels, rules)
def test_one_at_a_time_and_all_at_once_agree(series, rule):
    decision = Comparison(rule).extend(series)
    stopped = first_crossings(rule, [series])
    sides = {0: "undecided", 1: "A", -1: "B"}
    assert sides[int(stopped.side[0])] == decision.side
    assert stopped.n[0] == (decision.n if decision.side != "undecided" else 0)


@given(labels, rules)
def test_swapping_the_systems_swaps_the_side_and_nothing_else(series, rule):
    one = Comparison(rule).extend(series)
    other = Comparison(rule).extend(1 - label for label in series)
    swapped = {"A": "B", "B": "A", "undecided": "undecided"}
    assert (other.side, other.n) == (swapped[one.side], one.n)


def naive_last_run(rule, series):
    # the definition in words: walk on, and begin again whenever the run breaks
    start, side, total = None, 0, 0
    for n, label in enumerate(series, 1):
        total += int(label)
        now = 1 if rule.favours_a(n, total) else -1 if rule.favours_b(n, total) else 0
        if now != side:
            start, side = (n, now) if now else (None, 0)
    return (start, side) if side else (0, 0)


@given(labels, rules)
def test_the_last_run_begins_after_the_last_label_inside_the_boundary(series, rule):
    stopped = last_runs(rule, [series])
    assert (stopped.n[0], stopped.side[0]) == naive_last_run(rule, series)


def test_a_clear_preference_is_found_and_its_interval_excludes_one_half():
    decision = Comparison(NormalMixture(0.001)).extend(lopsided(0.7, 1000))
    assert decision.side == "A"
    assert 0.5 < decision.low < decision.estimate < decision.high <= 1


def test_ties_count_half_and_never_decide_by_themselves():
    comparison = Comparison(BetaMixture(0.001))
    decision = comparison.extend([0.5] * 3000)
    assert (decision.side, decision.estimate, decision.n) == ("undecided", 0.5, 3000)
    with_ties = Comparison(Hoeffding(0.01)).extend([1, 0.5] * 40)
    assert with_ties.side == "A"
    assert with_ties.n > Comparison(Hoeffding(0.01)).extend([1] * 40).n


def test_without_labels_nothing_is_known():
    decision = Comparison(BetaMixture(0.001)).decision
    assert (decision.side, decision.n, decision.low, decision.high) == (
        "undecided",
        0,
        0.0,
        1.0,
    )
    assert math.isnan(decision.estimate)


def test_long_series_do_not_overflow():
    series = np.ones((1, 70_000), dtype=bool)
    series[0, :35_000] = False
    stopped = last_runs(Hoeffding(0.01), series)
    assert stopped.side.tolist() == [0]
    assert first_crossings(Hoeffding(0.01), ~series).n.tolist() == [10]


@pytest.mark.slow
def test_the_confidence_sequence_covers_at_all_times_together():
    rng = np.random.default_rng(5)
    n = np.arange(1, 401)
    for rule in (BetaMixture(0.05), NormalMixture(0.05)):
        for p in (0.5, 0.7, 0.97):
            totals = np.cumsum(rng.random((250, 400)) < p, axis=1)
            low, high = rule.interval(n, totals)
            missed = ((low > p) | (high < p)).any(axis=1).mean()
            assert missed <= 0.1 + 3 * math.sqrt(0.1 * 0.9 / 250)
