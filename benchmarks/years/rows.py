"""What stands in the tables after years: tasks, systems, crowds, an account.

A task has 1,000 instances, 100 systems and a crowd of 1,000 workers; of each system 200
outputs have five ratings. Five systems of each task are being judged: half of their HITs
are open. 10,000,000 judgments are 100 such tasks, 100,000 judgments are one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np

from benchmarks.years.bulk import fill, loading

EACH, JUDGED, RATINGS = 1_000, 200, 5
SYSTEMS = 100
TESTS = 4
BEING_JUDGED = 5
METRICS = ("sacrebleu", "rougeL")
CONFIG = {
    "fields": {"source": "Text"},
    "source": {"field": "source"},
    "metrics": {"use": list(METRICS), "headline": list(METRICS)},
    "human": {
        "design": "direct-assessment",
        "scale": "likert-5",
        "hit_template": "summarization",
        "sample_size": JUDGED,
        "ratings_per_instance": RATINGS,
        "reward_cents": 9,
        "expected_seconds": 20,
        "criteria": {"overall": "Is it good?"},
    },
}


@dataclass(frozen=True)
class Size:
    """How much there is of everything."""

    judgments: int

    @property
    def tasks(self) -> int:
        return max(1, self.judgments // (SYSTEMS * JUDGED * RATINGS))

    @property
    def systems(self) -> int:
        """Count the systems of one task."""
        return self.judgments // (self.tasks * JUDGED * RATINGS)

    @property
    def being_judged(self) -> int:
        return max(1, self.systems * BEING_JUDGED // SYSTEMS)

    @property
    def crowd(self) -> int:
        """Count the workers of one task."""
        return self.systems * 10

    @property
    def posted(self) -> int:
        """Count the HITs of the account that posts by program."""
        return self.judgments // 10


def slug(task: int) -> str:
    return f"years-{task}"


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
        board.JudgedItem,
        board.Score,
        crowd.Worker,
        crowd.Campaign,
        crowd.Input,
        crowd.HIT,
        crowd.Item,
        crowd.Assignment,
        crowd.Answer,
        crowd.LedgerEntry,
        quality.Placement,
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
        _make_account(size, now)


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


def _after(first: int, n: int) -> range:
    return range(first + 1, first + n + 1)


def _make_task(size: Size, task: int, at: Any, owner: Any) -> None:
    from crowd.models import Worker
    from leaderboard.models import Instance, Task

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
        id=_after(task * EACH, EACH),
        task_id=task + 1,
        instance_id=[f"i{k}" for k in range(EACH)],
        position=range(EACH),
        fields={"source": "A text that somebody wrote."},
        references=["A reference that somebody wrote."],
        sample_rank=range(EACH),
    )
    crowd = _after(task * size.crowd, size.crowd)
    fill(
        Worker,
        size.crowd,
        id=crowd,
        platform_worker_id=[f"W{pk}" for pk in crowd],
        pseudonym=[f"w-{pk:010x}" for pk in crowd],
        created_at=at,
    )
    _make_systems(size, task, at, owner)
    _make_work(size, task, at)


def _make_systems(size: Size, task: int, at: Any, owner: Any) -> None:
    from crowd.models import Campaign
    from leaderboard import models as board

    n, open_ = size.systems, size.being_judged
    done = n - open_
    systems = _after(task * n, n)

    def states(published: str, judged: str) -> list[str]:
        return [published] * done + [judged] * open_

    fill(
        board.HumanEvaluation,
        n,
        id=systems,
        task_id=task + 1,
        strategy="single",
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
            id=_after((task * len(METRICS) + place) * n, n),
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
        pool=slug(task),
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
    scored = _after(task * n, done)
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


def _make_work(size: Size, task: int, at: Any) -> None:
    """Write what workers were asked and what they answered."""
    from crowd import models as crowd
    from leaderboard.models import JudgedItem, Prediction
    from quality.models import Grade, Placement

    n, shown = size.systems, JUDGED + TESTS
    inputs = task * shown
    fill(
        crowd.Input,
        shown,
        id=_after(inputs, shown),
        scope=slug(task),
        content_key=[f"input-{k}" for k in range(shown)],
    )
    system, instance = (
        grid.ravel() for grid in np.mgrid[0:n, 0:JUDGED].astype(np.int64)
    )
    open_now = (system >= n - size.being_judged) & (instance >= JUDGED // 2)
    n_hits = n * JUDGED
    before = task * (n_hits + TESTS)
    hits = _after(before, n_hits + TESTS)
    # the tests are HITs of the first system that is being judged
    of_tests = task * n + n - size.being_judged + 1
    campaign = [*(task * n + system + 1).tolist(), *[of_tests] * TESTS]
    fill(
        crowd.HIT,
        len(hits),
        id=hits,
        campaign_id=campaign,
        input_id=[*(inputs + instance + 1).tolist(), *_after(inputs + JUDGED, TESTS)],
        position=[*instance.tolist(), *range(JUDGED, shown)],
        n_available=[*np.where(open_now, RATINGS, 0).tolist(), *[0] * TESTS],
        max_assignments=[RATINGS] * n_hits + [size.crowd] * TESTS,
    )
    texts = {
        "fields": [{"label": "Text", "text": "A text.", "lang": "en"}],
        "prediction": "An output that a system gave.",
        "lang": "en",
    }
    fill(
        crowd.Item,
        len(hits),
        id=hits,
        campaign_id=campaign,
        hit_id=hits,
        key=[f"item-{pk}" for pk in hits],
        data=texts,
        content_key=[*(f"input-{k}" for k in instance), *["test"] * TESTS],
    )
    asked = _after(task * n_hits, n_hits)
    instances = (task * EACH + instance + 1).tolist()
    fill(
        JudgedItem,
        n_hits,
        id=asked,
        evaluation_id=campaign[:n_hits],
        item_id=hits[:n_hits],
        instance_id=instances,
    )
    fill(
        Prediction,
        n_hits,
        id=asked,
        submission_id=campaign[:n_hits],
        instance_id=instances,
        text="An output that a system gave.",
    )
    done = np.flatnonzero(~open_now)
    hit = np.repeat(done, RATINGS)
    rating = np.tile(np.arange(RATINGS), len(done))
    worker = (instance[hit] * 7 + system[hit] * RATINGS + rating) % size.crowd
    everybody = np.arange(size.crowd)
    hit = np.concatenate(
        [hit, np.repeat(np.arange(n_hits, n_hits + TESTS), size.crowd)]
    )
    worker = np.concatenate([worker, np.tile(everybody, TESTS)])
    first = task * (n_hits * RATINGS + TESTS * size.crowd)
    work = _after(first, len(hit))
    hit_pks = (before + hit + 1).tolist()
    worker_pks = (task * size.crowd + worker + 1).tolist()
    fill(
        crowd.Assignment,
        len(work),
        id=work,
        hit_id=hit_pks,
        worker_id=worker_pks,
        state="APPROVED",
        reward_cents=9,
        accepted_at=at,
        deadline_at=at,
        submitted_at=at,
        decided_at=at,
        active_seconds=20.0,
    )
    rng = np.random.default_rng(task)
    quality = np.concatenate([0.4 + 0.4 * rng.random(n), [0.1]])
    of = np.concatenate([system, np.full(TESTS, n)])[hit]
    points = rng.binomial(4, quality[of])
    fill(
        crowd.Answer,
        len(work),
        id=work,
        assignment_id=work,
        item_id=hit_pks,
        criterion="overall",
        value=(points / 4).tolist(),
        raw=(points + 1).tolist(),
    )
    fill(
        crowd.LedgerEntry,
        len(work),
        id=work,
        idempotency_key=[f"reward:{pk}" for pk in work],
        campaign_id=[campaign[k] for k in hit.tolist()],
        assignment_id=work,
        kind="REWARD",
        state="DONE",
        amount_cents=9,
        created_at=at,
        done_at=at,
    )
    placed = _after(task * TESTS, TESTS)
    fill(
        Placement,
        TESTS,
        id=placed,
        campaign_id=of_tests,
        item_id=hits[n_hits:],
        polarity="NEGATIVE",
    )
    n_graded = TESTS * size.crowd
    fill(
        Grade,
        n_graded,
        id=_after(task * n_graded, n_graded),
        placement_id=np.repeat(placed, size.crowd).tolist(),
        assignment_id=work[-n_graded:],
        worker_id=worker_pks[-n_graded:],
        pool=slug(task),
        criterion="overall",
        polarity="NEGATIVE",
        correct=(points[-n_graded:] <= 1).tolist(),
        graded_at=at,
    )


def _make_account(size: Size, now: Any) -> None:
    """Write the account of somebody who has posted by program for years."""
    from crowd import models as crowd

    n = size.posted
    at, ends = now - timedelta(days=30), now + timedelta(days=30)
    deposit = 100 * n + 10**6
    n_approved = sum(pk % 4 in (1, 2) for pk in range(1, n + 1))
    requester = crowd.Requester.objects.create(
        pk=1,
        name="Rita",
        balance_cents=deposit - 48 * n_approved,
        held_cents=48 * (n - n_approved),
    )
    crowd.RequesterHITType.objects.create(
        pk=1,
        requester=requester,
        fingerprint="years",
        title="Say how it reads",
        description="Read it.",
        reward_cents=40,
        assignment_seconds=600,
        auto_approval_seconds=10**7,
    )
    n_names = min(100, size.crowd)
    names = _after(0, n_names)
    fill(
        crowd.WorkerAlias,
        n_names,
        requester_id=1,
        worker_id=names,
        customer_id=[f"A{pk:013d}" for pk in names],
    )
    hits = _after(0, n)
    # of four, two are approved, one is to be reviewed, one is still to be done
    fill(
        crowd.RequesterHIT,
        n,
        requester_id=1,
        hit_type_id=1,
        entity_id=[f"3H{pk:028d}" for pk in hits],
        question="<a question/>",
        max_assignments=1,
        reward_cents=40,
        fee_cents=8,
        created_at=at,
        expires_at=ends,
        touched_at=at,
        announced=[pk % 4 != 0 for pk in hits],
        held_cents=[0 if pk % 4 in (1, 2) else 48 for pk in hits],
        held_as_open=True,
    )
    done = [pk for pk in hits if pk % 4]
    approved = [pk for pk in done if pk % 4 != 3]
    fill(
        crowd.RequesterAssignment,
        len(done),
        hit_id=done,
        worker_id=[pk % n_names + 1 for pk in done],
        entity_id=[f"3A{pk:028d}" for pk in done],
        state=["Submitted" if pk % 4 == 3 else "Approved" for pk in done],
        accepted_at=at,
        deadline_at=at,
        submitted_at=at,
        auto_approval_at=ends,
        approved_at=[None if pk % 4 == 3 else at for pk in done],
        answer="<an answer/>",
    )
    kinds = [("REWARD", -40), ("FEE", -8)]
    fill(
        crowd.RequesterEntry,
        len(approved) * 2 + 1,
        requester_id=1,
        key=["deposit:1:0"] + [f"{kind}:{pk}" for kind, _ in kinds for pk in approved],
        kind=["DEPOSIT"] + [kind for kind, _ in kinds for _ in approved],
        amount_cents=[deposit] + [cents for _, cents in kinds for _ in approved],
        created_at=at,
    )
