"""Decisions on an evaluation: by staff on money and work, by its author on withdrawal."""

from collections.abc import Collection
from typing import Any, TypeVar

from django.db import transaction
from django.utils import timezone
from django.utils.text import Truncator
from django.utils.translation import gettext

from crowd.campaigns.services import run
from crowd.hits.models import Campaign
from crowd.money.services import budgets
from crowd.pricing import Quote, share_of
from genie.history import log
from genie.lib import jobs
from genie.lib.errors import GenieError
from genie.lib.runner import CLEARED, LostRace
from genie.lib.typing import Account
from leaderboard.evaluation import campaigns, machine
from leaderboard.evaluation.campaigns import read_stopped
from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.models.joint_evaluation import JointEvaluation
from leaderboard.evaluation.models.test_check import TestCheck
from leaderboard.evaluation.selectors.ranked_scores import partial_of_score
from leaderboard.evaluation.services.hidden import preview
from leaderboard.evaluation.services.hidden.drawn import objections
from leaderboard.evaluation.strategies import measured_tests, strategy_of
from leaderboard.evaluation.strategies.measured_tests import (
    UNMEASURED,
    WAITING,
    is_measured,
    measure_together,
    prepare,
)
from leaderboard.submissions import states
from leaderboard.submissions.models import Submission, SubmissionEvent, shown_state
from leaderboard.submissions.services import lifecycle
from leaderboard.tasks.services.configuration import (
    check_requirements,
    check_test,
    pay_problem,
)

# Decisions of staff on an evaluation: approve, decline, stop, retry.
#
# Authors get the same messages for one system and for several, and read the reason.
# Callers check `may_decide`; the admin logs who decided.
State = states.State
Subject = TypeVar("Subject", Submission, Comparison, JointEvaluation)


# users who may change submissions may spend
MAY_DECIDE = "leaderboard.change_submission"


def may_decide(user: Any) -> bool:
    """Check for the right to spend money on every task."""
    return bool(user.has_perm(MAY_DECIDE))


def quote(evaluation: HumanEvaluation) -> Quote:
    return strategy_of(evaluation).cost(evaluation)


def n_workers(evaluation: HumanEvaluation) -> int:
    return strategy_of(evaluation).n_workers(evaluation)


def test_questions(evaluation: HumanEvaluation) -> list[preview.Part]:
    strategy = strategy_of(evaluation)
    human = strategy.human(evaluation)
    return [
        preview.part_of(evaluation.task, human, part.criteria, part.planned)
        for part in strategy.plan(evaluation)
    ]


@transaction.atomic
def approve(
    subject: Subject,
    *,
    by: Account,
    reason: str = "",
    start_now: bool = False,
    despite: str = "",
    cost_cents: int | None = None,
) -> Subject:
    """Reserve the money and send the work out; of several approvals only one counts.

    Call `prepare` before and outside of a transaction. The test questions that a job
    measured are compared here. If programs answer, they need not be measured.

    `despite` is the reason why work starts although its test questions stand out or are
    fewer than planned. `cost_cents` is the price that staff saw: any different price is
    refused.
    """
    refusal = (
        "only submissions, comparisons and joint evaluations that await approval or "
        "were declined can be approved"
    )
    evaluation = locked(subject, WAITING, refusal, "not-approvable")
    single = evaluation.strategy == HumanEvaluation.Strategy.SINGLE
    if single and evaluation.task.pairs_only:
        raise GenieError(
            f"Systems of {evaluation.task} are compared two at a time, and it has no "
            "question about a single output. Approve its comparisons instead.",
            code="no-question",
        )
    strategy = strategy_of(evaluation)
    # Failures of the launch are found here, before money is reserved.
    strategy.check_launch(evaluation)
    human = strategy.human(evaluation)
    if problem := pay_problem(human):
        raise GenieError(
            f"The reward of {evaluation.task.title} {problem}", code="below-minimum-pay"
        )
    check_requirements(human, evaluation.task.slug)
    check_test(evaluation.task.human)
    if not evaluation.simulated and not is_measured(evaluation):
        raise GenieError(UNMEASURED, code="tests-not-measured")
    _admit_tests(evaluation, by, despite)
    cents = strategy.cost(evaluation).total_cents
    if cost_cents not in {None, cents}:
        raise GenieError(
            f"The cost is ${cents / 100:,.2f} now; approve exactly that.",
            code="cost-moved",
            details={"cost_cents": cents},
        )
    keys = strategy.keys(evaluation)
    # A commitment for each campaign: each is settled when its campaign ends.
    for place, key in enumerate(keys):
        budgets.commit(
            key=key,
            pool=evaluation.task.slug,
            amount_cents=share_of(cents, len(keys), place),
            by=by,
        )
    sentence = f"Approved at a cost of up to ${cents / 100:,.2f}. {reason}".strip()
    fields = {"approved_cents": cents, "start_now": start_now}
    return _decided(subject, evaluation, State.APPROVED, sentence, by, reason, **fields)


