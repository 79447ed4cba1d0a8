from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.stats.ranking import RankRange, rank_ranges

ends = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 4)).map(lambda e: (e[0], e[0] + e[1])),
    max_size=12,
)


@given(ends)
def test_rank_ranges_count_the_systems_surely_above_and_surely_below(intervals):
    lows = [low for low, _ in intervals]
    highs = [high for _, high in intervals]
    for i, found in enumerate(rank_ranges(lows, highs)):
        assert found.first == 1 + sum(low > highs[i] for low in lows)
        assert found.last == len(lows) - sum(high < lows[i] for high in highs)
        assert 1 <= found.first <= found.last <= len(lows)


@given(ends, st.randoms())
def test_the_order_of_the_systems_does_not_matter(intervals, shuffler):
    shuffled = intervals[:]
    shuffler.shuffle(shuffled)
    first = dict(zip(intervals, rank_ranges(*ends_of(intervals)), strict=True))
    again = dict(zip(shuffled, rank_ranges(*ends_of(shuffled)), strict=True))
    assert first == again


def ends_of(intervals):
    return [low for low, _ in intervals], [high for _, high in intervals]


def test_intervals_that_touch_leave_both_ranks_open():
    assert rank_ranges([0.5, 0.3], [0.7, 0.5]) == [RankRange(1, 2), RankRange(1, 2)]


def test_a_system_of_which_nothing_is_known_may_hold_any_rank():
    assert rank_ranges([-np.inf, 0.1, 0.5], [np.inf, 0.2, 0.6])[0] == RankRange(1, 3)


def test_no_systems_have_no_ranks_and_one_system_is_first():
    assert rank_ranges([], []) == []
    assert rank_ranges([0.2], [0.3]) == [RankRange(1, 1)]


def test_broken_intervals_are_refused_in_words():
    with pytest.raises(ValueError, match="NaN"):
        rank_ranges([np.nan], [1])
    with pytest.raises(ValueError, match="above its high"):
        rank_ranges([2], [1])
    with pytest.raises(ValueError, match="one low and one high"):
        rank_ranges([1, 2], [3])
