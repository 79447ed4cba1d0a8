from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from leaderboard.stats.multiplicity import benjamini_hochberg, holm

some_p_values = st.lists(
    st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.01, 0.05, 1.0])),
    min_size=1,
    max_size=30,
)


@given(some_p_values)
@settings(max_examples=25, deadline=None)
def test_adjusted_p_values_are_those_of_statsmodels(p_values):
    # theirs collects garbage each time, and here is much to look through
    with mock.patch("gc.collect"):
        holms = multipletests(p_values, method="holm")[1]
        hochbergs = multipletests(p_values, method="fdr_bh")[1]
    assert holm(p_values) == pytest.approx(holms, abs=1e-12)
    assert benjamini_hochberg(p_values) == pytest.approx(hochbergs, abs=1e-12)


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_shape_is_kept_and_edges_hold(adjust):
    assert adjust([]).shape == (0,)
    assert adjust([0.03]).tolist() == [0.03]
    assert adjust(0.03).shape == ()
    assert adjust([[0.01, 0.5], [0.02, 1.0]]).shape == (2, 2)
    assert adjust([[0.01, 0.5], [0.02, 1.0]]).ravel() == pytest.approx(
        adjust([0.01, 0.5, 0.02, 1.0])
    )


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
@pytest.mark.parametrize("wrong", [[np.nan], [-0.1], [1.1]])
def test_what_is_no_p_value_is_refused(adjust, wrong):
    with pytest.raises(ValueError, match="between 0 and 1"):
        adjust(wrong)
