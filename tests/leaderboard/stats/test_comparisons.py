import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.stats.comparisons import compare, comparisons_from_table

rows = st.lists(st.tuples(*[st.sampled_from([1.0, 2.0, 3.0, np.nan])] * 3), max_size=20)


@given(rows)
def test_wins_ties_and_losses_are_counted_pair_by_pair(table):
    found = comparisons_from_table(np.array(table, dtype=float).reshape(-1, 3))
    for i in range(3):
        for j in range(3):
            if i != j:
                wins = sum(row[i] > row[j] for row in table)
                ties = sum(row[i] == row[j] for row in table)
                losses = sum(row[i] < row[j] for row in table)
                assert found.win_tie_loss(i, j) == (wins, ties, losses)


def test_games_follow_the_judgements():
    found = comparisons_from_table([[3, 2, 1], [1, np.nan, 2]])
    assert found.first.tolist() == [0, 0, 1, 0]
    assert found.second.tolist() == [1, 2, 2, 2]
    assert found.outcome.tolist() == [1, 1, 1, -1]


def test_two_choice_answers_become_comparisons_in_both_directions():
    found = compare([0, 1, 1], [1, 0, 0], [1, 1, 0], 3)
    assert found.wins.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert found.ties.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


def test_no_judgements_make_no_comparisons():
    assert comparisons_from_table(np.empty((0, 3))).wins.sum() == 0
    assert compare([], [], [], 2).ties.sum() == 0


def test_broken_comparisons_are_refused_in_words():
    with pytest.raises(ValueError, match="finite"):
        comparisons_from_table([[1, np.inf]])
