"""Every human evaluation begins as a request; staff approve what it costs."""

from __future__ import annotations

from collections.abc import Sequence

from genie.lib.errors import GenieError
from leaderboard.evaluation.models.human_evaluation import (
    EvaluatedSystem,
    HumanEvaluation,
)
from leaderboard.submissions.models.submission import Submission
from leaderboard.tasks.selectors.made_elsewhere import CLOSED


def requested(
    strategy: str,
    systems: Sequence[Submission],
    *,
    by: int,
    design: str,
    n_instances: int,
    seed: int = 0,
) -> HumanEvaluation:
    """Note that people are to be asked about these systems; within a transaction.

    A seed that needs the key of what owns the evaluation is written once that is there.

    Raises
    ------
    GenieError
        ``imported-task`` where judgments were made elsewhere: nobody is asked here.
    """
    if systems[0].task.imported:
        raise GenieError(CLOSED, code="imported-task")
    evaluation = HumanEvaluation.objects.create(
        task=systems[0].task,
        strategy=strategy,
        design=design,
        n_instances=n_instances,
        seed=seed,
        simulated=any(system.simulated for system in systems),
        requested_by_id=by,
    )
    EvaluatedSystem.objects.bulk_create(
        [
            EvaluatedSystem(evaluation=evaluation, submission=system, position=position)
            for position, system in enumerate(systems)
        ]
    )
    return evaluation


def commitment_key(submission_pk: int) -> str:
    """Name a submission's campaign and the money set aside for it."""
    return f"submission:{submission_pk}"
