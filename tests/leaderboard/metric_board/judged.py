"""Systems that (simulated) people have judged, written straight into the database."""

from datetime import timedelta

import numpy as np
from django.utils import timezone

from crowd.hits.services.build import inputs_for
from crowd.models import HIT, Assignment, Campaign, Item, Rating
from leaderboard.metric_runs.selectors import chosen_of
from leaderboard.models import MetricResult, Subject
from tests.factories import make_evaluation, make_score, make_submission, make_worker


def judged_system(task, quality, *, team, owner, n_judged, rng, name, **fields):
    """Publish a system whose texts people rate around `quality` (0 to 1)."""
    submission = make_submission(
        task, team=team, owner=owner, system=name, state="PUBLISHED", **fields
    )
    evaluation = make_evaluation(submission, n=0, state=Campaign.State.COMPLETE)
    instances = list(task.instances.order_by("sample_rank")[:n_judged])
    level = rng.normal(0, 0.15, task.n_instances)
    wanted = np.clip(quality + level[:n_judged], 0, 1)
    values = np.round(4 * wanted) / 4
    rate(evaluation, instances, values)
    make_score(
        submission, 100 * float(values.mean()), evaluation=evaluation, n=n_judged
    )
    submission.test_level = quality + level
    return submission


def rate(evaluation, instances, values, *, worker=None):
    """Answer one item for each instance, each by a worker who does nothing else."""
    campaign, now = evaluation.campaign, timezone.now()
    first = campaign.hits.count()
    worker = worker or make_worker(simulated=campaign.simulated)
    inputs = inputs_for(campaign, [f"{instance.pk}" for instance in instances])
    hits = HIT.objects.bulk_create(
        HIT(
            campaign=campaign,
            input=inputs[f"{instance.pk}"],
            position=first + k,
            n_available=1,
        )
        for k, instance in enumerate(instances)
    )
    items = Item.objects.bulk_create(
        Item(
            campaign=campaign,
            hit=hit,
            key=f"{evaluation.pk}-{instance.pk}",
            data={"prediction": "text"},
            content_key=f"{instance.pk}",
        )
        for hit, instance in zip(hits, instances, strict=True)
    )
    Subject.objects.bulk_create(
        Subject(evaluation=evaluation, item=item, instance=instance)
        for item, instance in zip(items, instances, strict=True)
    )
    assignments = Assignment.objects.bulk_create(
        Assignment(
            hit=hit,
            worker=worker,
            state=Assignment.State.SUBMITTED,
            reward_cents=9,
            accepted_at=now,
            deadline_at=now + timedelta(minutes=30),
            submitted_at=now,
        )
        for hit in hits
    )
    Rating.objects.bulk_create(
        Rating(
            assignment=assignment,
            item=item,
            criterion="overall",
            value=float(value),
            raw=str(value),
        )
        for assignment, item, value in zip(assignments, items, values, strict=True)
    )


def measured(submission, slug, values, *, overall=None):
    """Keep a result of one of the task's metrics, as it is set today."""
    one = next(one for one in chosen_of(submission.task) if one.slug == slug)
    values = np.round(np.asarray(values, dtype=float), 6)
    return MetricResult.objects.create(
        submission=submission,
        metric=slug,
        value=float(values.mean()) if overall is None else overall,
        per_instance=values.tolist(),
        signature=f"{slug}|version:1",
        identity=one.identity,
    )
