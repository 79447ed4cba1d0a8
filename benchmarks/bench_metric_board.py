"""A metric board from the database to the page: what it costs beside its statistics.

python -m benchmarks.bench_metric_board [--systems 100] [--instances 800]

A throw-away database gets judged systems (one answer an instance, each by a worker of
its system) and twelve metrics: eleven of the site's and one that somebody handed in.
Then the board is asked for, computed by its job and shown. Seconds are the
processor's, so that a busy machine changes little. The same numbers, without a
database, are timed beside it: what is left is reading and writing.
"""

import argparse
import resource
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import numpy as np

from benchmarks import world

METRICS = [
    "sacrebleu",
    "bleu",
    "chrf",
    "chrf-plus-plus",
    "ter",
    "rouge1",
    "rouge2",
    "rougeL",
    "rougeLsum",
    "exact-match",
    "token-f1",
]
AT_MOST = 1.25  # of the time of the statistics
PAGE_SECONDS = 0.5


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    found = work()
    return found, time.process_time() - start


def make_task(n: int) -> Any:
    from crowd.models import Pool
    from leaderboard.models import Instance, Task

    human = {
        "design": "direct-assessment",
        "scale": "likert-5",
        "hit_template": "summarization",
        "sample_size": n,
        "reward_cents": 9,
        "criteria": {"overall": "Is it good?"},
    }
    Pool.objects.create(slug="bench")
    task = Task.objects.create(
        slug="bench",
        title="Bench",
        kind="summarization",
        config={
            "fields": {"source": "Text"},
            "source": {"field": "source"},
            "metrics": {"use": METRICS, "headline": METRICS[:1]},
            "human": human,
        },
        release_sha256="0" * 64,
        n_instances=n,
        sample_seed=1,
    )
    Instance.objects.bulk_create(
        Instance(
            task=task,
            instance_id=f"i{k}",
            position=k,
            fields={"source": "text"},
            references=["text"],
            sample_rank=k,
        )
        for k in range(n)
    )
    return task


def judged(task: Any, number: int, owner: Any, team: Any, values: Any) -> Any:
    """Write one published system and an answer for each of its instances."""
    from django.utils import timezone

    from crowd.models import Campaign, HITType, Worker
    from leaderboard.models import (
        EvaluatedSystem,
        EvaluationCampaign,
        HumanEvaluation,
        Score,
        Submission,
    )

    now = timezone.now()
    submission = Submission.objects.create(
        task=task,
        team=team,
        owner=owner,
        system_name=f"System {number}",
        state="PUBLISHED",
        file="none",
        file_name="none",
        file_sha256="0" * 64,
        file_bytes=1,
        published_at=now,
    )
    hit_type, _ = HITType.objects.get_or_create(
        fingerprint="bench",
        defaults={
            "template": "summarization",
            "scale": "likert-5",
            "criteria": {"overall": "Is it good?"},
            "title": "Judge",
            "description": "Judge.",
            "reward_cents": 9,
        },
    )
    campaign = Campaign.objects.create(
        key=f"bench:{number}",
        pool_id=task.slug,
        title="Judge",
        hit_type=hit_type,
        state="COMPLETE",
        budget_cents=1,
        seed=1,
        starts_at=now,
    )
    evaluation = HumanEvaluation.objects.create(
        task=task,
        kind="single",
        state="SCORED",
        requested_by=submission.owner,
        design="direct-assessment",
        n_instances=len(values),
        seed=1,
    )
    submission.human_evaluation = evaluation
    submission.save()
    EvaluationCampaign.objects.create(
        evaluation=evaluation, submission=submission, campaign=campaign, position=0
    )
    EvaluatedSystem.objects.create(
        evaluation=evaluation, submission=submission, position=0
    )
    worker = Worker.objects.create(platform_worker_id=f"W{number}")
    write_answers(task, evaluation, worker, values)
    mean = 100 * float(values.mean())
    Score.objects.create(
        submission=submission,
        evaluation=evaluation,
        criterion="overall",
        mean=mean,
        low=mean - 2,
        high=mean + 2,
        low_50=mean - 1,
        high_50=mean + 1,
        n=len(values),
        n_workers=1,
        covers="instances",
        seed=1,
        ratings_sha256="0" * 64,
        signature="bench",
    )
    return submission


