"""Evidence that holds whatever was asked first, and the rule that chooses what to ask."""

from __future__ import annotations

import numpy as np
import pytest

from leaderboard.stats.active.deciding import PairByPair
from leaderboard.stats.active.propensities import soonest, uniform
from leaderboard.stats.stopping.sequential import BetaMixture


def known(n_systems, *counts):
    """Return what is known: of each i and j, wins of i, ties and wins of j."""
    deciding = PairByPair(n_systems, delta=0.05)
    for i, j, wins, ties, losses in counts:
        deciding.wins[i, j], deciding.wins[j, i] = wins, losses
        deciding.ties[i, j] = deciding.ties[j, i] = ties
    return deciding


def test_a_pair_is_decided_where_the_rule_of_comparisons_decides():
    # three pairs, nothing decided: six directions share delta
    rule = BetaMixture(delta=0.05 / 6)
    for n_won in range(20, 40):
        deciding = known(3, (0, 1, n_won, 0, 50 - n_won))
        decides = deciding.evidence >= deciding.threshold
        assert decides[0, 1] == rule.favours_a(50, n_won)
        assert decides.sum() == decides[0, 1]


def test_each_decision_makes_the_next_one_easier():
    deciding = PairByPair(3, delta=0.05)
    assert deciding.threshold == pytest.approx(np.log(6 / 0.05))
    deciding.better[0, 1] = True
    assert deciding.threshold == pytest.approx(np.log(5 / 0.05))
    assert deciding.undecided.sum() == 4


def test_ties_count_as_half_a_win():
    tied, halved = known(2, (0, 1, 20, 10, 0)), known(2, (0, 1, 25, 0, 5))
    assert tied.evidence == pytest.approx(halved.evidence)


def test_propensities_are_chances_of_all_pairs():
    assert soonest(PairByPair(4, delta=0.05)) == pytest.approx(
        uniform(PairByPair(4, delta=0.05))
    )
    deciding = known(4, (0, 1, 40, 0, 0))
    deciding.better[0, 1] = True
    chances = soonest(deciding)
    assert chances.sum() / 2 == pytest.approx(1)
    assert np.array_equal(chances, chances.T)
    assert not np.diag(chances).any()
    assert chances[2, 3] > chances[0, 1] == pytest.approx(0.1 / 6)
    deciding.better[:] = np.triu(np.ones((4, 4)), 1)
    assert soonest(deciding) == pytest.approx(uniform(deciding))


def test_the_pair_that_is_soonest_decided_comes_first_and_hopeless_ones_last():
    deciding = known(3, (0, 1, 100, 0, 100), (0, 2, 117, 0, 83), (1, 2, 108, 0, 92))
    chances = soonest(deciding)
    assert chances[0, 2] > 0.5 > chances[1, 2] > chances[0, 1] > 0.03
    assert soonest(deciding, floor=1)[0, 1] == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="floor"):
        soonest(deciding, floor=1.5)


def test_wrong_numbers_are_refused_in_words():
    for n_systems, delta in ((1, 0.05), (3, 0), (3, 1)):
        with pytest.raises(ValueError, match="At least two systems"):
            PairByPair(n_systems, delta=delta)
