"""A pilot finds what is broken, silent, telling or unclear, and nothing where nothing is."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.stats.judges.pilot import draft_pilot


def test_broken_silent_and_telling_instances():
    rng = np.random.default_rng(1)
    scores = 3 + 0.2 * rng.normal(size=(6, 12, 1))
    scores[:, 3] = 1.0
    scores[:, 4] = 4.0
    scores[:, 7, 0] += np.arange(6)
    scores[:, 9, 0] += np.arange(6)
    found = draft_pilot(scores)
    assert (found.lowest, found.silent, set(found.telling[:2])) == ([3], [4], {7, 9})
    assert np.isnan(found.repeats)
    assert not found.unclear


def test_repeats_that_differ_as_much_as_outputs_are_unclear():
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(5, 40, 3))
    assert draft_pilot(noise).unclear
    assert draft_pilot(noise).repeats == pytest.approx(1, abs=0.1)
    clear = rng.normal(size=(5, 40, 1)) + 0.1 * noise
    assert draft_pilot(clear).repeats == pytest.approx(0.01, abs=0.005)


def test_of_little_little_is_said():
    alone = draft_pilot(np.ones((1, 3, 2)))
    assert (alone.lowest, alone.silent, alone.telling) == ([], [], [])
    empty = draft_pilot(np.full((2, 3, 1), np.nan))
    assert (empty.n_systems, empty.n_instances) == (0, 0)
    holes = np.ones((2, 2, 1))
    holes[0, 0] = np.nan
    # alike everywhere is not the lowest of anything
    assert (draft_pilot(holes).lowest, draft_pilot(holes).silent) == ([], [1])
    with pytest.raises(ValueError, match="system, instance and repeat"):
        draft_pilot([1.0])
