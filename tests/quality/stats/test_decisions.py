"""Bans as decisions: expected cost of the two errors, and wrong bans in the pool."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from quality.detection.stats.decisions import (
    control_false_discoveries,
    cost_threshold,
    expectation,
    threshold_table,
)
from quality.detection.stats.fitted_detector import flag

POOL = np.array([0.999, 0.99, 0.95, 0.7, 0.3, 0.02, 0.001])


@pytest.mark.parametrize("costs", [(1.0, 1.0), (99.0, 1.0), (1.0, 8.0), (3.0, 2.0)])
def test_the_cost_threshold_beats_every_other_set_of_bans(costs):
    wrong, missed = costs

    def cost(banned):
        return expectation(POOL, banned, cost_wrong_ban=wrong, cost_missed=missed).cost

    ours = cost(flag(POOL, cost_threshold(wrong, missed)))
    every = (cost(list(set_)) for set_ in itertools.product([False, True], repeat=7))
    assert ours == pytest.approx(min(every), abs=1e-12)


def test_expected_errors_add_up():
    told = expectation(POOL, POOL > 0.9, cost_wrong_ban=10, cost_missed=2)
    assert told.n_banned == 3
    assert told.expected_wrong_bans == pytest.approx(0.061)
    assert told.expected_missed == pytest.approx(1.021)
    assert told.false_discovery_rate == pytest.approx(0.061 / 3)
    assert told.cost == pytest.approx(0.61 + 2.042)


def test_banning_nobody_discovers_nothing_falsely():
    told = expectation(POOL, np.zeros(7, dtype=bool))
    assert (told.n_banned, told.false_discovery_rate) == (0, 0.0)
    assert expectation([], []).cost == 0


def test_false_discoveries_stay_within_the_level_and_one_more_ban_would_not():
    rng = np.random.default_rng(0)
    for level in (0.001, 0.01, 0.05, 0.2):
        p = rng.beta(0.3, 0.3, 200)
        banned = control_false_discoveries(p, level)
        assert expectation(p, banned).false_discovery_rate <= level + 1e-9
        rest = p[~banned]
        if rest.size and rest.max() > 0.5:
            more = banned | (p == rest.max())
            assert expectation(p, more).false_discovery_rate > level


def test_the_promise_holds_when_the_posteriors_are_true():
    rng = np.random.default_rng(1)
    p = rng.beta(0.2, 0.4, 100_000)
    noisy = rng.random(p.size) < p
    banned = control_false_discoveries(p, 0.05)
    assert banned.sum() > 1_000
    assert (~noisy[banned]).mean() == pytest.approx(0.05, abs=0.005)


def test_equal_posteriors_share_their_fate():
    banned = control_false_discoveries([1.0, 0.9, 0.9, 0.9], 0.06)
    assert banned.tolist() == [True, False, False, False]


def test_nobody_is_banned_below_the_least_posterior():
    sure = [1.0] * 50 + [0.55]
    assert control_false_discoveries(sure, 0.05)[-1]
    assert not control_false_discoveries(sure, 0.05, least=0.9)[-1]


def test_an_empty_pool_has_nobody_to_ban():
    assert control_false_discoveries([]).tolist() == []


def test_higher_thresholds_ban_fewer_and_miss_more():
    rows = threshold_table(POOL)
    assert [row.n_banned for row in rows] == [4, 3, 3, 2, 1, 0]
    assert np.diff([row.expected_missed for row in rows]).min() >= 0
    assert np.diff([row.expected_wrong_bans for row in rows]).max() <= 0


@pytest.mark.parametrize("costs", [(0, 1), (1, 0), (-1, 1), (1, float("nan"))])
def test_costs_that_are_not_positive_are_refused(costs):
    with pytest.raises(ValueError, match="positive"):
        cost_threshold(*costs)


@pytest.mark.parametrize("p", [[1.2], [-0.1], [float("nan")], [[0.5]]])
def test_posteriors_that_are_no_probabilities_are_refused(p):
    for refuse in (control_false_discoveries, threshold_table):
        with pytest.raises(ValueError, match="probabilities"):
            refuse(p)


def test_levels_out_of_range_and_lengths_that_differ_are_refused():
    with pytest.raises(ValueError, match="level"):
        control_false_discoveries([0.5], 1.0)
    with pytest.raises(ValueError, match="2 posteriors but 1"):
        expectation([0.5, 0.5], [True])
