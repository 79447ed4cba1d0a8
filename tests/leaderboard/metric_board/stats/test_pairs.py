"""Pairs are counted right, and Kendall's variants are made of the counts."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leaderboard.metric_board.stats.correlation import (
    pearson_rows,
    rank_rows,
    spearman_rows,
)
from leaderboard.metric_board.stats.pairs import VARIANTS, agreement, pair_counts


def by_hand(human, metric, epsilon=0.0):
    counts = dict.fromkeys(["c", "d", "h", "m", "b"], 0)
    for (h1, m1), (h2, m2) in itertools.combinations(
        [(h, m) for h, m in zip(human, metric, strict=True) if h == h], 2
    ):
        tie = abs(m1 - m2) <= epsilon
        if h1 == h2:
            counts["b" if tie else "h"] += 1
        elif tie:
            counts["m"] += 1
        else:
            counts["c" if (h1 > h2) == (m1 > m2) else "d"] += 1
    return list(counts.values())


def five(counts, group=0):
    names = ("concordant", "discordant", "tied_human", "tied_metric", "tied_both")
    return [getattr(counts, name)[group] for name in names]


small = st.integers(-3, 3)


@given(
    st.lists(st.tuples(st.one_of(small, st.just(float("nan"))), small), max_size=14),
    st.sampled_from([0.0, 1.0, 2.0]),
)
def test_counts_are_those_of_a_loop(pairs, epsilon):
    human = [float(h) for h, _ in pairs]
    metric = [float(m) for _, m in pairs]
    counts = pair_counts([human], [metric], epsilon=epsilon)
    assert five(counts) == by_hand(human, metric, epsilon)


@pytest.mark.parametrize("epsilon", [0.0, 1.5])
@pytest.mark.parametrize("constant", [None, "human", "metric"])
def test_long_rows_are_counted_like_short_ones(epsilon, constant):
    rng = np.random.default_rng(3)
    human = rng.integers(0, 6, 1_203).astype(float)
    metric = rng.integers(0, 40, 1_203).astype(float)
    human[rng.random(1_203) < 0.05] = np.nan
    if constant == "human":
        human[~np.isnan(human)] = 2
    if constant == "metric":
        metric[:] = 2
    there = ~np.isnan(human)
    h, m = human[there], metric[there]
    gap_h, gap_m = np.sign(np.subtract.outer(h, h)), np.subtract.outer(m, m)
    gap_m = np.where(np.abs(gap_m) <= epsilon, 0, np.sign(gap_m))
    above = np.triu_indices(len(h), k=1)
    gap_h, gap_m = gap_h[above], gap_m[above]
    expected = [
        np.sum((gap_h * gap_m) > 0),
        np.sum((gap_h * gap_m) < 0),
        np.sum((gap_h == 0) & (gap_m != 0)),
        np.sum((gap_h != 0) & (gap_m == 0)),
        np.sum((gap_h == 0) & (gap_m == 0)),
    ]
    assert five(pair_counts(human, metric, epsilon=epsilon)) == expected


def test_tau_b_is_scipys():
    rng = np.random.default_rng(5)
    for _ in range(50):
        size = int(rng.integers(2, 30))
        human, metric = rng.integers(0, 5, (2, size)).astype(float)
        counts = pair_counts(human, metric)
        expected = stats.kendalltau(human, metric).statistic
        found = agreement(counts, "tau-b")[0]
        assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_the_years_variants_treat_ties_as_they_did():
    # three concordant, one discordant, five tied by the metric, one by both
    human = [1, 2, 3, 4, 4]
    metric = [2, 1, 2, 2, 2]
    counts = pair_counts(human, metric)
    con, dis, tied_h, tied_m, both = five(counts)
    assert (con, dis, tied_h, tied_m, both) == (3, 1, 0, 5, 1)
    expected = {
        "tau-a": 2 / 10,
        "tau-10": (2 - 5) / 9,
        "tau-13": 2 / 4,
        "tau-14": 2 / 9,
        "tau-eq": (3 + 1 - 1 - 5) / 10,
        "acc-eq": 4 / 10,
    }
    for variant, value in expected.items():
        assert agreement(counts, variant)[0] == pytest.approx(value)


def test_perfect_agreement_is_one_for_all_of_them_without_ties():
    counts = pair_counts([1, 2, 3, 4], [10, 20, 30, 40])
    assert [agreement(counts, v)[0] for v in VARIANTS] == pytest.approx([1.0] * 7)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("values", [[], [1.0], [float("nan"), 2.0]])
def test_fewer_than_two_values_are_undefined(variant, values):
    assert np.isnan(agreement(pair_counts([values], [values]), variant)).all()


@pytest.mark.parametrize("variant", ["tau-b", "tau-13"])
def test_a_metric_that_ties_everything_is_undefined(variant):
    assert np.isnan(agreement(pair_counts([1, 2, 3], [5, 5, 5]), variant)[0])
    assert agreement(pair_counts([1, 2, 3], [5, 5, 5]), "acc-eq")[0] == 0


def test_wrong_arguments_are_refused_in_words():
    with pytest.raises(ValueError, match="finite score wherever people gave one"):
        pair_counts([1, 2], [1, float("nan")])


def test_correlations_of_rows_are_scipys():
    rng = np.random.default_rng(9)
    x, y = rng.integers(0, 7, (2, 40, 12)).astype(float)
    y = y + 1e6
    for row in range(40):
        expected = stats.pearsonr(x[row], y[row]).statistic
        assert pearson_rows(x, y)[row] == pytest.approx(expected, abs=1e-9)
        ranked = stats.spearmanr(x[row], y[row]).statistic
        assert spearman_rows(x, y)[row] == pytest.approx(ranked, abs=1e-12)


def test_correlations_leave_gaps_out_and_know_no_constant():
    x = [1.0, 2.0, float("nan"), 4.0]
    y = [2.0, 3.0, 100.0, 9.0]
    expected = stats.pearsonr([1, 2, 4], [2, 3, 9]).statistic
    assert pearson_rows(x, y) == pytest.approx(expected)
    assert spearman_rows(x, y) == pytest.approx(1)
    constant = [0.1 + 0.2, 0.3, 0.3, 0.3]  # equal but for rounding
    assert np.isnan(pearson_rows(constant, y))
    assert np.isnan(pearson_rows([], []))
    assert rank_rows([[3, 3, 1]]).tolist() == [[2.5, 2.5, 1.0]]
