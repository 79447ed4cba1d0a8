"""Words about an output go with it: answers of judges may have quoted it."""

from __future__ import annotations

from typing import Any

from django.db.models import Q
from django.db.models.signals import post_delete, pre_delete

from leaderboard.judges.models import JudgeAnswer, JudgeCall
from leaderboard.submissions.models.submission import Submission


def connect() -> None:
    """Delete answers whenever a submission is deleted, by whatever way."""
    pre_delete.connect(_note, Submission, dispatch_uid="answers about a submission")
    post_delete.connect(_forget, Submission, dispatch_uid="answers about nothing")


def _note(instance: Any, **_sent: Any) -> None:
    calls = JudgeCall.objects.filter(Q(submission=instance) | Q(other=instance))
    # once the submission is gone, nothing leads from it to them
    instance.judged_by = list(calls.values_list("run__judge", flat=True).distinct())
    instance.judged_as = list(
        calls.exclude(answer=None).values_list("answer", flat=True).distinct()
    )


def _forget(instance: Any, **_sent: Any) -> None:
    """Delete what no other output is answered by, first attempts included."""
    used = JudgeCall.objects.exclude(answer=None).values("answer")
    waiting = JudgeCall.objects.filter(state=JudgeCall.State.WAITING)
    open_judges = waiting.values("run__judge")
    # an attempt that could not be used belongs to no question any more; while a judge is
    # being asked, an answer may be about to
    loose = Q(judge__in=instance.judged_by) & ~Q(judge__in=open_judges)
    about = Q(pk__in=instance.judged_as) | loose
    JudgeAnswer.objects.filter(about).exclude(pk__in=used).delete()
