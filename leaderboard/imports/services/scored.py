"""Scores, ranks and results of an imported task, computed as those of other tasks."""

from collections.abc import Callable

from django.db import transaction
from django.utils import timezone

from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.evaluation.models.states import State
from leaderboard.evaluation.services import refit
from leaderboard.evaluation.services import score as scoring
from leaderboard.evaluation.strategies import strategy_of
from leaderboard.submissions.models import Submission
from leaderboard.tasks.models import Task

Tell = Callable[[str, int, int], None]
# The reason recorded with a changed score.
REASON = "more judgments were imported, or an import was taken back"


def score(task: Task, tell: Tell) -> None:
    """Score, publish and rank every system of the task, and score joint evaluations.

    The queue resumes interrupted computations: it finds systems without scores.
    """
    rows = HumanEvaluation.objects.filter(task=task).select_related("task")
    single = HumanEvaluation.Strategy.SINGLE
    alone = list(
        rows.filter(strategy=single, submission__isnull=False)
        # an import does not restore withdrawn systems
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
        # no more answers can arrive: published scores are final
        HumanEvaluation.objects.filter(pk=evaluation.pk).update(
            state=State.SCORED, scored_at=read_at, final_at=read_at
        )
        Submission.objects.filter(human_evaluation=evaluation).update(
            state=Submission.State.PUBLISHED, published_at=read_at
        )
