"""Systems with separate crowds: a tenth of `benchmarks.bench_campaigns`."""

import numpy as np
import pytest

from benchmarks.bench_campaigns import Board, draw_board, measure
from leaderboard.stats.systems.estimates import estimate_systems


@pytest.mark.parametrize("crowd_sd", [0.0, 2.5, 5.0, 10.0])
def test_anchors_keep_the_coverage_of_differences_if_crowds_differ(crowd_sd):
    without, linked, error, ratio = measure(Board(crowd_sd), 30, seed=3)
    assert linked + 2 * error >= 0.93
    assert crowd_sd < 5 or without < linked
    assert crowd_sd or ratio <= 1.5


def test_systems_without_anchors_are_estimated_as_before_and_have_no_order():
    *columns, campaigns = draw_board(Board(n_anchors=0), np.random.default_rng(1))
    found = estimate_systems(*columns, campaigns=campaigns)
    before = estimate_systems(*columns)
    assert found.means.tolist() == before.means.tolist()
    assert np.diag(found.variance).tolist() == np.diag(before.variance).tolist()
    upper = np.triu_indices(5, 1)
    assert (found.p_values[upper] == 1).all()
    assert np.isinf(found.variance[upper]).all()


def test_anchors_count_as_ratings_of_no_system_and_order_does_not_matter():
    *columns, campaigns = draw_board(Board(5.0), np.random.default_rng(2))
    found = estimate_systems(*columns, campaigns=campaigns)
    assert found.n.tolist() == [100] * 5
    assert found.n_workers.max() <= 10
    order = np.random.default_rng(3).permutation(len(campaigns))
    turned = estimate_systems(
        *(column[order] for column in columns), campaigns=campaigns[order]
    )
    assert turned.means == pytest.approx(found.means, abs=1e-8)
    weights = np.ones(len(campaigns))
    weighed = estimate_systems(*columns, campaigns=campaigns, weights=weights)
    assert weighed.means == pytest.approx(found.means)


def test_crowds_with_a_known_distance_are_brought_together():
    *columns, campaigns = draw_board(Board(n_systems=2), np.random.default_rng(4))
    columns[0] = columns[0] + 40.0 * campaigns
    found = estimate_systems(*columns, campaigns=campaigns).difference("1", "0")
    assert abs(found.estimate) < 20
    assert found.low < 0 < found.high


def test_equal_ratings_are_linked_without_doubt():
    found = estimate_systems(
        [5.0] * 12,
        list("aaaaabbbbbbb"),
        [1, 2] * 3 + [3, 4] * 3,
        campaigns=list("xxxyyyyyyyyy"),
    )
    assert found.means.tolist() == pytest.approx([5.0, 5.0])
