"""Who calls everything bad is stopped where a weak system has few positive questions."""

import numpy as np
import pytest

from quality.detection.stats.schedule import (
    Allowance,
    EarlyStop,
    ScheduleOptions,
    test_probability,
)
from quality.detection.stats.workers.answers import NO_YES

KINDS = {"POSITIVE": NO_YES[1], "NEGATIVE": NO_YES[0]}


def stopped_after(rng, right_on, positive_share, most=120):
    early, options = EarlyStop(0.2), ScheduleOptions()
    # a quarter of all answers may be tests
    allowance = Allowance(0.25)
    counts = dict.fromkeys(KINDS, (0, 0))
    p, n_tests = 0.2, 0
    for answered in range(most):
        if rng.random() >= test_probability(n_tests, p, allowance, options=options):
            continue
        kind = list(KINDS)[int(rng.random() >= positive_share)]
        right, asked = counts[kind]
        counts[kind] = (right + int(rng.random() < right_on[kind]), asked + 1)
        n_tests += 1
        p = early.probability(counts, KINDS)
        if p > 0.9:
            return answered + 1
    return np.inf


# a system's own right outputs, half of them lent by others, a third of them references
@pytest.mark.parametrize(
    ("positive_share", "median", "stopped"),
    [(1 / 2, 15, 0.97), (1 / 4, 32, 0.87), (1 / 6, 55, 0.7)],
)
def test_they_are_stopped_and_the_careful_are_not(positive_share, median, stopped):
    rng = np.random.default_rng(13)
    says_no = {"POSITIVE": 0.05, "NEGATIVE": 0.95}
    after = [stopped_after(rng, says_no, positive_share) for _ in range(150)]
    assert np.median(after) <= median
    assert np.mean(np.isfinite(after)) >= stopped
    careful = dict.fromkeys(KINDS, 0.9)
    after = [stopped_after(rng, careful, positive_share) for _ in range(150)]
    assert np.mean(np.isfinite(after)) <= 0.02