@transaction.atomic
def decline(subject: Subject, *, by: Account, reason: str) -> Subject:
    _check_reason(subject, reason, "declined")
    refusal = (
        "only submissions, comparisons and joint evaluations that await approval "
        "can be declined"
    )
    evaluation = locked(subject, {State.REQUESTED}, refusal, "not-declinable")
    sentence = f"Declined: {reason.strip()}"
    return _decided(subject, evaluation, State.DECLINED, sentence, by, reason)


@transaction.atomic
def stop(
    subject: Subject, *, by: Account, reason: str, publish: bool | None = None
) -> Subject:
    """Stop an evaluation: no more work is posted, and completed work stays paid.

    With `publish`, the answers so far become a partial score of a submission; without,
    they are kept, and `publish_partial` can publish them later. None means that staff
    did not have the choice.
    """
    _check_reason(subject, reason, "stopped")
    if publish:
        return _stop_and_publish(subject, by=by, reason=reason)
    at_work = {State.APPROVED, State.ANNOTATING, State.ANNOTATED}
    evaluation = locked(subject, at_work, "there is nothing to stop", "not-running")
    strategy = strategy_of(evaluation)
    sentence = f"Stopped: {reason.strip()}"
    _decided(subject, evaluation, State.STOPPED, sentence, by, reason)
    # After the move: if another decision was faster, none of this happens.
    strategy.stopped(evaluation)
    key = strategy.keys(evaluation)[0]
    campaigns.end(evaluation, key, by=by, reason=reason, publish=publish)
    subject.refresh_from_db()
    return subject


def _stop_and_publish(subject: Subject, *, by: Account, reason: str) -> Subject:
    refusal = "only a submission that collects ratings has a partial result"
    evaluation = locked(subject, {State.ANNOTATING}, refusal, "not-running")
    if not isinstance(subject, Submission):
        raise GenieError(
            f"{subject} has no partial result that could be published.",
            code="nothing-to-publish",
        )
    for campaign in evaluation.campaigns_in_order:
        run.stop(campaign.pk, by, reason, publish=True)
    HumanEvaluation.objects.filter(pk=evaluation.pk).update(
        decided_by_id=by.pk, decision_reason=reason.strip()
    )
    sentence = f"Stopped, and the result so far is published: {reason.strip()}"
    _told(subject, sentence, by)
    jobs.enqueue(machine.JOB, pk=evaluation.pk)
    subject.refresh_from_db()
    return subject


@transaction.atomic
def go_on(subject: Submission, *, by: Account, reason: str) -> None:
    """Undo a stop while workers have pages of it open; work is posted again."""
    _check_reason(subject, reason, "continued")
    refusal = "only a stop whose open pages are not in yet can be undone"
    evaluation = locked(subject, {State.ANNOTATING}, refusal, "not-stopped")
    stopped = read_stopped(evaluation.campaigns_in_order)
    if not stopped or not all(run.resume(one.pk, by, reason) for one in stopped):
        raise GenieError(f"{subject}: {refusal}.", code="not-stopped")
    _told(subject, f"The stop was undone: {reason.strip()}", by)


@transaction.atomic
def rank_partial(
    subject: Submission, *, by: Account, reason: str, ranked: bool
) -> Submission:
    _check_reason(subject, reason, "ranked" if ranked else "no longer ranked")
    refusal = "only a published partial score can be ranked by decision"
    evaluation = locked(subject, {State.SCORED}, refusal, "not-published")
    score = evaluation.scores.filter(superseded_at=None).order_by("pk").first()
    partial = score is not None and partial_of_score(score) is not None
    if evaluation.submission.state != Submission.State.PUBLISHED or (
        ranked and not partial
    ):
        raise GenieError(f"{subject}: {refusal}.", code="not-partial")
    changed = HumanEvaluation.objects.filter(
        pk=evaluation.pk, ranks_partial=not ranked
    ).update(ranks_partial=ranked)
    if not changed:
        raise GenieError(
            f"{subject} is {'already' if ranked else 'not'} ranked by a decision.",
            code="decided-meanwhile",
        )
    now = "is ranked" if ranked else "is no longer ranked"
    sentence = f"Staff decided that the partial score {now}: {reason.strip()}"
    _told(subject, sentence, by)
    subject.refresh_from_db()
    return subject


