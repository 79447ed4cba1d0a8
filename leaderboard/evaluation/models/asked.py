from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import models

from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.tasks.models import Task


def of_evaluation(name: str) -> Any:
    return property(lambda self: getattr(self.evaluation, name))


class WithEvaluation(models.Model):
    State = HumanEvaluation.State

    task: Task = of_evaluation("task")
    task_id: int = of_evaluation("task_id")
    state: str = of_evaluation("state")
    get_state_display: Callable[[], str] = of_evaluation("get_state_display")
    seed: int = of_evaluation("seed")
    simulated: bool = of_evaluation("simulated")
    requested_by: Any = of_evaluation("requested_by")
    requested_by_id: int = of_evaluation("requested_by_id")
    decided_by: Any = of_evaluation("decided_by")
    decision_reason: str = of_evaluation("decision_reason")
    approved_cents: int | None = of_evaluation("approved_cents")
    n_attempts: int = of_evaluation("n_attempts")
    failed_step: str = of_evaluation("failed_step")
    failure: str = of_evaluation("failure")
    failure_permanent: bool = of_evaluation("failure_permanent")
    created_at: datetime = of_evaluation("created_at")
    finished_at: datetime | None = of_evaluation("finished_at")

    class Meta:
        abstract = True
