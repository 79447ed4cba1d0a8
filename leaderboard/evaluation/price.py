"""What asking people costs, to the cent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from crowd.pricing import Quote
from crowd.pricing import quote as price
from leaderboard.models import Task
from leaderboard.services import asking


def price_of(
    human: Mapping[str, Any],
    *,
    n_items: int,
    n_test_questions: int,
    ratings_per_item: int,
) -> Quote:
    """Price items that a task's table asks about, each judged by so many people."""
    return price(
        platform=str(human.get("platform", "selfhosted")),
        reward_cents=int(human["reward_cents"]),
        n_items=n_items,
        n_test_questions=n_test_questions,
        ratings_per_item=ratings_per_item,
        repost_share=float(human.get("repost_share", 0.1)),
        max_assignments=ratings_per_item,
    )


def quote_part(task: Task) -> Quote:
    """Price one campaign of a submission; with separate criteria there are several."""
    return price_of(
        task.human,
        n_items=task.sample_size,
        n_test_questions=sum(asking.n_test_questions(task.human, task.sample_size)),
        ratings_per_item=ratings_per_instance(task),
    )


def quote_single(task: Task) -> Quote:
    """Price the human evaluation of one submission."""
    one, n = quote_part(task), len(asking.separate(task.human))
    return times(one, n) if n > 1 else one


def ratings_per_instance(task: Task) -> int:
    """Say how many people judge each instance of a submission."""
    return int(task.human.get("ratings_per_instance", 1))


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
