"""Systems with ratings behind their scores, written straight into the database."""

import numpy as np
from django.utils import timezone

from crowd.hits.services.build import inputs_for
from crowd.models import HIT, Assignment, Campaign, Item, Rating
from leaderboard.evaluation import run
from leaderboard.evaluation.services.refit import refit_board
from leaderboard.models import Subject
from tests.factories import (
    make_evaluation,
    make_predictions,
    make_submission,
    make_task,
    make_worker,
)
from tests.kept import kept

CRITERIA = {"fluency": "Is it fluent?", "truth": "Is it true?"}
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
        published_at=timezone.now()
    )
    type(evaluation).objects.filter(pk=evaluation.pk).update(final_at=timezone.now())
    evaluation.scores.update(provisional=False)
    refit_board(task)
    submission.refresh_from_db()
    return submission


def rate(evaluation, instance, worker, values, *, slot="", key=None):
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
    Subject.objects.create(evaluation=evaluation, item=item, instance=instance)
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
    Rating.objects.bulk_create(
        [
            Rating(
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


def three_systems(team, owner):
    """Judge three systems on 40 instances by two criteria, on which the best depends."""
    return kept("three by two criteria", lambda: _three_systems(team, owner))


def _three_systems(team, owner):
    task = make_task(n_instances=40, sample_size=40)
    task.config["human"]["criteria"] = CRITERIA
    task.save()
    workers = [make_worker() for _ in range(8)]
    both = {"owner": owner, "team": team, "workers": workers}
    judge(task, {"fluency": 0.9, "truth": 0.3}, seed=1, system="Fluent", **both)
    judge(task, {"fluency": 0.3, "truth": 0.9}, seed=2, system="True", **both)
    judge(task, {"fluency": 0.86, "truth": 0.32}, seed=3, system="Near", **both)
    return task
