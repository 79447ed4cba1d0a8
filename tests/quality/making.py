"""Test questions for tests: placed in a campaign, answered and graded."""

from datetime import timedelta

from django.utils import timezone

from crowd.hits.services.build import inputs_for
from crowd.models import HIT, Answer, Assignment, Item
from quality.models import Grade, Placement

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
        pool_id=pool,
        polarity=placement.polarity,
        correct=correct,
    )


def graded(campaign, worker, marks, polarity="NEGATIVE", pool=TASK):
    """Let a worker answer new test questions, rightly at each "r" of the marks."""
    now, first = timezone.now(), Placement.own.count()
    keys = [f"t{first + n}" for n in range(len(marks))]
    inputs, at = inputs_for(campaign, keys), campaign.hits.count()
    hits = HIT.objects.bulk_create(
        HIT(campaign=campaign, input=inputs[key], position=at + n, n_available=1)
        for n, key in enumerate(keys)
    )
    shown = {"campaign": campaign, "data": {"prediction": "text"}}
    items = Item.objects.bulk_create(
        Item(hit=hit, key=key, content_key=key, **shown)
        for hit, key in zip(hits, keys, strict=True)
    )
    placements = Placement.objects.bulk_create(
        Placement(campaign=campaign, item=one, polarity=polarity) for one in items
    )
    done = {"state": "SUBMITTED", "reward_cents": 9, "accepted_at": now}
    done |= {"deadline_at": now + timedelta(minutes=30), "submitted_at": now}
    work = Assignment.objects.bulk_create(
        Assignment(hit=hit, worker=worker, **done) for hit in hits
    )
    said = {"criterion": "overall", "value": 0.25, "raw": "0.25"}
    Answer.objects.bulk_create(
        Answer(assignment=one, item=item, **said)
        for one, item in zip(work, items, strict=True)
    )
    of = {"worker": worker, "pool_id": pool, "polarity": polarity}
    Grade.objects.bulk_create(
        Grade(placement=placement, assignment=one, correct=mark == "r", **of)
        for placement, one, mark in zip(placements, work, marks, strict=True)
    )
