"""The default rule is valid over workers: equal systems are seldom told apart."""

import numpy as np
import pytest

from benchmarks.bench_comparisons import crowd, n_decided
from leaderboard.stats.stopping.outlook import course_of, labels_needed
from leaderboard.stats.stopping.sequential import Comparison, SignFlips

RULE = SignFlips(0.025)


@pytest.mark.parametrize(("n_workers", "loads"), [(10, "half"), (60, "uneven")])
def test_equal_systems_are_decided_in_five_percent_of_comparisons(n_workers, loads):
    decided, _ = n_decided(200, n_workers, 300, sd=0.6, loads=loads)
    # at most 3% on average: 1 in 1,000 samples of 200 has more than 14
    assert decided <= 14


@pytest.mark.parametrize("sd", [0.3, 0.6])
def test_sixty_workers_of_ten_labels_find_the_better_system(sd):
    _, found = n_decided(40, 60, 600, sd=sd, share=0.65)
    assert found >= 36


def test_the_fewest_workers_decide_if_they_agree_and_one_less_does_not():
    n = 420
    fewest = RULE.fewest_workers(n)
    for n_workers, side in ((fewest, "A"), (fewest - 1, "undecided")):
        made = Comparison(RULE).extend(np.ones(n), np.arange(n) % n_workers)
        assert made.side == side
    # without workers' names all labels count as one worker's
    assert Comparison(RULE).extend(np.ones(n)).side == "undecided"


def test_swapping_or_renaming_changes_nothing_else():
    worker, labels = crowd(np.random.default_rng(5), 12, 300, sd=0.3, share=0.75)
    one = Comparison(RULE).extend(labels, worker)
    swapped = Comparison(RULE).extend(1 - labels, worker)
    named = Comparison(RULE).extend(labels, [f"w{w}" for w in worker])
    assert (one.side, swapped.side, one.n) == ("A", "B", swapped.n)
    assert one == named
    assert one.low == pytest.approx(1 - swapped.high)
    # labels after the decision are not used
    assert Comparison(RULE).extend(labels[: one.n], worker[: one.n]) == one


def test_the_interval_leaves_one_half_with_the_decision():
    worker, labels = crowd(np.random.default_rng(6), 12, 300, sd=0.3, share=0.75)
    n = Comparison(RULE).extend(labels, worker).n
    course = course_of(RULE, labels[:n], worker[:n], most_points=n)
    assert (course.low <= 0.5).tolist() == [True] * (n - 1) + [False]
    assert (course.high <= 1).all()
    needed = labels_needed(RULE, labels[: n - 1], worker[: n - 1])
    assert n - 1 <= needed < 2 * n
    assert labels_needed(RULE, [1.0] * 99, np.arange(99) % 5) is None
