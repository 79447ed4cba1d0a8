"""Test questions for tests: placed in a campaign, answered and graded."""

from datetime import timedelta

from django.utils import timezone

from crowd.hits.services.build import inputs_for
from crowd.models import HIT, Assignment, Item, Rating
from quality.models import Grade, TestQuestion

TASK = "tidy-news"


def place(campaign, item, polarity="NEGATIVE", **fields):
    return TestQuestion.objects.create(
        campaign=campaign, item=item, polarity=polarity, **fields
    )


def grade(test_question, assignment, *, correct=False, pool=TASK):
    return Grade.objects.create(
        test_question=test_question,
        assignment=assignment,
        worker=assignment.worker,
        pool_id=pool,
        polarity=test_question.polarity,
        correct=correct,
    )


def graded(campaign, worker, marks, polarity="NEGATIVE", pool=TASK):
    """Let a worker answer new test questions, rightly at each "r" of the marks."""
    now, first = timezone.now(), TestQuestion.own.count()
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
    test_questions = TestQuestion.objects.bulk_create(
        TestQuestion(campaign=campaign, item=one, polarity=polarity) for one in items
    )
    done = {"state": "SUBMITTED", "reward_cents": 9, "accepted_at": now}
    done |= {"deadline_at": now + timedelta(minutes=30), "submitted_at": now}
    work = Assignment.objects.bulk_create(
        Assignment(hit=hit, worker=worker, **done) for hit in hits
    )
    said = {"criterion": "overall", "value": 0.25, "raw": "0.25"}
    Rating.objects.bulk_create(
        Rating(assignment=one, item=item, **said)
        for one, item in zip(work, items, strict=True)
    )
    of = {"worker": worker, "pool_id": pool, "polarity": polarity}
    Grade.objects.bulk_create(
        Grade(test_question=test_question, assignment=one, correct=mark == "r", **of)
        for test_question, one, mark in zip(test_questions, work, marks, strict=True)
    )
