"""The only table of legal states, and the only way from one to the next."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from genie.lib import jobs
from genie.lib.typing import Account
from leaderboard.models import Submission, SubmissionEvent

State = Submission.State

LEGAL: dict[str, frozenset[str]] = {
    State.RECEIVED: frozenset({State.VALID, State.INVALID, State.WITHDRAWN}),
    State.VALID: frozenset({State.MEASURED, State.WITHDRAWN}),
    State.MEASURED: frozenset({State.APPROVED, State.DECLINED, State.WITHDRAWN}),
    State.APPROVED: frozenset({State.ANNOTATING, State.WITHDRAWN}),
    State.ANNOTATING: frozenset({State.ANNOTATED, State.STOPPED, State.WITHDRAWN}),
    # staff ended it and did not want a partial result published; they may yet
    State.STOPPED: frozenset({State.ANNOTATED, State.WITHDRAWN}),
    State.ANNOTATED: frozenset({State.SCORED, State.ANNOTATING, State.WITHDRAWN}),
    State.SCORED: frozenset({State.PUBLISHED, State.WITHDRAWN}),
    State.PUBLISHED: frozenset({State.ANNOTATING, State.WITHDRAWN}),
    State.DECLINED: frozenset({State.APPROVED, State.WITHDRAWN}),
    State.INVALID: frozenset(),
    State.WITHDRAWN: frozenset(),
}

# The job that takes a submission on from a state by itself; no entry: a person does,
# or (ANNOTATING) `advance` looks whether the people are done.
NEXT_JOB: dict[str, str] = {
    State.RECEIVED: "leaderboard.jobs.validate",
    State.VALID: "leaderboard.jobs.measure",
    State.APPROVED: "leaderboard.jobs.launch",
    State.ANNOTATING: "leaderboard.jobs.collect",
    State.ANNOTATED: "leaderboard.jobs.score",
    State.SCORED: "leaderboard.jobs.publish",
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
    """Go from `old` to `new` if nobody was faster, write the story, queue what follows.

    Callers wrap this and what else belongs to the step in one transaction, and give
    their own writes up when it returns False.
    """
    if new not in LEGAL[old]:
        raise ValueError(f"A submission cannot go from {old} to {new}.")
    with transaction.atomic():
        moved = Submission.objects.filter(pk=pk, state=old).update(
            state=new,
            n_attempts=0,
            failed_step="",
            failure="",
            failure_permanent=False,
            **fields,
        )
        if not moved:
            return False
        tell(pk, new, sentence, by=by)
        if job := NEXT_JOB.get(new):
            jobs.enqueue(job, pk=pk)
    return True


def lock(pk: int) -> Submission:
    """Hold a submission's row until the transaction ends.

    Who locks more than one thing takes them in this order, so that nobody waits in a
    circle: submission, worker, campaign, budget, commitment.
    """
    return Submission.objects.select_for_update(of=("self",)).get(pk=pk)


def tell(pk: int, state: str, sentence: str, *, by: Account | None = None) -> None:
    """Add a line to the story without changing the state."""
    SubmissionEvent.objects.create(
        submission_id=pk,
        state=state,
        sentence=sentence[:500],
        actor_id=by.pk if by else None,
    )


class LostRace(Exception):
    """Another process did the step first: what this one wrote must be undone."""
