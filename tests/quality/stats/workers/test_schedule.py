"""Tests come early, while in doubt, within what was approved, and never for the last time."""

from __future__ import annotations

import numpy as np
import pytest

from quality.detection.stats import schedule
from quality.detection.stats.schedule import ScheduleOptions, affordable

OPTIONS = ScheduleOptions()


def met(n_items, p_careless, rng):
    n_tests = 0
    for answered in range(n_items):
        p = schedule.test_probability(answered, n_tests, p_careless, options=OPTIONS)
        n_tests += int(rng.random() < p)
    return n_tests


def test_six_to_eight_in_the_first_forty():
    rng = np.random.default_rng(1)
    assert 6 < np.mean([met(20, 0.02, rng) for _ in range(300)]) < 8.9
    assert 7 < np.mean([met(40, 0.02, rng) for _ in range(300)]) < 9.7


def test_late_tests_never_dry_up():
    for n_tests in (10, 100, 900):
        assert schedule.test_probability(1000, n_tests, 0.0, options=OPTIONS) >= 0.05


def test_doubt_brings_more():
    late = [
        schedule.test_probability(200, 20, p, options=OPTIONS)
        for p in (0.01, 0.1, 0.3, 0.6)
    ]
    assert late == sorted(late)
    assert late[-1] > 4 * late[0]


def test_what_makes_no_sense_is_refused():
    for answered, tests, p in ((1, 2, 0.1), (-1, -1, 0.1), (1, 0, 1.1)):
        with pytest.raises(ValueError, match="no sense"):
            schedule.test_probability(answered, tests, p, options=OPTIONS)
    with pytest.raises(ValueError, match="between 0 and 1"):
        ScheduleOptions(most=1.0)
    with pytest.raises(ValueError, match="negative"):
        ScheduleOptions(late=-0.1)


def test_the_share_of_tests_stays_within_what_was_approved():
    rng = np.random.default_rng(2)
    n_tests = late = own = 0
    for spent in range(4000):
        # workers come and go after forty answers
        own = 0 if spent % 40 == 0 else own
        options = ScheduleOptions(scale=affordable(spent, n_tests, 0.1, planned=4000))
        p = schedule.test_probability(spent % 40, own, 0.02, options=options)
        asked = int(rng.random() < p)
        own, n_tests = own + asked, n_tests + asked
        late += asked if spent > 3500 else 0
    assert n_tests / 4000 < 0.125
    assert late > 10


def test_nothing_approved_still_leaves_a_few():
    options = ScheduleOptions(scale=affordable(0, 10, 0.0, planned=100))
    assert options.scale == 0
    assert schedule.test_probability(9, 0, 0.5, options=options) == OPTIONS.late / 2
