"""Williams' test against a published example, its level, and what it cannot say."""

import numpy as np
import pytest
from scipy import stats

from leaderboard.metric_board.stats.ranks import rankings
from leaderboard.metric_board.stats.williams import (
    reached_by_chance,
    williams_p,
    williams_test,
)


def test_the_example_that_the_psych_package_documents_comes_out():
    # r.test(n = 103, r12 = .4, r13 = .5, r23 = .1): t = -0.89, two-sided p < .37
    p = williams_p(0.5, 0.4, 0.1, 103)
    assert stats.t.isf(p, 100) == pytest.approx(0.89, abs=0.005)
    assert 2 * p == pytest.approx(0.37, abs=0.006)


def test_swapping_the_metrics_turns_the_p_value():
    rng = np.random.default_rng(1)
    people = rng.normal(size=12)
    a, b = people + rng.normal(size=12), people + 2 * rng.normal(size=12)
    forth, back = williams_test(people, a, b), williams_test(people, b, a)
    assert forth + back == pytest.approx(1)
    assert williams_test(people, 5 - 0 * a + 9 * a, b / 7) == pytest.approx(forth)


@pytest.mark.slow
@pytest.mark.parametrize("n", [6, 12, 30])
def test_equally_good_metrics_are_told_apart_in_5_percent(n):
    rng = np.random.default_rng(n)
    found, n_sets = [], 400
    for _ in range(n_sets):
        people = rng.normal(size=n)
        shared = rng.normal(size=n)
        a, b = (people + 0.7 * shared + 0.7 * rng.normal(size=n) for _ in range(2))
        found.append(williams_test(people, a, b) < 0.05)
    assert np.mean(found) == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / n_sets))


def test_what_cannot_be_said_is_none_and_what_is_equal_is_a_coin():
    people = [1.0, 2.0, 3.0, 4.0, 6.0]
    assert np.isnan(williams_test(people[:3], people[:3], [2, 1, 3]))
    assert np.isnan(williams_test(people, people, [1] * 5))
    assert not np.isnan(williams_test([*people[:4], np.nan], people, [2, 1, 3, 4, 5]))
    assert williams_test(people, [2, 1, 3, 4, 5], [2, 1, 3, 4, 5]) == 0.5
    assert williams_test(people, people, people) == 0.5
    # one follows people without error, the other does not
    assert williams_test(people, people, [2, 1, 3, 5, 4]) < 0.2


def test_the_board_has_the_test_beside_the_permutations():
    rng = np.random.default_rng(2)
    human = rng.normal(size=(10, 30)) + np.arange(10)[:, None]
    tables = {"good": human + 0.1, "poor": rng.normal(size=(10, 30))}
    found = rankings(
        human, [(name, t.mean(axis=1), t) for name, t in tables.items()], seed=1
    )
    assert found["pearson"]["order"] == ["good", "poor"]
    assert found["pearson"]["williams"][0][1] < 0.01
    assert found["pearson"]["williams"][1] == [None, None]
    assert "williams" not in found["spearman"]


def test_chance_is_what_simulated_metrics_reach():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 20_000, 8))
    r = np.array(
        [np.corrcoef(a, b)[0, 1] for a, b in zip(x[:4000], y[:4000], strict=True)]
    )
    assert np.mean(np.abs(r) > reached_by_chance(8)) == pytest.approx(0.05, abs=0.014)
