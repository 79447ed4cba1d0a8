"""Bans as decisions: wrong bans in the pool."""

import numpy as np
import pytest

from quality.detection.stats.assess import control_false_discoveries


def _rate(p, banned):
    return (1 - p[banned]).sum() / max(banned.sum(), 1)


def test_false_discoveries_stay_within_the_level_and_one_more_ban_would_not():
    rng = np.random.default_rng(0)
    for level in (0.001, 0.01, 0.05, 0.2):
        p = rng.beta(0.3, 0.3, 200)
        banned = control_false_discoveries(p, level)
        assert _rate(p, banned) <= level + 1e-9
        rest = p[~banned]
        if rest.size and rest.max() > 0.5:
            more = banned | (p == rest.max())
            assert _rate(p, more) > level


def test_equal_posteriors_share_their_fate_least_ones_stay_and_levels_are_checked():
    banned = control_false_discoveries([1.0, 0.9, 0.9, 0.9], 0.06)
    assert banned.tolist() == [True, False, False, False]
    sure = [1.0] * 50 + [0.55]
    assert control_false_discoveries(sure, 0.05)[-1]
    assert not control_false_discoveries(sure, 0.05, least=0.9)[-1]
    assert control_false_discoveries([]).tolist() == []
    with pytest.raises(ValueError, match="level"):
        control_false_discoveries([0.5], 1.0)


@pytest.mark.parametrize("p", [[1.2], [-0.1], [float("nan")], [[0.5]]])
def test_posteriors_that_are_no_probabilities_are_refused(p):
    with pytest.raises(ValueError, match="probabilities"):
        control_false_discoveries(p)
