from __future__ import annotations

from typing import Any

from django.db import models

from leaderboard.models.human_evaluation import HumanEvaluation


def of_evaluation(name: str) -> Any:
    return property(lambda self: getattr(self.evaluation, name))


class Asked(models.Model):
    """A question about several systems; how it stands is its evaluation's affair."""

    State = HumanEvaluation.State

    task = of_evaluation("task")
    task_id = of_evaluation("task_id")
    state = of_evaluation("state")
    get_state_display = of_evaluation("get_state_display")
    seed = of_evaluation("seed")
    simulated = of_evaluation("simulated")
    requested_by = of_evaluation("requested_by")
    requested_by_id = of_evaluation("requested_by_id")
    decided_by = of_evaluation("decided_by")
    decision_reason = of_evaluation("decision_reason")
    approved_cents = of_evaluation("approved_cents")
    n_attempts = of_evaluation("n_attempts")
    failed_step = of_evaluation("failed_step")
    failure = of_evaluation("failure")
    failure_permanent = of_evaluation("failure_permanent")
    created_at = of_evaluation("created_at")
    finished_at = of_evaluation("finished_at")

    class Meta:
        abstract = True
