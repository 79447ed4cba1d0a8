"""Withdrawals by the author; a submission can be restored for a day.

Money is released only once: settled amounts stay settled, and released amounts are
reserved again only by another approval.
"""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.evaluation import campaigns, machine
from leaderboard.evaluation.decide.staff import locked
from leaderboard.evaluation.models import states
from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.models.joint_evaluation import JointEvaluation
from leaderboard.evaluation.services import public_log
from leaderboard.evaluation.strategies import strategy_of
from leaderboard.submissions.models.submission import Submission, SubmissionEvent
from leaderboard.submissions.services import lifecycle

State = states.State
# The state after a withdrawal from this state; others are restored as they were.
_BACK_TO: dict[str, str] = {
    # the money was released: staff must approve it again
    Submission.State.APPROVED: State.REQUESTED,
    # its campaigns were stopped and settled: staff may still publish the answers
    Submission.State.ANNOTATING: State.STOPPED,
    Submission.State.ANNOTATED: State.STOPPED,
    Submission.State.PUBLISHED: State.SCORED,
    Submission.State.MEASURED: State.REQUESTED,
}


@transaction.atomic
def withdraw(subject: Submission, *, by: Account, reason: str) -> None:
    """Withdraw a submission in any state; stop its campaigns and hide it on boards."""
    submission = lifecycle.lock(subject.pk)
    if Submission.State.WITHDRAWN not in lifecycle.LEGAL[submission.state]:
        raise GenieError(
            gettext("This submission is %(state)s and cannot be withdrawn.")
            % {"state": submission.get_state_display()},
            code="not-withdrawable",
        )
    sentence = f"Withdrawn: {reason}" if reason else "Withdrawn."
    public_log.decision(submission, sentence, by)
    # Not measured yet: no worker was asked, and no money is reserved.
    if submission.human_evaluation_id is None:
        to = Submission.State.WITHDRAWN
        lifecycle.move(submission.pk, submission.state, to, sentence, by=by)
        return
    evaluation = machine.lock(submission.human_evaluation_id)
    key = strategy_of(evaluation).keys(evaluation)[0]
    machine.move(evaluation, State.WITHDRAWN, sentence, by=by)
    campaigns.end(evaluation, key, by=by, reason="The submission was withdrawn.")


@transaction.atomic
def restore(subject: Submission, *, by: Account) -> None:
    """Bring a withdrawn submission back to its former state within a day."""
    submission = lifecycle.lock(subject.pk)
    before = way_back(submission)
    if before is None:
        raise GenieError(
            gettext(
                "Only a submission that its team withdrew less than a day ago can be "
                "restored."
            ),
            code="not-restorable",
        )
    to = _BACK_TO.get(before, before)
    shown = lifecycle.of_evaluation(to)
    sentence = f"Restored; it is {Submission.State(shown).label} again."
    public_log.decision(submission, sentence, by)
    if submission.human_evaluation_id is None:
        lifecycle.move(submission.pk, submission.state, shown, sentence, by=by)
        return
    evaluation = machine.lock(submission.human_evaluation_id)
    machine.move(evaluation, to, sentence, by=by, **_undecided(evaluation, to))
    if before == Submission.State.PUBLISHED:
        # with the date of its publication: it has been a result since then
        published = Submission.State.PUBLISHED
        lifecycle.move(submission.pk, shown, published, sentence, by=by)


def way_back(submission: Submission) -> str | None:
    """Return the state before the team's withdrawal; None if it cannot be restored."""
    if submission.state != Submission.State.WITHDRAWN:
        return None
    events = SubmissionEvent.objects.filter(submission=submission.pk).order_by("-pk")
    withdrawn = events.filter(state=Submission.State.WITHDRAWN)
    earlier = events.exclude(state=Submission.State.WITHDRAWN).first()
    # the first event of this withdrawal: later events may have been added
    newer = withdrawn.filter(pk__gt=earlier.pk) if earlier else withdrawn
    if earlier is None or (taken_back := newer.last()) is None:
        return None
    # a team cannot restore a submission that staff withdrew
    team = submission.team.members.values_list("pk", flat=True)
    own = taken_back.actor_id in set(team)
    recent = timezone.now() - taken_back.at < states.WAY_BACK
    return earlier.state if own and recent else None


def _undecided(evaluation: HumanEvaluation, to: str) -> dict[str, Any]:
    fields: dict[str, datetime | None] = {}
    if to in {State.REQUESTED, State.DECLINED}:
        fields["finished_at"] = None
    if to == State.REQUESTED:
        return {**fields, "approved_cents": None, "decided_by_id": None}
    return fields


@transaction.atomic
def take_back(subject: Comparison | JointEvaluation, *, by: Account) -> None:
    waiting = {State.REQUESTED, State.DECLINED}
    refusal = "only one that awaits approval can be withdrawn"
    evaluation = locked(subject, waiting, refusal, "not-withdrawable")
    sentence = "Withdrawn by who asked for it."
    machine.move(evaluation, State.WITHDRAWN, sentence, by=by)
    public_log.decision(subject, sentence, by)
    subject.refresh_from_db()
