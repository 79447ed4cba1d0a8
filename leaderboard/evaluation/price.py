"""Prices of evaluations, to the cent."""

import math

from crowd.platforms.base import kind_of
from crowd.pricing import Quote
from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.anchors import anchor_for, anchor_of
from leaderboard.evaluation.selectors.comparison_labels import n_workers_at_most
from leaderboard.evaluation.services.comparison import Question
from leaderboard.tasks.config import ComparisonConfig, HumanConfig
from leaderboard.tasks.models import Task


def quote_part(task: Task, *, n_anchor_items: int = 0) -> Quote:
    human = task.human
    return human.price(
        n_items=task.sample_size,
        n_test_questions=sum(human.n_test_questions(task.sample_size)),
        ratings_per_item=human.ratings_per_instance,
        n_anchor_items=n_anchor_items,
    )


def quote_single(task: Task, *, n_anchor_items: int = 0) -> Quote:
    part = quote_part(task, n_anchor_items=n_anchor_items)
    return part.times(len(task.human.separate()))


def quote_of(evaluation: HumanEvaluation) -> Quote:
    anchor = anchor_for(evaluation)
    return quote_single(evaluation.task, n_anchor_items=anchor.n if anchor else 0)


def quote_side_by_side(human: HumanConfig, n_instances: int, n_workers: int) -> Quote:
    n_campaigns = len(human.separate())
    tests = sum(human.n_test_questions(n_instances))
    return human.price(
        n_items=n_campaigns * n_instances,
        n_test_questions=n_campaigns * tests,
        ratings_per_item=n_workers,
    )


def quote_comparison(human: ComparisonConfig, asked: Comparison | Question) -> Quote:
    """Price a comparison that uses all of its pairs."""
    return human.price(
        n_items=asked.max_pairs,
        n_test_questions=human.n_tests_among(asked.max_pairs),
        ratings_per_item=n_workers_at_most(asked.strategy, asked.n_workers),
    )


def cents_per_rating(task: Task) -> float:
    """Return the cost of one more rating with fee, test questions and re-posting."""
    # the whole price over the ratings it buys: test questions, anchors and fees are in
    # each rating's share
    n = task.sample_size * task.human.ratings_per_instance
    anchor = anchor_of(task)
    part = quote_part(task, n_anchor_items=anchor.n if anchor else 0)
    return part.total_cents / n if n else 0.0


def crowd_wanted(task: Task, *, n_anchor_items: int = 0) -> str:
    human = task.human
    n = task.sample_size
    n_tests = sum(human.n_test_questions(n))
    n_items = n + n_tests + n_anchor_items
    n_hits = n_items * human.ratings_per_instance
    wanted = f"At least {human.n_workers_wanted:,}."
    platform = kind_of(human.platform)
    if platform.capabilities.answers_there:
        return f"{wanted} {platform.title} lets each do as many HITs as they like."
    if human.share_of_one == 1:
        return f"{wanted} Each may do as many HITs as they like."
    percent = round(100 * human.share_of_one)
    each = f"{math.ceil(human.share_of_one * n_hits - 1e-9):,} of {n_hits:,} HITs"
    sentence = f"{wanted} Each may do at most {percent} % of a campaign: {each}."
    if human.share_follows_crowd:
        sentence += " Where fewer are active, each may do up to twice an equal part."
    return sentence
