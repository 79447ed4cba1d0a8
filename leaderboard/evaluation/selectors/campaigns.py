"""Which campaigns serve an evaluation, and which evaluation has any."""

from collections.abc import Iterable

from django.db.models import QuerySet

from crowd.hits.models.campaign import Campaign
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.submissions.models.submission import Submission


def campaigns_of(evaluation: HumanEvaluation) -> list[Campaign]:
    """Give the campaign of all criteria, or those of separate ones in their order."""
    return evaluation.campaigns_in_order


def ratings_per_output(campaigns: Iterable[Campaign], planned: int) -> int | str:
    """Give how many ratings each output was to get; a range where campaigns differ."""
    each = {c.answers_per_hit for c in campaigns if c.answers_per_hit} or {planned}
    return min(each) if len(each) == 1 else f"{min(each)} to {max(each)}"


def launched(submissions: Iterable[int]) -> QuerySet[HumanEvaluation]:
    """Give the evaluations of these submissions for which campaigns went out."""
    rows = HumanEvaluation.objects.filter(
        submission__in=submissions, campaigns__position=0
    )
    return rows.select_related("task", "submission").prefetch_related("campaigns")


def evaluation_of(submission: Submission) -> HumanEvaluation | None:
    """Give a submission's evaluation once people are asked."""
    evaluation = submission.human_evaluation
    return evaluation if evaluation and evaluation.campaigns_in_order else None


def evaluations_about(submission: Submission) -> QuerySet[HumanEvaluation]:
    """Give all evaluations that ask about a submission, alone or beside others."""
    rows = HumanEvaluation.objects.filter(systems__submission=submission)
    return rows.select_related(
        "submission", "comparison__a", "comparison__b", "joint__evaluation__task"
    ).prefetch_related("joint__evaluation__systems__submission")
