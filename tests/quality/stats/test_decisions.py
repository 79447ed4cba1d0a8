"""Bans as decisions: wrong bans in the pool."""

import numpy as np

from quality.detection.stats.assess import FALSE_DISCOVERIES, excluded_by


def _rate(p, banned):
    return (1 - p[banned]).sum() / max(banned.sum(), 1)


def test_false_discoveries_stay_within_the_level_and_one_more_ban_would_not():
    rng = np.random.default_rng(0)
    for sure in (0.3, 0.1, 0.03):
        p = rng.beta(sure, 0.3, 200)
        banned = excluded_by(p, 0.5)
        assert _rate(p, banned) <= FALSE_DISCOVERIES + 1e-9
        rest = p[~banned]
        if rest.size and rest.max() > 0.5:
            more = banned | (p == rest.max())
            assert _rate(p, more) > FALSE_DISCOVERIES


def test_equal_posteriors_share_their_fate_and_least_ones_stay():
    banned = excluded_by([1.0, 0.99, 0.99, 0.99], 0.5)
    assert banned.tolist() == [True, False, False, False]
    sure = [1.0] * 100 + [0.55]
    assert excluded_by(sure, 0.5)[-1]
    assert not excluded_by(sure, 0.9)[-1]
    assert excluded_by([], 0.9).tolist() == []
