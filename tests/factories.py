"""Rows for tests, written straight into the database: services have their own tests."""

import hashlib
from copy import deepcopy
from datetime import datetime, timedelta
from itertools import count

from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from crowd.hits.services.build import inputs_for
from crowd.models import (
    HIT,
    Assignment,
    Campaign,
    HITType,
    Item,
    LedgerEntry,
    Pool,
    Rating,
    Worker,
)
from genie.lib.runner import CLEARED
from leaderboard.models import (
    EvaluatedSystem,
    EvaluationCampaign,
    HumanEvaluation,
    Instance,
    Membership,
    MetricResult,
    Prediction,
    Score,
    Subject,
    Submission,
    SubmissionEvent,
    Task,
    Team,
)

State = Submission.State
# what staff decided stands in the evaluation
DECIDED = ("approved_cents", "decided_by", "decision_reason", "start_now")
_number = count(1)

CONFIG = {
    "fields": {"source": "Source text"},
    "source": {"field": "source"},
    "metrics": {
        "use": ["sacrebleu", "chrf", "rougeL", "length"],
        "headline": ["sacrebleu", "rougeL"],
    },
    "human": {
        "design": "direct-assessment",
        "scale": "likert-5",
        "hit_template": "summarization",
        "sample_size": 800,
        "ratings_per_instance": 1,
        "reward_cents": 9,
        "expected_seconds": 20,
        "assignment_minutes": 30,
        "positive_share": 0.05,
        "negative_share": 0.05,
        "repost_share": 0.1,
        "exposure": "task",
        "institution": "Institute of Tidy News",
        "contact": "tidy@example.org",
        "approval": "2026-17",
        "criteria": {"overall": "Is the text as good as one by a person?"},
    },
    "quota": {"submissions": 3, "days": 7},
}


def make_user(name, **fields):
    user = get_user_model()(username=name, **fields)
    user.set_password("a long enough secret")
    user.save()
    return user


def signed_in(user):
    client = Client()
    client.force_login(user)
    return client


def act(client, listed, action, /, *rows, **fields):
    """Choose an action for rows of a list of the admin, as the list's form does."""
    data = {"action": action, "_selected_action": [row.pk for row in rows], **fields}
    return client.post(reverse(f"admin:{listed}_changelist"), data, follow=True)


def make_team(name, *members):
    team = Team.objects.create(slug=f"team-{next(_number)}", name=name)
    for place, member in enumerate(members):
        role = Membership.Role.MEMBER if place else Membership.Role.OWNER
        team.members.add(member, through_defaults={"role": role})
    return team


def make_task(slug="tidy-news", *, n_instances=3, sample_size=None, **fields):
    config = deepcopy({**CONFIG, **fields.pop("config", {})})
    if sample_size is not None:
        config["human"]["sample_size"] = sample_size
    Pool.objects.get_or_create(slug=slug)
    task = Task.objects.create(
        slug=slug,
        title=fields.pop("title", "Tidy news"),
        kind=fields.pop("kind", "summarization"),
        config=config,
        release_sha256="0" * 64,
        n_instances=n_instances,
        sample_seed=1,
        **fields,
    )
    make_instances(task, n_instances)
    return task


def make_instances(task, n):
    return Instance.objects.bulk_create(
        [
            Instance(
                task=task,
                instance_id=f"i{position}",
                position=position,
                fields={"source": f"Source number {position}."},
                references=[f"Reference number {position}."],
                sample_rank=position,
            )
            for position in range(n)
        ]
    )


def make_submission(
    task, *, team, owner, system="Kite", state=State.MEASURED, **fields
):
    name = fields.pop("file_name", "kite.json")
    decided = {key: fields.pop(key) for key in DECIDED if key in fields}
    submission = Submission.objects.create(
        task=task,
        team=team,
        owner=owner,
        system_name=system,
        own_state=state if state in Submission.OWN else State.MEASURED,
        file=f"submissions/00/{name}",
        file_name=name,
        file_sha256=hashlib.sha256(system.encode()).hexdigest(),
        file_bytes=1234,
        published_at=fields.pop(
            "published_at", timezone.now() if state == State.PUBLISHED else None
        ),
        **fields,
    )
    request_evaluation(submission, state, **decided)
    walked = Submission.WALK
    reached = walked[: walked.index(state) + 1] if state in walked else ["RECEIVED"]
    for step in reached:
        tell(submission, step, f"The step called {step.lower()} is behind it.")
    return submission


ASKED = {State.MEASURED: "REQUESTED", State.PUBLISHED: "SCORED"}


