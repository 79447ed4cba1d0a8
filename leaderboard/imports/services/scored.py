"""Scores, ranks and results of an imported task, by the machine that ours come from."""

from collections.abc import Callable

from django.db import transaction
from django.utils import timezone

from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.evaluation.models.states import State
from leaderboard.evaluation.services import refit
from leaderboard.evaluation.services import score as scoring
from leaderboard.evaluation.strategies import strategy_of
from leaderboard.submissions.models.submission import Submission
from leaderboard.tasks.models import Task

Tell = Callable[[str, int, int], None]
# Why a published score changed.
REASON = "more judgments were imported, or an import was taken back"


def score(task: Task, tell: Tell) -> None:
    """Score every system of the task, publish them, rank them, and compute what is joint.

    What breaks off between is done by the queue: it finds what is not scored.
    """
    rows = HumanEvaluation.objects.filter(task=task).select_related("task")
    single = HumanEvaluation.Strategy.SINGLE
    alone = list(
        rows.filter(strategy=single, submission__isnull=False)
        # what was withdrawn comes back by nobody's import
        .exclude(state=State.WITHDRAWN)
        .order_by("pk")
    )
    for done, evaluation in enumerate(alone, 1):
        _score(evaluation)
        tell("systems", done, len(alone))
    refit.refit_board(task)
    tell("board", 1, 1)
    together = rows.filter(strategy=HumanEvaluation.Strategy.JOINT)
    for evaluation in together.filter(state=State.ANNOTATED).order_by("pk"):
        strategy_of(evaluation).score(evaluation)
        tell("pages", 1, 1)


def _score(evaluation: HumanEvaluation) -> None:
    read_at = timezone.now()
    scores = scoring.computed(evaluation)
    with transaction.atomic():
        scoring.write(evaluation, scores, reason=REASON)
        Score.objects.filter(evaluation=evaluation, superseded_at=None).update(
            provisional=False
        )
        # nothing can come in any more: what is published is final
        HumanEvaluation.objects.filter(pk=evaluation.pk).update(
            state=State.SCORED, scored_at=read_at, final_at=read_at
        )
        Submission.objects.filter(human_evaluation=evaluation).update(
            state=Submission.State.PUBLISHED, published_at=read_at
        )
