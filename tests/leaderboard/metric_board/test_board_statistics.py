"""A board's numbers from tables alone: quick swaps are plain swaps, odd tables give no lies."""

import json

import numpy as np
import pytest

from leaderboard.metric_board.stats.ranks import MOST_SYSTEMS_SOFT, rankings
from leaderboard.metric_board.stats.snapshot import (
    BoardScores,
    MetricScores,
    metric_board,
)
from leaderboard.metric_board.stats.soft_accuracy import _accuracy_gaps, superiority


def tables(n_systems=6, n=30, seed=1):
    rng = np.random.default_rng(seed)
    level = np.linspace(0, 1, n_systems)[:, None] + rng.normal(0, 0.5, n)
    human = np.round(3 + level + rng.normal(size=(n_systems, n)))
    return human, level + rng.normal(size=(n_systems, n)), rng


def scored(slug, table):
    return MetricScores(slug, table.mean(axis=1), table)


def board(human, *metrics, **more):
    return metric_board(BoardScores(human, list(metrics), **more), seed=3)


def test_many_swaps_at_once_are_the_same_as_one_by_one():
    human, first, rng = tables()
    second = first + rng.normal(size=first.shape)
    above = np.triu_indices(len(human), k=1)
    people = superiority(human)[above]
    swaps = rng.integers(0, 2, size=(25, human.size))
    found = _accuracy_gaps(people, (first + second) / 2, (first - second) / 2, swaps)

    def accuracy(table):
        mine = superiority(table)[above]
        return 1 - np.abs(people - mine).mean()

    for row, gap in zip(swaps.astype(bool), found, strict=True):
        coins = row.reshape(human.shape)
        one, other = np.where(coins, first, second), np.where(coins, second, first)
        # superiority is about each table's own mean; sums of pairs do not depend on it
        assert gap == pytest.approx(accuracy(one) - accuracy(other), abs=1e-9)


@pytest.mark.parametrize("kind", ["constant", "missing", "unrated", "systems-only"])
def test_odd_tables_give_undefined_numbers_not_wrong_ones(kind):
    human, metric, rng = tables()
    good = scored("good", metric)
    if kind == "constant":
        odd = scored("odd", np.ones_like(metric))
    elif kind == "missing":
        table = metric.copy()
        table[2] = np.nan
        odd = scored("odd", table)
    elif kind == "unrated":
        human = human.copy()
        human[1] = np.nan
        odd = scored("odd", metric + rng.normal(size=metric.shape))
    else:
        odd = MetricScores("odd", metric.mean(axis=1), None)
    found = board(human, good, odd)
    text = json.dumps(found, allow_nan=False)
    line = found["metrics"][1]
    assert "NaN" not in text
    if kind == "constant":
        assert line["system"]["pearson"] == {"value": None, "low": None, "high": None}
        assert found["rankings"]["pearson"]["order"] == ["good", "odd"]
        assert found["rankings"]["pearson"]["p"][0][1] is None
    elif kind == "missing":
        assert (line["complete"], line["n_systems"]) == (False, 5)
        assert found["compared"] == ["good"]
    elif kind == "unrated":
        assert "soft-accuracy" not in found["rankings"]
        assert line["instance"]["calibrated"]["value"] is not None
    else:
        assert line["instance"] == {}
        assert found["rankings"]["calibrated"]["order"] == ["good"]


def test_two_systems_are_refused():
    human, metric, _ = tables()
    with pytest.raises(ValueError, match="at least 3 systems"):
        board(human[:2], scored("m", metric[:2]))


def test_a_board_without_metrics_is_empty():
    human, _, _ = tables()
    found = board(human)
    assert (found["metrics"], found["rankings"]) == ([], {})


def test_soft_accuracy_is_not_tested_where_it_would_take_minutes():
    human, metric, _ = tables(n_systems=MOST_SYSTEMS_SOFT + 1, n=5)
    one = ("m", metric.mean(axis=1), metric)
    assert "soft-accuracy" not in rankings(human, [one], seed=1)
    few = ("m", metric[:5].mean(axis=1), metric[:5])
    assert "soft-accuracy" in rankings(human[:5], [few], seed=1)


def test_a_metric_that_follows_people_better_is_found_better():
    human, _, rng = tables(n_systems=10, n=120)
    good = scored("good", human + rng.normal(size=human.shape))
    poor = scored("poor", human + 8 * rng.normal(size=human.shape))
    found = board(human, poor, good)["rankings"]
    for name in ("calibrated", "soft-accuracy"):
        assert found[name]["order"] == ["good", "poor"]
        assert found[name]["p"][0][1] < 0.05
    assert found["calibrated"]["ranks"] == [1, 2]
