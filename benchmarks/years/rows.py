"""What stands in the tables after years: tasks, systems, crowds, an account.

A task has 1,000 instances, 100 systems and a crowd of 1,000 workers; of each system 200
outputs have five ratings. Five systems of each task are being judged: half of their HITs
are open. 10,000,000 judgments are 100 such tasks, 100,000 judgments are one.
"""

from datetime import timedelta
from typing import Any

from benchmarks.years.account import make_account
from benchmarks.years.bulk import fill, loading
from benchmarks.years.size import (
    CONFIG,
    EACH,
    JUDGED,
    METRICS,
    RATINGS,
    Size,
    after,
    slug,
)
from benchmarks.years.work import make_work


def make(size: Size) -> None:
    """Fill an empty database."""
    from django.utils import timezone

    from crowd import models as crowd
    from leaderboard import models as board
    from quality import models as quality

    tables = [
        board.Task,
        board.Instance,
        board.Submission,
        board.SubmissionEvent,
        board.Prediction,
        board.MetricResult,
        board.HumanEvaluation,
        board.EvaluatedSystem,
        board.EvaluationCampaign,
        board.Subject,
        board.Score,
        crowd.Worker,
        crowd.Campaign,
        crowd.Input,
        crowd.HIT,
        crowd.Item,
        crowd.Assignment,
        crowd.Rating,
        crowd.LedgerEntry,
        quality.TestQuestion,
        quality.Grade,
        crowd.WorkerAlias,
        crowd.RequesterHIT,
        crowd.RequesterAssignment,
        crowd.RequesterEntry,
    ]
    who = _people()
    now = timezone.now()
    with loading(tables):
        for task in range(size.tasks):
            at = now - timedelta(days=size.tasks - task)
            _make_task(size, task, at, who)
        make_account(size, now)


def _people() -> Any:
    from django.contrib.auth import get_user_model

    from crowd.models import HITType
    from leaderboard.models import Team

    users = get_user_model().objects
    users.create_superuser("staff")
    owner = users.create(username="maria")
    HITType.objects.create(
        template="summarization",
        scale="likert-5",
        criteria={"overall": "Is it good?"},
        title="Judge",
        description="Judge.",
        reward_cents=9,
        fingerprint="years",
    )
    Team.objects.create(slug="kestrel", name="Kestrel")
    return owner


def _make_task(size: Size, task: int, at: Any, owner: Any) -> None:
    from crowd.models import Pool, Worker
    from leaderboard.models import Instance, Task

    Pool.objects.create(slug=slug(task))
    Task.objects.create(
        pk=task + 1,
        slug=slug(task),
        title=f"Task {task}",
        kind="summarization",
        config=CONFIG,
        release_sha256="0" * 64,
        n_instances=EACH,
        sample_seed=1,
    )
    fill(
        Instance,
        EACH,
        id=after(task * EACH, EACH),
        task_id=task + 1,
        instance_id=[f"i{k}" for k in range(EACH)],
        position=range(EACH),
        fields={"source": "A text that somebody wrote."},
        references=["A reference that somebody wrote."],
        sample_rank=range(EACH),
    )
    crowd = after(task * size.crowd, size.crowd)
    fill(
        Worker,
        size.crowd,
        id=crowd,
        platform_worker_id=[f"W{pk}" for pk in crowd],
        pseudonym=[f"w-{pk:010x}" for pk in crowd],
        created_at=at,
    )
    _make_systems(size, task, at, owner)
    make_work(size, task, at)


def _make_systems(size: Size, task: int, at: Any, owner: Any) -> None:
    from crowd.models import Campaign
    from leaderboard import models as board

    n, open_ = size.systems, size.being_judged
    done = n - open_
    systems = after(task * n, n)

    def states(published: str, judged: str) -> list[str]:
        return [published] * done + [judged] * open_

    fill(
        board.HumanEvaluation,
        n,
        id=systems,
        task_id=task + 1,
        kind="single",
        state=states("SCORED", "ANNOTATING"),
        design="direct-assessment",
        n_instances=JUDGED,
        seed=1,
        requested_by_id=owner.pk,
        created_at=at,
        scored_at=[at] * done + [None] * open_,
        final_at=[at] * done + [None] * open_,
        finished_at=[at] * done + [None] * open_,
    )
    fill(
        board.Submission,
        n,
        id=systems,
        task_id=task + 1,
        team_id=1,
        owner_id=owner.pk,
        system_name=[f"System {pk}" for pk in systems],
        file="submissions/00/years.json",
        file_name="years.json",
        file_sha256="0" * 64,
        file_bytes=1,
        state=states("PUBLISHED", "ANNOTATING"),
        human_evaluation_id=systems,
        created_at=at,
        published_at=[at] * done + [None] * open_,
    )
    fill(
        board.SubmissionEvent,
        n,
        id=systems,
        submission_id=systems,
        state=states("PUBLISHED", "ANNOTATING"),
        sentence="It went on.",
        at=at,
        announced_at=at,
    )
    for place, metric in enumerate(METRICS):
        fill(
            board.MetricResult,
            n,
            id=after((task * len(METRICS) + place) * n, n),
            submission_id=systems,
            metric=metric,
            value=[float(pk % 50) for pk in systems],
            per_instance=[1.0] * 10,
            signature=metric,
        )
    fill(
        Campaign,
        n,
        id=systems,
        key=[f"years:{pk}" for pk in systems],
        pool_id=slug(task),
        title=[f"Task {task}: System {pk}" for pk in systems],
        hit_type_id=1,
        state=states("COMPLETE", "RUNNING"),
        budget_cents=100_000,
        seed=systems,
        starts_at=at,
        created_at=at,
        completed_at=[at] * done + [None] * open_,
    )
    fill(
        board.EvaluationCampaign,
        n,
        id=systems,
        evaluation_id=systems,
        submission_id=systems,
        campaign_id=systems,
        position=0,
    )
    fill(
        board.EvaluatedSystem,
        n,
        id=systems,
        evaluation_id=systems,
        submission_id=systems,
        position=0,
    )
    scored = after(task * n, done)
    means = [30 + 40 * k / done for k in range(done)]
    fill(
        board.Score,
        done,
        id=scored,
        submission_id=scored,
        evaluation_id=scored,
        criterion="overall",
        mean=means,
        low=[mean - 2 for mean in means],
        high=[mean + 2 for mean in means],
        low_50=[mean - 1 for mean in means],
        high_50=[mean + 1 for mean in means],
        n=JUDGED * RATINGS,
        n_workers=size.crowd,
        covers="instances",
        seed=1,
        ratings_sha256="0" * 64,
        signature="years",
        rank_first=[done - k for k in range(done)],
        rank_last=[done - k for k in range(done)],
        created_at=at,
    )
