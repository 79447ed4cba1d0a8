import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leaderboard.stats.magnitude import log_magnitudes, normalise_magnitudes

magnitudes = st.lists(st.floats(0.01, 1e4), min_size=1, max_size=30)


@given(magnitudes, st.floats(0.1, 10))
def test_a_worker_with_another_modulus_gives_the_same_ratios(values, modulus):
    workers = ["a"] * len(values)
    plain = normalise_magnitudes(values, workers)
    scaled = normalise_magnitudes(np.array(values) * modulus, workers)
    assert plain == pytest.approx(values)
    assert scaled == pytest.approx(plain * modulus)


def test_every_worker_gets_the_grand_geometric_mean():
    rng = np.random.default_rng(1)
    workers = rng.choice(list("abc"), 300)
    modulus = {"a": 1, "b": 10, "c": 0.3}
    values = np.exp(rng.normal(4, 0.3, 300)) * [modulus[w] for w in workers]
    fixed = normalise_magnitudes(values, workers)
    grand = stats.gmean(values)
    for worker in "abc":
        own = workers == worker
        assert stats.gmean(fixed[own]) == pytest.approx(grand)
        assert fixed[own] / fixed[own][0] == pytest.approx(values[own] / values[own][0])


@pytest.mark.parametrize("wrong", [0, -3, np.nan, np.inf])
def test_what_is_no_ratio_is_refused_by_its_place(wrong):
    with pytest.raises(ValueError, match="number 2 is"):
        log_magnitudes([100, wrong, 50])


def test_nothing_is_refused_in_words():
    with pytest.raises(ValueError, match="no magnitudes"):
        log_magnitudes([])
