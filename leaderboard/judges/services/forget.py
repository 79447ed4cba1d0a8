"""Deletion of judges' answers together with an output, which they may quote."""

from collections.abc import Collection
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.signals import post_delete, pre_delete

from leaderboard.judges.models import JudgeAnswer, JudgeCall, JudgeRun
from leaderboard.submissions.models import Submission


def connect() -> None:
    """Delete answers whenever a submission is deleted, in whatever way."""
    pre_delete.connect(_note, Submission, dispatch_uid="answers about a submission")
    post_delete.connect(_forget, Submission, dispatch_uid="answers without a subject")


def _note(instance: Any, **_sent: Any) -> None:
    calls = JudgeCall.objects.filter(
        Q(submission=instance) | Q(other=instance) | Q(pk__in=_pages_with(instance))
    )
    # once the submission is deleted, they cannot be found from it
    instance.judged = list(calls.values_list("pk", flat=True))
    instance.judged_as = answers_to(calls)


def _pages_with(submission: Submission) -> list[int]:
    several = JudgeCall.objects.filter(run__task=submission.task_id).exclude(beside=[])
    return [
        pk
        for pk, beside in several.values_list("pk", "beside").iterator()
        if submission.pk in beside
    ]


def _forget(instance: Any, **_sent: Any) -> None:
    JudgeCall.objects.filter(pk__in=instance.judged).delete()
    forget(instance.judged_as)


def answers_to(calls: QuerySet[JudgeCall]) -> tuple[list[int], list[int]]:
    judges = calls.order_by().values_list("run__judge", flat=True).distinct()
    answers = calls.order_by().exclude(answer=None).values_list("answer", flat=True)
    return list(judges), list(answers.distinct())


def forget(found: tuple[Collection[int], Collection[int]]) -> None:
    """Delete answers without a question, including first attempts."""
    judges, answers = found
    used = JudgeCall.objects.exclude(answer=None).values("answer")
    waiting = JudgeCall.objects.filter(
        state=JudgeCall.State.WAITING, run__state__in=JudgeRun.OPEN
    )
    # an invalid attempt belongs to no question; while a judge is being asked, an answer
    # may still get one
    loose = Q(judge__in=judges) & ~Q(judge__in=waiting.values("run__judge"))
    JudgeAnswer.objects.filter(Q(pk__in=answers) | loose).exclude(pk__in=used).delete()
