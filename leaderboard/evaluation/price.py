"""What asking people costs, to the cent."""

from __future__ import annotations

from dataclasses import replace

from crowd.pricing import Quote
from leaderboard.tasks.models import Task


def quote_part(task: Task) -> Quote:
    """Price one campaign of a submission; with separate criteria there are several."""
    human = task.human
    return human.quote(
        n_items=task.sample_size,
        n_test_questions=sum(human.n_test_questions(task.sample_size)),
        ratings_per_item=human.ratings_per_instance,
    )


def quote_single(task: Task) -> Quote:
    """Price the human evaluation of one submission."""
    one, n = quote_part(task), len(task.human.separate())
    return times(one, n) if n > 1 else one


def times(one: Quote, n: int) -> Quote:
    """Price the same several times over."""
    return Quote(
        reward_cents=n * one.reward_cents,
        fee_cents=n * one.fee_cents,
        test_question_cents=n * one.test_question_cents,
        repost_cents=n * one.repost_cents,
        total_cents=n * one.total_cents,
        n_assignments=n * one.n_assignments,
        lines=tuple(
            replace(line, n=n * line.n, cents=n * line.cents) for line in one.lines
        ),
    )


def share_of(cents: int, n: int, place: int) -> int:
    """Split cents into n parts that add up to them; the first ones get the odd cents.

    Examples
    --------
    >>> [share_of(10, 3, place) for place in range(3)]
    [4, 3, 3]
    """
    return cents // n + (place < cents % n)
