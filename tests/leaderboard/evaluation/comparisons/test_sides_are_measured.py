"""Which side an output stands on: corrected in comparisons where wanted."""

import pytest

from leaderboard.evaluation.selectors.comparison_labels import (
    with_balanced_sides,
)
from leaderboard.models import Task
from leaderboard.stats.stopping.sequential import Decision

pytestmark = pytest.mark.django_db

DECISION = Decision("A", 4, 0.75, 0.55, 0.9, 0.95, "beta-mixture", True)


def test_both_sides_count_equally_and_the_decision_stays():
    labels, slots = [1.0, 1.0, 1.0, 0.5, 0.0], ["A", "A", "A", "B", "B"]
    found = with_balanced_sides(DECISION, labels, slots)
    # what came after the decision is not used; the interval is the rule's
    assert (found.estimate, found.side, found.n) == (0.75, "A", 4)
    assert (found.low, found.high) == (0.55, 0.9)
    far = with_balanced_sides(DECISION, [1.0, 1.0, 1.0, 0.0], slots[:4])
    assert far.estimate == 0.55  # one half lies outside what the rule allows for
    alone = with_balanced_sides(DECISION, [1.0, 0.0], ["A", "A"])
    assert alone.estimate == DECISION.estimate


def test_a_comparison_is_estimated_so_where_the_task_says_it(
    right, wrong, ask, finish, task
):
    human = {**task.config["human"], "correct_side": True}
    Task.objects.filter(pk=task.pk).update(config={**task.config, "human": human})
    found = finish(ask(right, wrong, delta=0.3, max_pairs=16))
    assert found.sides_balanced
    assert (found.state, found.better) == ("DECIDED", "A")
    assert found.low <= found.estimate <= found.high
