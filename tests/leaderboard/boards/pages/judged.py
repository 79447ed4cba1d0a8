"""Systems with ratings behind their scores, written straight into the database."""

from __future__ import annotations

import numpy as np
from django.utils import timezone

from crowd.hits.services.inputs import inputs_for
from crowd.models import HIT, Answer, Assignment, Campaign, Item
from leaderboard.evaluation import run
from leaderboard.evaluation.services.refit import refit_board
from leaderboard.models import JudgedItem
from tests.factories import make_evaluation, make_predictions, make_submission

STEPS = np.array([0, 0.25, 0.5, 0.75, 1.0])


def judge(task, quality, *, workers, seed=1, owner, team, system="Kite", **fields):
    """Publish a system whose outputs get random ratings, better with more quality.

    `quality` is one number, or one a criterion; the scores are the service's own.
    """
    criteria = list(task.human.criteria)
    level = dict.fromkeys(criteria, quality) if isinstance(quality, float) else quality
    submission = make_submission(
        task, team=team, owner=owner, system=system, state="ANNOTATED", **fields
    )
    make_predictions(submission)
    evaluation = make_evaluation(submission, n=0, state=Campaign.State.COMPLETE)
    rng = np.random.default_rng(seed)
    instances = list(task.instances.order_by("sample_rank")[: task.sample_size])
    for place, instance in enumerate(instances):
        values = {name: float(STEPS[rng.binomial(4, level[name])]) for name in criteria}
        rate(evaluation, instance, workers[place % len(workers)], values)
    evaluation.n_instances = len(instances)
    evaluation.save()
    run.step(evaluation.pk)
    type(submission).objects.filter(pk=submission.pk).update(
        state="PUBLISHED", published_at=timezone.now()
    )
    refit_board(task)
    submission.refresh_from_db()
    return submission


def rate(evaluation, instance, worker, values, *, slot="", key=None):
    """Add one item of an instance, and one worker's answers to it."""
    campaign = evaluation.campaign
    key = key or f"{instance.instance_id}-{campaign.items.count()}"
    hit = HIT.objects.create(
        campaign=campaign,
        input=inputs_for(campaign, [key])[key],
        position=campaign.hits.count(),
        n_available=0,
    )
    item = Item.objects.create(
        campaign=campaign, hit=hit, key=key, data={}, content_key=key
    )
    JudgedItem.objects.create(evaluation=evaluation, item=item, instance=instance)
    now = timezone.now()
    assignment = Assignment.objects.create(
        hit=hit,
        worker=worker,
        state=Assignment.State.APPROVED,
        reward_cents=9,
        accepted_at=now,
        deadline_at=now,
        submitted_at=now,
        active_seconds=20.0,
    )
    Answer.objects.bulk_create(
        [
            Answer(
                assignment=assignment,
                item=item,
                criterion=name,
                slot=slot,
                value=value,
                raw=str(value),
            )
            for name, value in values.items()
        ]
    )
    return item
