"""Tests come by doubt and hardly by order, within what was approved, and never stop."""

import numpy as np
from scipy import stats

from quality.detection.stats import schedule
from quality.detection.stats.schedule import (
    Allowance,
    EarlyStop,
    ScheduleOptions,
    affordable,
)
from quality.detection.stats.workers.answers import NO_YES

OPTIONS = ScheduleOptions()
KINDS = dict(enumerate(NO_YES))
QUARTER = Allowance(0.25)


def p_test(n_tests, p_careless, allowance=QUARTER):
    return schedule.test_probability(n_tests, p_careless, allowance, options=OPTIONS)


def met(n_items, right, rng):
    counts, asked = {0: (0, 0), 1: (0, 0)}, []
    for _ in range(n_items):
        p = EarlyStop(0.15).probability(counts, KINDS)
        asked.append(rng.random() < p_test(sum(asked), p))
        if asked[-1]:
            kind = int(rng.integers(2))
            k, n = counts[kind]
            counts[kind] = (k + (rng.random() < right[kind]), n + 1)
    return asked


def test_six_to_ten_in_the_first_forty():
    rng = np.random.default_rng(1)
    sessions = np.array([met(40, (0.92, 0.92), rng) for _ in range(200)])
    assert 6 < sessions.sum(axis=1).mean() < 10


def test_place_alone_tells_little_about_what_is_a_test():
    rng = np.random.default_rng(2)
    sessions = np.array([met(40, (0.92, 0.92), rng) for _ in range(300)])
    share, other = sessions[::2].mean(axis=0), sessions[1::2]
    score = np.broadcast_to(share, other.shape)
    found = stats.mannwhitneyu(score[other], score[~other]).statistic
    assert found / other.sum() / (~other).sum() < 0.6
    assert sessions.mean(axis=0).max() < 0.5


def test_late_tests_never_dry_up_and_doubt_brings_more():
    for n_tests in (10, 100, 900):
        assert p_test(n_tests, 0.0) >= 0.05
        assert p_test(n_tests, 0.5, Allowance(0.0, 0.0)) == OPTIONS.late / 2
    late = [p_test(20, p) for p in (0.01, 0.1, 0.3, 0.6)]
    assert late == sorted(late)
    assert late[-1] > 4 * late[0]
    assert affordable(0, 10, 0.0, planned=100) == (0.0, 0.0)
    assert affordable(100, 0, 0.1, planned=100).left == 1.0


def test_the_share_of_tests_stays_within_what_was_approved():
    rng = np.random.default_rng(2)
    n_tests = late = own = 0
    for spent in range(4000):
        # workers come and go after forty answers
        own = 0 if spent % 40 == 0 else own
        asked = int(
            rng.random()
            < p_test(own, 0.02, affordable(spent, n_tests, 0.1, planned=4000))
        )
        own, n_tests = own + asked, n_tests + asked
        late += asked if spent > 3500 else 0
    assert 0.07 < n_tests / 4000 < 0.105
    assert late > 10