def set_state(rows, state):
    """Change the state that pages show of submissions that have an evaluation."""
    for row in rows.select_related("human_evaluation"):
        if state == State.MEASURED or state not in Submission.OWN:
            asked = ASKED.get(state, state)
            HumanEvaluation.objects.filter(submissions=row).update(state=asked)
        published = timezone.now() if state == State.PUBLISHED else None
        own = state if state in Submission.OWN else State.MEASURED
        rows.filter(pk=row.pk).update(own_state=own, published_at=published)


def request_evaluation(submission, state=State.MEASURED, **fields):
    """Give a submission that was measured the evaluation that staff decide on."""
    if submission.own_state in {State.RECEIVED, State.INVALID, State.VALID}:
        return
    state = State.MEASURED if state == State.WITHDRAWN else state
    evaluation = HumanEvaluation.objects.create(
        task=submission.task,
        kind="single",
        state=ASKED.get(state, state),
        design=submission.task.human.design,
        n_instances=submission.task.sample_size,
        seed=1,
        simulated=submission.simulated,
        requested_by=submission.owner,
        **{name: getattr(submission, name) for name in CLEARED},
        **fields,
    )
    EvaluatedSystem.objects.create(
        evaluation=evaluation, submission=submission, position=0
    )
    submission.human_evaluation = evaluation
    for name, value in CLEARED.items():
        setattr(submission, name, value)
    submission.save(update_fields=["human_evaluation", *CLEARED])


def tell(submission, state, sentence, at: datetime | None = None):
    event = SubmissionEvent.objects.create(
        submission=submission, state=state, sentence=sentence
    )
    if at is not None:
        SubmissionEvent.objects.filter(pk=event.pk).update(at=at)
    return event


def make_predictions(submission, text="Prediction for {0}. {1}"):
    return Prediction.objects.bulk_create(
        [
            Prediction(
                submission=submission,
                instance=instance,
                text=text.format(instance.instance_id, submission.system_name),
            )
            for instance in submission.task.instances.all()
        ]
    )


def make_metrics(submission, **values):
    for metric, value in values.items():
        MetricResult.objects.create(
            submission=submission,
            metric=metric,
            value=value,
            per_instance=[value] * 3,
            signature=f"{metric}|version:1",
        )


def make_worker(*, simulated=False, user=None, name=None):
    number = next(_number)
    return Worker.objects.create(
        platform_worker_id=name or f"W{number}", simulated=simulated, user=user
    )


def make_evaluation(submission, *, n=None, state=Campaign.State.RUNNING):
    """Make the campaign that shows the first `n` predictions, one item a HIT."""
    number = next(_number)
    human = submission.task.human
    hit_type = HITType.objects.create(
        template=human.hit_template,
        scale=human.scale,
        criteria=human.criteria,
        title="Rate texts",
        description="Rate texts.",
        reward_cents=human.reward_cents,
        fingerprint=f"{number:064d}",
    )
    campaign = Campaign.objects.create(
        key=f"submission:{submission.pk}",
        pool_id=submission.task.slug,
        title=f"Judge {submission.pk}",
        hit_type=hit_type,
        state=state,
        budget_cents=100_000,
        seed=1,
        simulated=submission.simulated,
        starts_at=timezone.now(),
    )
    instances = list(submission.task.instances.order_by("sample_rank")[:n])
    evaluation = submission.human_evaluation
    HumanEvaluation.objects.filter(pk=evaluation.pk).update(n_instances=len(instances))
    EvaluationCampaign.objects.create(
        evaluation=evaluation, submission=submission, campaign=campaign, position=0
    )
    evaluation.refresh_from_db()
    for instance in instances:
        item = make_item(campaign, instance.instance_id)
        Subject.objects.create(evaluation=evaluation, item=item, instance=instance)
    return evaluation


def make_item(campaign, key):
    """Make a HIT with one item; without a Subject it is a test question."""
    hit = HIT.objects.create(
        campaign=campaign,
        input=inputs_for(campaign, [key])[key],
        position=campaign.hits.count(),
        n_available=1,
    )
    return Item.objects.create(
        campaign=campaign,
        hit=hit,
        key=key,
        data={"prediction": "text"},
        content_key=key,
    )


def answer(item, worker, value=0.75, *, state=Assignment.State.SUBMITTED, **fields):
    now = timezone.now()
    assignment = Assignment.objects.create(
        hit=item.hit,
        worker=worker,
        state=state,
        reward_cents=9,
        accepted_at=now,
        deadline_at=now + timedelta(minutes=30),
        submitted_at=now,
        **fields,
    )
    Rating.objects.create(
        assignment=assignment,
        item=item,
        criterion="overall",
        value=value,
        raw=str(value),
    )
    return assignment


