from collections.abc import Iterable

from django.db.models import QuerySet

from crowd.hits.models import Campaign
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.submissions.models import Submission


def campaigns_of(evaluation: HumanEvaluation) -> list[Campaign]:
    return evaluation.campaigns_in_order


def ratings_per_output(campaigns: Iterable[Campaign], planned: int) -> int | str:
    each = {c.answers_per_hit for c in campaigns if c.answers_per_hit} or {planned}
    return min(each) if len(each) == 1 else f"{min(each)} to {max(each)}"


def launched(submissions: Iterable[int]) -> QuerySet[HumanEvaluation]:
    rows = HumanEvaluation.objects.filter(
        submission__in=submissions, campaigns__position=0
    )
    return rows.select_related("task", "submission").prefetch_related("campaigns")


def evaluation_of(submission: Submission) -> HumanEvaluation | None:
    """Return a submission's evaluation once its campaigns are launched."""
    evaluation = submission.human_evaluation
    return evaluation if evaluation and evaluation.campaigns_in_order else None


def evaluations_about(submission: Submission) -> QuerySet[HumanEvaluation]:
    rows = HumanEvaluation.objects.filter(systems__submission=submission)
    return rows.select_related(
        "submission", "comparison__a", "comparison__b", "joint__evaluation__task"
    ).prefetch_related("joint__evaluation__systems__submission")
