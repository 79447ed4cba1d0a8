"""What asking people costs, to the cent."""

from __future__ import annotations

from crowd.pricing import Quote
from leaderboard.tasks.models import Task


def quote_part(task: Task) -> Quote:
    """Price one campaign of a submission; with separate criteria there are several."""
    human = task.human
    return human.price(
        n_items=task.sample_size,
        n_test_questions=sum(human.n_test_questions(task.sample_size)),
        ratings_per_item=human.ratings_per_instance,
    )


def quote_single(task: Task) -> Quote:
    """Price the human evaluation of one submission."""
    return quote_part(task).times(len(task.human.separate()))
