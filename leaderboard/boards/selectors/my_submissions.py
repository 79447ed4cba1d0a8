from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import QuerySet

from leaderboard.boards.selectors.rows import Pending
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.selectors.progress import n_judged
from leaderboard.submissions.models.submission import Submission
from leaderboard.submissions.selectors.visibility import team_ids

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


def submissions_for(
    viewer: AbstractBaseUser | AnonymousUser,
) -> QuerySet[Submission]:
    return (
        Submission.objects.filter(team_id__in=team_ids(viewer))
        .select_related("task", "team", "human_evaluation")
        .defer("errors", "description", "links")
        .order_by("-pk")
    )


@dataclass(frozen=True)
class MyLine:
    submission: Submission
    score: Score | None
    pending: Pending | None


def lines_for(submissions: list[Submission]) -> list[MyLine]:
    """Add scores and progress to a page of submissions, in two queries."""
    pks = [submission.pk for submission in submissions]
    scores: dict[int, Score] = {}
    scores_now = (
        Score.objects.filter(submission__in=pks, superseded_at=None)
        .select_related("evaluation")
        .prefetch_related("evaluation__campaigns")
    )
    for score in scores_now:
        scores.setdefault(score.submission_id, score)
    being_judged = [s.pk for s in submissions if s.state == Submission.State.ANNOTATING]
    judged = n_judged(being_judged) if being_judged else {}
    return [
        MyLine(
            submission=submission,
            score=scores.get(submission.pk),
            pending=_pending(submission, judged.get(submission.pk, 0))
            if submission.pk in being_judged
            else None,
        )
        for submission in submissions
    ]


def _pending(submission: Submission, n: int) -> Pending:
    evaluation = submission.human_evaluation
    n_planned = evaluation.n_instances if evaluation else submission.task.sample_size
    return Pending(min(n, n_planned), n_planned)
