import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_research.papers.genie.standard_errors import largest_standard_error
from leaderboard.stats.bounds import largest_sd


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_no_ratings_on_the_scale_vary_more_than_the_bound(ratings):
    assert np.std(ratings) <= largest_sd(np.clip(np.mean(ratings), 0, 1)) + 1e-9


def test_the_bound_is_reached_by_ratings_at_both_ends():
    ratings = [1] * 6 + [5] * 2
    assert np.std(ratings) == pytest.approx(largest_sd(2.0, low=1, high=5))


def test_the_bound_without_a_mean_is_that_of_the_middle():
    assert largest_sd(low=1, high=5) == largest_sd(3, low=1, high=5) == 2.0
    assert largest_standard_error(400, low=0, high=100) == 2.5


def test_at_an_end_of_the_scale_nothing_can_vary():
    assert largest_sd(0.0) == largest_sd(1.0) == 0.0