def write_answers(task: Any, evaluation: Any, worker: Any, values: Any) -> None:
    from django.utils import timezone

    from crowd.hits.services.build import inputs_for
    from crowd.models import HIT, Assignment, Item, Rating
    from leaderboard.models import Subject

    campaign, now = evaluation.campaign, timezone.now()
    instances = list(task.instances.order_by("position")[: len(values)])
    shown = inputs_for(campaign, [""])[""]
    hits = HIT.objects.bulk_create(
        HIT(campaign=campaign, input=shown, position=k, n_available=1)
        for k in range(len(values))
    )
    items = Item.objects.bulk_create(
        Item(campaign=campaign, hit=hit, key=f"{hit.pk}", data={}, content_key="")
        for hit in hits
    )
    Subject.objects.bulk_create(
        Subject(evaluation=evaluation, item=item, instance=instance)
        for item, instance in zip(items, instances, strict=True)
    )
    done = Assignment.objects.bulk_create(
        Assignment(
            hit=hit,
            worker=worker,
            state="SUBMITTED",
            reward_cents=9,
            accepted_at=now,
            deadline_at=now + timedelta(hours=1),
            submitted_at=now,
        )
        for hit in hits
    )
    Rating.objects.bulk_create(
        Rating(assignment=a, item=i, criterion="overall", value=float(v), raw=str(v))
        for a, i, v in zip(done, items, values, strict=True)
    )


def fill(n_systems: int, n: int) -> Any:
    """Write the whole world; return its task."""
    from django.contrib.auth import get_user_model
    from django.db import transaction
    from django.utils import timezone

    from leaderboard.metric_runs.selectors import chosen_of
    from leaderboard.models import MetricResult, OutsideMetric, OutsideScores, Team

    rng = np.random.default_rng(1)
    owner = get_user_model().objects.create(username="bench")
    team = Team.objects.create(slug="bench", name="Bench")
    task = make_task(n)
    chosen = {one.slug: one for one in chosen_of(task)}
    outside = OutsideMetric.objects.create(
        task=task,
        owner=owner,
        name="Somebody's",
        file_name="none",
        file_sha256="0" * 64,
        file_format="csv",
        published_at=timezone.now(),
    )
    for number in range(n_systems):
        level = number / n_systems + rng.normal(0, 0.5, n)
        noise = rng.normal(size=n)
        values = np.clip(np.round(2 + level + noise), 0, 4) / 4
        with transaction.atomic():
            submission = judged(task, number, owner, team, values)
            for k, slug in enumerate([*METRICS, ""]):
                sign = -1 if slug == "ter" else 1
                spread = 0.5 + 0.05 * k
                each = sign * (level + 0.3 * values + rng.normal(0, spread, n))
                row = {
                    "submission": submission,
                    "value": float(each.mean()),
                    "per_instance": np.round(each, 6).tolist(),
                }
                if not slug:
                    OutsideScores.objects.create(metric=outside, **row)
                    continue
                identity = chosen[slug].identity
                MetricResult.objects.create(
                    metric=slug, signature=slug, identity=identity, **row
                )
    return task


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", type=int, default=100)
    parser.add_argument("--instances", type=int, default=800)
    args = parser.parse_args()
    world.set_up()
    from django.db import connection, reset_queries
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from leaderboard.metric_board import services
    from leaderboard.metric_board.selectors.snapshot import board_inputs
    from leaderboard.metric_board.stats import snapshot
    from leaderboard.models import MetricBoard

    task, seconds = timed(lambda: fill(args.systems, args.instances))
    print(f"{args.systems} systems x 12 metrics x {args.instances} instances")
    print(f"  written in                    {seconds:8.2f} s")
    inputs, seconds = timed(lambda: board_inputs(task, "overall"))
    print(f"  has anything changed?         {1000 * seconds:8.1f} ms")
    spent: list[float] = []
    original = snapshot.metric_board

    def spy(scores: Any, *, seed: int) -> Any:
        found, seconds = timed(lambda: original(scores, seed=seed))
        spent.append(seconds)
        return found

    services.metric_board = spy
    services.refresh(task)
    board = MetricBoard.objects.get()
    _, whole = timed(lambda: services.compute(board.pk))
    board.refresh_from_db()
    assert board.state == "READY", board.failure
    assert len(inputs.metrics) == 12
    statistics = spent[0]
    print(f"  its statistics                {statistics:8.2f} s")
    print(f"  the whole job                 {whole:8.2f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    client, address = Client(headers={"host": "localhost"}), "/tasks/bench/metrics/"
    client.get(address)
    reset_queries()
    with CaptureQueriesContext(connection) as queries:
        page, shown = timed(lambda: client.get(address))
    kilobytes = len(page.content) / 1024
    print(
        f"  the page, shown               {1000 * shown:8.1f} ms, "
        f"{len(queries)} queries, {kilobytes:,.0f} kB"
    )
    kept = whole <= AT_MOST * statistics and shown <= PAGE_SECONDS
    print(
        f"promised at most {AT_MOST} x its statistics and a page in "
        f"{PAGE_SECONDS} s: {'kept' if kept else 'NOT kept'} "
        f"({whole / statistics:.2f} x)"
    )
    print(f"peak memory of the process {peak:,.0f} MB")


if __name__ == "__main__":
    main()
