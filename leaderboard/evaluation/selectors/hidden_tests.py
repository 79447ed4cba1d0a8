"""How well the test questions of published results were hidden: only numbers."""

from dataclasses import dataclass

from leaderboard.evaluation.models.test_check import TestCheck
from leaderboard.submissions.models.submission import Submission
from leaderboard.tasks.models import Task


@dataclass(frozen=True)
class HiddenTests:
    system: str
    n_tests: int
    auc: float
    low: float
    high: float
    # how well good texts differ from wrong ones
    key_auc: float | None
    start: str


def hidden_tests(task: Task) -> list[HiddenTests]:
    checks = TestCheck.objects.filter(
        evaluation__submission__task=task,
        evaluation__submission__state=Submission.State.PUBLISHED,
        evaluation__submission__visibility=Submission.Visibility.PUBLIC,
    ).order_by("-pk")
    return [
        HiddenTests(
            system=name,
            n_tests=check.n_found,
            auc=check.auc,
            low=check.low,
            high=check.high,
            key_auc=check.key_auc,
            start=_start(check),
        )
        for check, name in (
            (check, check.evaluation.submission.system_name)
            for check in checks.select_related("evaluation__submission")
        )
    ]


def _start(check: TestCheck) -> str:
    if check.accepted_at is not None:
        return "by decision of staff"
    return "programs answer" if check.refused else "allowed"
