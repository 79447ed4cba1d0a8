import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genie_research.papers.dynamic.running_sums import running_sums


@given(st.integers(0, 5), st.integers(1, 70), st.integers(0, 127), st.integers(0, 9))
def test_running_sums_are_those_of_cumsum(rows, n, largest, seed):
    numbers = np.random.default_rng(seed).integers(0, largest + 1, size=(rows, n))
    for kind in (np.int8, np.int64):
        found = running_sums(numbers.astype(kind))
        assert found.tolist() == np.cumsum(numbers, axis=1).tolist()
    labels = numbers > 0
    assert running_sums(labels).tolist() == np.cumsum(labels, axis=1).tolist()


@pytest.mark.parametrize("n", [516, 517, 65_534, 65_535, 65_536])
def test_no_sum_is_too_large(n):
    assert running_sums(np.ones((2, n), dtype=bool))[:, -1].tolist() == [n, n]
    assert running_sums(np.full((1, n), 127, dtype=np.int8))[0, -1] == 127 * n
