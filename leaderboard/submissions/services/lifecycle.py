"""The legal states of a submission, and the only way from one to the next.

Between MEASURED and PUBLISHED its states are those of its human evaluation, and only
`evaluation.machine` writes them, both at once.
"""

from typing import Any

from django.db import transaction

from genie.lib import jobs
from genie.lib.runner import CLEARED, Runner
from genie.lib.typing import Account
from leaderboard.evaluation.models import states
from leaderboard.submissions.models import Submission, SubmissionEvent

State = Submission.State


def of_evaluation(state: str) -> str:
    """Return the submission's state for a state of its evaluation."""
    return State.MEASURED if state == states.State.REQUESTED else state


LEGAL: dict[str, frozenset[str]] = {
    State.RECEIVED: frozenset({State.VALID, State.INVALID, State.WITHDRAWN}),
    State.VALID: frozenset({State.MEASURED, State.WITHDRAWN}),
    **{
        of_evaluation(old): frozenset(map(of_evaluation, new)) & {*State.values}
        for old, new in states.LEGAL.items()
        if of_evaluation(old) in State.values
    },
    # Only the submission is published; its evaluation ends as scored.
    State.SCORED: frozenset({State.PUBLISHED, State.WITHDRAWN}),
    State.PUBLISHED: frozenset({State.WITHDRAWN}),
    State.INVALID: frozenset(),
    # a withdrawn one can return to its earlier state within a day
    State.WITHDRAWN: frozenset(
        {
            *(State.RECEIVED, State.VALID, State.MEASURED, State.DECLINED),
            *(State.STOPPED, State.SCORED),
        }
    ),
}

# What takes a submission on from a state; without an entry, a person does, or its
# evaluation's job.
RUNNERS: dict[str, Runner] = {
    State.RECEIVED: Runner(
        Submission, "leaderboard.jobs.validate", states=[State.RECEIVED]
    ),
    State.VALID: Runner(Submission, "leaderboard.jobs.measure", states=[State.VALID]),
}


def move(
    pk: int,
    old: str,
    new: str,
    sentence: str,
    *,
    by: Account | None = None,
    **fields: Any,
) -> bool:
    """Change the state from `old` to `new`, log it, and enqueue the next job.

    Return False if another process was faster. Callers wrap this and the step's other
    writes in one transaction, and roll these back on False.
    """
    if new not in LEGAL[old]:
        raise ValueError(f"A submission cannot go from {old} to {new}.")
    with transaction.atomic():
        moved = Submission.objects.filter(pk=pk, state=old).update(
            state=new, **CLEARED, **fields
        )
        if not moved:
            return False
        tell(pk, new, sentence, by=by)
        if runner := RUNNERS.get(new):
            jobs.enqueue(runner.job, pk=pk)
    return True


def lock(pk: int) -> Submission:
    """Lock a submission's row until the transaction ends.

    Locks are taken in this order, to avoid deadlocks: submission, evaluation, worker,
    campaign, budget, commitment.
    """
    return Submission.objects.select_for_update(of=("self",)).get(pk=pk)


def tell(pk: int, state: str, sentence: str, *, by: Account | None = None) -> None:
    """Log a sentence without changing the state."""
    SubmissionEvent.objects.create(
        submission_id=pk,
        state=state,
        sentence=sentence[:500],
        actor_id=by.pk if by else None,
    )