@transaction.atomic
def publish_partial(subject: Submission, *, by: Account, reason: str) -> None:
    refusal = (
        "only a submission that was stopped without publishing can be published now"
    )
    evaluation = locked(subject, {State.STOPPED}, refusal, "not-stopped")
    pks = [campaign.pk for campaign in evaluation.campaigns_in_order]
    if not pks:
        raise GenieError(
            f"{subject} was stopped before its HITs were posted; there is no result to "
            "publish.",
            code="nothing-rated",
        )
    asked = Campaign.objects.filter(pk__in=pks)
    asked.filter(state=Campaign.State.STOPPED).update(publish_partial=True)
    # Stopping the evaluation does not wait: open pages are not submitted yet, or not
    # graded, and exclusions may still have to be decided.
    closed = not asked.filter(completed_at=None).exists()
    sentence = f"Staff decided to publish the partial result: {reason}"
    to = State.ANNOTATED if closed else State.ANNOTATING
    machine.move(evaluation, to, sentence, by=by, finished_at=None)
    _log_decision(subject, sentence, by)


@transaction.atomic
def retry(subject: Subject, *, by: Account) -> Subject:
    evaluation = machine.evaluation_of(subject)
    if evaluation is None:
        # It failed before it had an evaluation: its own row is the lock.
        lifecycle.lock(subject.pk)
        subject.refresh_from_db()
        runner, pk = lifecycle.RUNNERS.get(subject.state), subject.pk
        failed = bool(subject.failure)
    else:
        evaluation = machine.lock(evaluation.pk)
        waits = evaluation.state in WAITING
        runner = (
            measured_tests.RUNNER if waits else machine.RUNNERS.get(evaluation.state)
        )
        pk, failed = evaluation.pk, bool(evaluation.failure)
    if not failed or runner is None:
        raise GenieError(
            f"“{subject}” did not fail; there is nothing to retry.",
            code="nothing-to-retry",
        )
    if evaluation is not None:
        if evaluation.state == State.APPROVED:
            _accept_tests(evaluation, by)
        HumanEvaluation.objects.filter(pk=pk).update(**CLEARED)
    else:
        Submission.objects.filter(pk=pk).update(**CLEARED)
    if isinstance(subject, Submission):
        again = "Retrying the failed step."
        lifecycle.tell(subject.pk, subject.state, again, by=by)
    jobs.enqueue(runner.job, pk=pk)
    subject.refresh_from_db()
    return subject


def locked(
    subject: machine.Subject, allowed: Collection[str], refusal: str, code: str
) -> HumanEvaluation:
    evaluation = machine.evaluation_of(subject)
    if evaluation is not None:
        # Read again under the lock: the state that the page showed may have changed.
        evaluation = machine.lock(evaluation.pk)
        gone = isinstance(subject, Submission) and is_withdrawn(evaluation.submission)
        if evaluation.state in allowed and not gone:
            return evaluation
    subject.refresh_from_db()
    raise GenieError(
        f"{subject} is {subject.get_state_display()}; {refusal}.", code=code
    )


def is_withdrawn(submission: Submission) -> bool:
    return submission.own_state == Submission.State.WITHDRAWN


def _decided(
    subject: Subject,
    evaluation: HumanEvaluation,
    state: str,
    sentence: str,
    by: Account,
    reason: str,
    **fields: Any,
) -> Subject:
    fields |= {"decided_by_id": by.pk, "decision_reason": reason.strip()}
    try:
        machine.move(evaluation, state, sentence, by=by, **fields)
    except LostRace as lost:
        raise GenieError(
            f"Someone else has just decided on {subject}.", code="decided-meanwhile"
        ) from lost
    _log_decision(subject, sentence, by)
    subject.refresh_from_db()
    return subject


def _told(subject: Submission, sentence: str, by: Account) -> None:
    lifecycle.tell(subject.pk, subject.state, sentence, by=by)
    _log_decision(subject, sentence, by)


def _admit_tests(evaluation: HumanEvaluation, by: Account, despite: str) -> None:
    """Log who admits questions that stand out or are too few.

    Raises GenieError ``tests-stand-out`` with the reasons if `despite` is empty.
    """
    check = TestCheck.objects.filter(evaluation=evaluation).first()
    if check is None or not objections(check):
        return
    if not despite.strip():
        raise GenieError(
            " ".join(objections(check))
            + " Say why the campaign starts in spite of this, or change the task.",
            code="tests-stand-out",
        )
    _note_word(check, by, despite)


