"""What is estimated of all systems together is what leaving workers out says."""

import numpy as np
import pytest

from leaderboard.stats.judges.together import helped_systems


def test_workers_move_a_mean_as_leaving_each_of_them_out_does():
    rng = np.random.default_rng(3)
    worker = np.repeat(np.arange(4), [2, 4, 8, 10])
    values = rng.normal(0, 5, 4)[worker] + rng.normal(size=24)
    found = helped_systems(values, ["a"] * 24, worker, np.arange(24), {})
    left_out = [values[worker != one].mean() for one in range(4)]
    moved = np.square(np.array(left_out) - values.mean()).sum()
    shares = np.bincount(worker) / 24
    effective = 1 / np.square(shares).sum()
    jackknife = moved * (effective - 1) / effective
    single = np.square((values - values.mean()) / 24).sum()
    # instances, each rated once, took something out of it, too
    expected = (jackknife - single) * (1 + 1 / 24) + single
    assert found.means[0] == pytest.approx(values.mean())
    assert found.worker_part[0, 0] == pytest.approx(expected)
    assert found.effective_workers[0] == pytest.approx(effective)
