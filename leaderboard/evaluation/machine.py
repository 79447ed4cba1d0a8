"""The states of an evaluation, their transitions, and failures of steps."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from genie.lib import jobs
from genie.lib.database import prepare
from genie.lib.runner import CLEARED, LostRace, Runner
from genie.lib.typing import Account
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.submissions import states
from leaderboard.submissions.models import Submission
from leaderboard.submissions.services import lifecycle

State = states.State
JOB = "leaderboard.jobs.step_evaluation"


def rows() -> QuerySet[HumanEvaluation]:
    return HumanEvaluation.objects.select_related(
        "task", "comparison__a", "comparison__b"
    )


_read = prepare(lambda pk: rows().filter(pk=pk))


def read(pk: int) -> HumanEvaluation | None:
    return next((row.specific for row in _read(pk)), None)


def lock(pk: int) -> HumanEvaluation:
    """Lock an evaluation's row, and read it with what others wrote before the lock."""
    HumanEvaluation.objects.select_for_update().get(pk=pk)
    return rows().get(pk=pk).specific


def hold(evaluation: HumanEvaluation) -> None:
    """Lock the row; raise LostRace if its state has changed."""
    if lock(evaluation.pk).state != evaluation.state:
        raise LostRace


def move(
    evaluation: HumanEvaluation,
    new: str,
    sentence: str = "",
    *,
    by: Account | None = None,
    **fields: Any,
) -> None:
    """Go to `new` and queue the next step, within the caller's transaction.

    Raises LostRace if the evaluation has left its state meanwhile; `Runner` catches
    it.
    """
    old = evaluation.state
    if new not in states.LEGAL[old]:
        raise ValueError(f"An evaluation cannot go from {old} to {new}.")
    if new in states.OVER and new != State.DECLINED:
        fields.setdefault("finished_at", evaluation.finished_at or timezone.now())
    with transaction.atomic():
        # Compare and set: of two processes that read the same state, one changes the
        # row.
        moved = HumanEvaluation.objects.filter(pk=evaluation.pk, state=old).update(
            state=new, **CLEARED, **fields
        )
        if not moved:
            raise LostRace
        if sentence:
            tell(evaluation, sentence, by=by, state=states.state_on_pages(new))
        if new in states.STEPS:
            # In the same transaction: no state without its job, and no job after a lost
            # race.
            jobs.enqueue(JOB, pk=evaluation.pk)
    # The caller continues with this object, so it must equal its row.
    for name, value in {"state": new, **CLEARED, **fields}.items():
        setattr(evaluation, name, value)


def tell(
    evaluation: HumanEvaluation,
    sentence: str,
    *,
    by: Account | None = None,
    state: str = "",
) -> bool:
    """Log a sentence with the submissions it scores; return whether there are any."""
    scored = Submission.objects.filter(human_evaluation=evaluation.pk)
    for one in (found := list(scored.select_related("human_evaluation"))):
        lifecycle.tell(one.pk, state or one.state, sentence, by=by)
    return bool(found)


class _LaunchRunner(Runner):
    def last_words(self, pk: int, sentence: str) -> str:
        evaluation = HumanEvaluation.objects.get(pk=pk)
        if not (cents := evaluation.approved_cents):
            return sentence
        withdrawn = Submission.objects.filter(human_evaluation=pk).exists()
        return (
            f"{sentence} The ${cents / 100:,.2f} approved stay committed until "
            f"it is retried or {'withdrawn' if withdrawn else 'stopped'}."
        )


RUNNERS: dict[str, Runner] = {
    state: (_LaunchRunner if state == State.APPROVED else Runner)(
        HumanEvaluation, JOB, states=[state]
    )
    for state in states.STEPS
}