def _accept_tests(evaluation: HumanEvaluation, by: Account) -> None:
    check = TestCheck.objects.filter(evaluation=evaluation, accepted_at=None).first()
    if check is not None and objections(check):
        _note_word(check, by, "Retried.")


def _note_word(check: TestCheck, by: Account, despite: str) -> None:
    check.accepted_by_id = by.pk
    check.accepted_at = timezone.now()
    check.accepted_because = Truncator(despite.strip()).chars(500)
    check.save()


def _log_decision(subject: machine.Subject, sentence: str, by: Account) -> None:
    evaluation, name = subject.evaluation, str(subject._meta.model_name)
    data = {name: subject.pk, "task": subject.task.slug, "says": sentence, "by": by.pk}
    about = evaluation.pk if evaluation else None
    log.append(log.Kind.DECISION, data, about=about)


def _check_reason(subject: machine.Subject, reason: str, done: str) -> None:
    if not reason.strip():
        noun = subject._meta.verbose_name
        raise GenieError(
            f"Give a reason why the {noun} is {done}.", code="reason-missing"
        )


# Withdrawals by the author; a submission can be restored for a day.
#
# Money is released only once: settled amounts stay settled, and released amounts are
# reserved again only by another approval.

# The evaluation's state after a withdrawal from this state; others stay.
_BACK_TO: dict[str, str] = {
    # the money is released: staff must approve it again
    State.APPROVED: State.REQUESTED,
    # its campaigns are stopped and settled: staff may still publish the answers
    State.ANNOTATING: State.STOPPED,
    State.ANNOTATED: State.STOPPED,
}


@transaction.atomic
def withdraw(subject: Submission, *, by: Account, reason: str) -> None:
    """Withdraw a submission in any state; stop its campaigns and hide it on boards."""
    submission = lifecycle.lock(subject.pk)
    before, to = submission.own_state, Submission.State.WITHDRAWN
    if to not in lifecycle.LEGAL[before]:
        raise GenieError(
            gettext("This submission is %(state)s and cannot be withdrawn.")
            % {"state": submission.get_state_display()},
            code="not-withdrawable",
        )
    sentence = f"Withdrawn: {reason}" if reason else "Withdrawn."
    _log_decision(submission, sentence, by)
    lifecycle.move(submission.pk, before, to, sentence, by=by)
    # Not measured yet: no worker was asked, and no money is reserved.
    if submission.human_evaluation_id is None:
        return
    evaluation = machine.lock(submission.human_evaluation_id)
    key = strategy_of(evaluation).keys(evaluation)[0]
    if evaluation.state in _BACK_TO:
        machine.move(evaluation, _BACK_TO[evaluation.state])
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
    evaluation = None
    if submission.human_evaluation_id is not None:
        evaluation = machine.lock(submission.human_evaluation_id)
        before = Submission.State.MEASURED
        if evaluation.state == State.REQUESTED:
            HumanEvaluation.objects.filter(pk=evaluation.pk).update(
                approved_cents=None, decided_by=None, finished_at=None
            )
    # a published one has been a result since its publication
    asked = evaluation.state if evaluation else None
    shown = shown_state(before, submission.published_at, asked)
    sentence = f"Restored; it is {Submission.State(shown).label} again."
    _log_decision(submission, sentence, by)
    lifecycle.move(
        submission.pk, Submission.State.WITHDRAWN, before, sentence, by=by, shown=shown
    )


def way_back(submission: Submission) -> str | None:
    """Return the state before the team's withdrawal; None if it cannot be restored."""
    if not is_withdrawn(submission):
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


@transaction.atomic
def take_back(subject: Comparison | JointEvaluation, *, by: Account) -> None:
    waiting = {State.REQUESTED, State.DECLINED}
    refusal = "only one that awaits approval can be withdrawn"
    evaluation = locked(subject, waiting, refusal, "not-withdrawable")
    sentence = "Withdrawn by who asked for it."
    machine.move(evaluation, State.WITHDRAWN, sentence, by=by)
    _log_decision(subject, sentence, by)
    subject.refresh_from_db()


__all__ = [
    "MAY_DECIDE",
    "UNMEASURED",
    "approve",
    "decline",
    "go_on",
    "is_measured",
    "may_decide",
    "measure_together",
    "n_workers",
    "prepare",
    "publish_partial",
    "quote",
    "rank_partial",
    "restore",
    "retry",
    "stop",
    "take_back",
    "test_questions",
    "way_back",
    "withdraw",
]
