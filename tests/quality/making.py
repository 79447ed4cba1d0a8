"""Test questions for tests: placed in a campaign, answered and graded."""

from __future__ import annotations

from quality.models import Grade, Placement
from tests.factories import answer, make_item

TASK = "tidy-news"


def place(campaign, item, polarity="NEGATIVE", **fields):
    return Placement.objects.create(
        campaign=campaign, item=item, polarity=polarity, **fields
    )


def grade(placement, assignment, *, correct=False, pool=TASK):
    return Grade.objects.create(
        placement=placement,
        assignment=assignment,
        worker=assignment.worker,
        pool=pool,
        polarity=placement.polarity,
        correct=correct,
    )


def graded(campaign, worker, marks, polarity="NEGATIVE", pool=TASK):
    """Let a worker answer new test questions, rightly at each "r" of the marks."""
    for mark in marks:
        item = make_item(campaign, f"t{Placement.objects.count()}")
        placement = place(campaign, item, polarity)
        grade(placement, answer(item, worker, 0.25), correct=mark == "r", pool=pool)
