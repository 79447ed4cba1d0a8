"""Rank-sum tests against scipy, clusters against the tables that WMT22 published."""

import gzip
import json

import numpy as np
import pytest
from scipy import stats

from leaderboard.stats.systems.ranks import (
    rank_sum_p_values,
    rank_sum_ranking,
    wmt_clusters,
)
from tests.shared import SHARED, needs_shared

WMT22 = SHARED / "data" / "wmt22-da"
PAIRS = ["cs-en", "de-en", "ja-en", "lv-en", "ru-en", "uk-en", "zh-en"]
# of a small crowd that is made up: system, segment and z-score
SMALL = [
    ("north", [0.9, 0.4, 0.7, 0.6, 1.1, 0.5, 0.8, 0.3]),
    ("south", [0.8, 0.5, 0.6, 0.2, 0.9, 0.1, 0.7, 0.4]),
    ("east", [-0.2, 0.1, -0.4, 0.0, 0.3, -0.1, -0.3, 0.2]),
    ("west", [-0.9, -1.2, 0.2, -0.7, -0.1, -1.0, -0.6, -0.8]),
]


def published(pair):
    plain = WMT22 / f"ad-seg-scores-{pair}.csv"
    if plain.exists():
        text = plain.read_text()
    else:
        text = gzip.decompress((WMT22 / f"{plain.name}.gz").read_bytes()).decode()
    rows = [line.split() for line in text.splitlines()[1:] if line.strip()]
    return [r[0] for r in rows], [int(r[1]) for r in rows], [float(r[3]) for r in rows]


def expected(pair):
    items = json.loads((WMT22 / "expected.json").read_text())
    return {i["id"].removeprefix(f"{pair}/"): i for i in items if pair in i["id"]}


@needs_shared
@pytest.mark.parametrize("pair", PAIRS)
def test_the_tables_of_wmt22_come_out(pair):
    systems, segments, values = published(pair)
    ranking = rank_sum_ranking(values, systems, segments)
    known = expected(pair)
    for rank, system in enumerate(ranking.systems):
        for field, ours in (
            ("z", ranking.means[rank]),
            ("segments", ranking.n_segments[rank]),
            ("rank_by_z", rank + 1),
            ("wins", ranking.wins[rank]),
        ):
            item = known[f"{system}/{field}"]
            assert ours == pytest.approx(item["value"], abs=item["tolerance"])
        cluster = ranking.clusters[rank]
        assert [cluster.first, cluster.last] == known[f"{system}/cluster"]["value"]
    assert len({str(c) for c in ranking.clusters}) == known["n_clusters"]["value"]


def test_a_small_crowd_gives_what_it_always_gave():
    names = [name for name, scores in SMALL for _ in scores]
    values = [score for _, scores in SMALL for score in scores]
    ranking = rank_sum_ranking(values, names, list(range(8)) * 4)
    assert ranking.systems == ["north", "south", "east", "west"]
    assert ranking.wins.tolist() == [2, 2, 1, 0]
    assert [str(c) for c in ranking.clusters] == ["1-2", "1-2", "3", "4"]
    assert ranking.p_values[0, 1] == pytest.approx(0.2144, abs=5e-5)


def test_the_p_values_are_those_of_scipy():
    rng = np.random.default_rng(3)
    scores = [rng.integers(0, 9, n) + 0.3 * n for n in (5, 40, 41, 1)]
    ours = rank_sum_p_values(scores)
    for i, a in enumerate(scores):
        for j, b in enumerate(scores):
            if i != j:
                theirs = stats.mannwhitneyu(
                    a, b, alternative="greater", method="asymptotic"
                )
                assert ours[i, j] == pytest.approx(theirs.pvalue, abs=1e-12)


def test_ratings_of_one_segment_are_averaged_and_their_order_means_nothing():
    twice = rank_sum_ranking([1, 3, 4, 0], list("aaab"), [1, 1, 2, 1])
    once = rank_sum_ranking([4, 2, 0], list("aab"), [2, 1, 1])
    assert twice.means.tolist() == once.means.tolist() == [3, 0]
    assert twice.n_segments.tolist() == [2, 1]
    assert np.array_equal(twice.p_values, once.p_values)


def test_equal_scores_and_a_single_system_beat_nobody():
    ranking = rank_sum_ranking([1, 1, 1, 1], list("aabb"), [1, 2, 1, 2])
    assert ranking.wins.tolist() == [0, 0]
    assert [str(c) for c in ranking.clusters] == ["1-2", "1-2"]
    assert [str(c) for c in rank_sum_ranking([5], ["a"], [1]).clusters] == ["1"]


def test_the_last_system_above_a_cut_decides_alone():
    better = np.zeros((3, 3), dtype=bool)
    better[1, 2] = True
    assert [str(c) for c in wmt_clusters(better)] == ["1-2", "1-2", "3"]


def test_a_win_over_a_system_above_counts():
    better = np.zeros((4, 4), dtype=bool)
    better[1, 0] = better[1, 3] = True
    assert [str(c) for c in wmt_clusters(better)] == ["1-2", "1-2", "3-4", "3-4"]


def test_the_last_cluster_ends_with_the_table():
    better = np.zeros((2, 2), dtype=bool)
    better[1, 0] = True
    assert [str(c) for c in wmt_clusters(better)] == ["1-2", "1-2"]
    assert wmt_clusters(np.zeros((0, 0))) == []


def test_wrong_arguments_are_refused_in_words():
    with pytest.raises(ValueError, match="no ratings"):
        rank_sum_ranking([], [], [])