def pay(assignment, cents=9, *, state=LedgerEntry.State.DONE):
    return LedgerEntry.objects.create(
        idempotency_key=f"reward:{assignment.pk}",
        campaign=assignment.hit.campaign,
        assignment=assignment,
        kind=LedgerEntry.Kind.REWARD,
        state=state,
        amount_cents=cents,
    )


def make_score(submission, mean, half=2.0, *, evaluation=None, **fields):
    """Score a submission `mean` ± `half`, without any answers behind it."""
    if evaluation is None:
        evaluation = submission.human_evaluation
    if not evaluation.campaigns_in_order:
        evaluation = make_evaluation(submission, n=0, state=Campaign.State.COMPLETE)
    values = {
        "criterion": "overall",
        "low": mean - half,
        "high": mean + half,
        "low_50": mean - half / 3,
        "high_50": mean + half / 3,
        "n": 800,
        "n_workers": 31,
        "n_excluded_workers": 2,
        "histogram": {"0": 40, "0.25": 60, "0.5": 120, "0.75": 300, "1": 280},
        "covers": "instances",
        "seed": 7,
        "ratings_sha256": "0" * 64,
        "signature": "human:direct-assessment|scale:likert-5|agg:mean",
        **fields,
    }
    return Score.objects.create(
        submission=submission, evaluation=evaluation, mean=mean, **values
    )


def make_ranked(task, mean, half=2.0, *, team, owner, system="Kite", **fields):
    """Make a published submission with a score and the headline metrics."""
    submission = make_submission(
        task, team=team, owner=owner, system=system, state=State.PUBLISHED, **fields
    )
    make_score(submission, mean, half)
    make_metrics(submission, sacrebleu=mean / 2, rougeL=mean - 9, chrf=mean - 20)
    return submission


def make_many_ranked(task, n, *, team, owner):
    """Make `n` published submissions at once, each with a score and two metrics."""
    now = timezone.now()
    first = max([0, *Submission.objects.values_list("pk", flat=True)])
    submissions = Submission.objects.bulk_create(
        [
            Submission(
                task=task,
                team=team,
                owner=owner,
                system_name=f"System {first + i}",
                own_state=State.MEASURED,
                file="submissions/00/many.json",
                file_name="many.json",
                file_sha256="0" * 64,
                file_bytes=1,
                published_at=now,
            )
            for i in range(n)
        ]
    )
    hit_type, _ = HITType.objects.get_or_create(
        fingerprint="many",
        defaults={
            "template": "summarization",
            "scale": "likert-5",
            "criteria": task.human.criteria,
            "title": "Judge",
            "description": "Judge.",
            "reward_cents": 9,
        },
    )
    campaigns = Campaign.objects.bulk_create(
        [
            Campaign(
                key=f"many:{s.pk}",
                pool_id=task.slug,
                title="Judge",
                hit_type=hit_type,
                state=Campaign.State.COMPLETE,
                budget_cents=1,
                seed=1,
                starts_at=now,
            )
            for s in submissions
        ]
    )
    evaluations = HumanEvaluation.objects.bulk_create(
        [
            HumanEvaluation(
                task=task,
                kind="single",
                state="SCORED",
                design="direct-assessment",
                n_instances=8,
                seed=1,
                requested_by=owner,
            )
            for _ in submissions
        ]
    )
    EvaluationCampaign.objects.bulk_create(
        [
            EvaluationCampaign(evaluation=e, submission=s, campaign=c, position=0)
            for e, s, c in zip(evaluations, submissions, campaigns, strict=True)
        ]
    )
    EvaluatedSystem.objects.bulk_create(
        [
            EvaluatedSystem(evaluation=e, submission=s, position=0)
            for e, s in zip(evaluations, submissions, strict=True)
        ]
    )
    for s, e in zip(submissions, evaluations, strict=True):
        s.human_evaluation = e
    Submission.objects.bulk_update(submissions, ["human_evaluation"])
    Score.objects.bulk_create(
        [
            Score(
                submission=s,
                evaluation=e,
                criterion="overall",
                mean=30 + 40 * i / n,
                low=28 + 40 * i / n,
                high=32 + 40 * i / n,
                low_50=29 + 40 * i / n,
                high_50=31 + 40 * i / n,
                n=800,
                n_workers=20,
                covers="instances",
                seed=1,
                ratings_sha256="0" * 64,
                signature="s",
            )
            for i, (s, e) in enumerate(zip(submissions, evaluations, strict=True))
        ]
    )
    MetricResult.objects.bulk_create(
        [
            MetricResult(
                submission=s,
                metric=metric,
                value=i % 50,
                per_instance=[1.0] * 100,
                signature=metric,
            )
            for i, s in enumerate(submissions)
            for metric in ("sacrebleu", "rougeL")
        ]
    )
    return submissions


def asked_about(submission):
    submission.refresh_from_db()
    return submission.human_evaluation
