import itertools

import numpy as np
import pytest

from genie_research.papers.rankme.all_pairs import bootstrap_ranking
from leaderboard.stats.multiplicity import significance_clusters
from leaderboard.stats.paired import paired_bootstrap

rng = np.random.default_rng(12)
TABLE = np.clip(
    np.rint(
        rng.normal(2.5, 1, (200, 1)) + rng.normal(0, 1, (200, 6)) + 0.12 * np.arange(6)
    ),
    0,
    4,
)


def test_every_pair_agrees_with_the_test_of_that_pair_alone():
    found = bootstrap_ranking(TABLE, seed=1, n_resamples=20_000)
    for i, j in itertools.permutations(range(6), 2):
        alone = paired_bootstrap(TABLE[:, i], TABLE[:, j], seed=1, n_resamples=20_000)
        assert found.p_above[i, j] == pytest.approx(alone.p_above, abs=0.02)


def test_shares_of_a_pair_add_to_one_and_ties_count_half():
    found = bootstrap_ranking(TABLE, seed=1, n_resamples=500)
    assert found.p_above + found.p_above.T == pytest.approx(np.ones((6, 6)))
    twins = bootstrap_ranking(np.column_stack([TABLE, TABLE[:, 0] * 1.0]), seed=1)
    assert twins.p_above[0, 6] == 0.5


def test_thirds_tie_in_spite_of_rounding():
    a = np.array([1, 2, 0, 2, 1, 0] * 5) / 3
    mixed = bootstrap_ranking(
        np.column_stack([a, np.roll(a, 1)]), seed=1, n_resamples=4_000
    )
    whole = bootstrap_ranking(
        np.column_stack([a * 3, np.roll(a, 1) * 3]).round(), seed=1, n_resamples=4_000
    )
    assert mixed.p_above == pytest.approx(whole.p_above, abs=0)


def test_one_system_or_one_instance_is_no_error_and_no_news():
    lone = bootstrap_ranking([[1.0], [2.0]], seed=1)
    assert lone.p_above.tolist() == [[0.5]]
    once = bootstrap_ranking([[1.0, 1.0]], seed=1, n_resamples=50)
    assert once.clusters == [1, 1]


def test_missing_ratings_are_refused_by_name():
    with pytest.raises(
        ValueError, match="System 2 has no finite rating for instance 1"
    ):
        bootstrap_ranking([[1, np.nan]], seed=1)
    with pytest.raises(ValueError, match="must be a table"):
        bootstrap_ranking([1, 2, 3], seed=1)
    with pytest.raises(ValueError, match="must be a table"):
        bootstrap_ranking(np.empty((0, 3)), seed=1)
    with pytest.raises(ValueError, match="one resample"):
        bootstrap_ranking(TABLE, seed=1, n_resamples=0)


def brute_clusters(order, better):
    cuts = [
        all(better[a][b] for a in order[:k] for b in order[k:])
        for k in range(1, len(order))
    ]
    return dict(zip(order, np.cumsum([1, *cuts]).tolist(), strict=True))


def test_clusters_are_cut_where_all_above_beat_all_below():
    for seed in range(50):
        draw = np.random.default_rng(seed)
        estimates = draw.permutation(6).astype(float)
        better = (estimates[:, None] > estimates) & (draw.random((6, 6)) < 0.8)
        order = np.argsort(-estimates).tolist()
        expected = brute_clusters(order, better)
        found = significance_clusters(estimates, better)
        assert found == [expected[i] for i in range(6)]


def test_clusters_at_the_edges():
    assert significance_clusters([], np.zeros((0, 0))) == []
    assert significance_clusters([3.0], [[False]]) == [1]
    assert significance_clusters([1, 1], np.zeros((2, 2))) == [1, 1]
    with pytest.raises(ValueError, match="NaN"):
        significance_clusters([1, np.nan], np.zeros((2, 2)))
