"""Decisions on an evaluation: by staff on money and work, by its author on withdrawal."""

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.text import Truncator

from crowd.campaigns.services import run
from crowd.hits.models import Campaign
from crowd.money.services import budgets
from crowd.platforms.selfhosted import SelfHosted
from crowd.pricing import Quote, share_of
from genie.history import log
from genie.lib import jobs
from genie.lib.errors import GenieError
from genie.lib.runner import CLEARED, LostRace, Runner
from genie.lib.typing import Account
from leaderboard.evaluation import campaigns, machine
from leaderboard.evaluation.campaigns import read_stopped
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.ranked_scores import partial_of_score
from leaderboard.evaluation.services.hidden import apart, preview
from leaderboard.evaluation.services.hidden.drawn import objections
from leaderboard.evaluation.services.request import part_with
from leaderboard.evaluation.strategies import measured_tests, strategy_of
from leaderboard.evaluation.strategies.measured_tests import (
    UNMEASURED,
    WAITING,
    is_measured,
    measure_together,
    prepare,
)
from leaderboard.submissions import states
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import is_withdrawn
from leaderboard.submissions.services import lifecycle
from leaderboard.tasks.services.configuration import (
    check_consent,
    check_requirements,
    check_test,
    pay_problem,
)
from quality.test_questions.models import TestCheck

# Decisions of staff on an evaluation: approve, decline, stop, retry.
#
# Authors get the same messages for one system and for several, and read the reason.
# Callers check `may_decide`; the admin logs who decided.
State = states.State

# Simulated work needs no person's word: the demo decides by itself.
BY_PROGRAMS = "Programs answer: the campaign starts all the same."
_AGAIN = "Retrying the failed step."
# users who may change submissions may spend
MAY_DECIDE = "leaderboard.change_submission"


def may_decide(user: Any) -> bool:
    """Check for the right to spend money on every task."""
    return bool(user.has_perm(MAY_DECIDE))


def evaluation_about(row: Submission | HumanEvaluation) -> Any:
    """Return a submission's evaluation, None before it is measured; others themselves."""
    return row.human_evaluation if isinstance(row, Submission) else row


def require_evaluation(row: Submission | HumanEvaluation, code: str) -> HumanEvaluation:
    evaluation: HumanEvaluation | None = evaluation_about(row)
    if evaluation is None:
        raise GenieError(f"{row} has not been measured yet.", code=code)
    return evaluation


def quote(evaluation: HumanEvaluation) -> Quote:
    return strategy_of(evaluation).cost(evaluation)


def test_questions(evaluation: HumanEvaluation) -> list[preview.Part]:
    strategy = strategy_of(evaluation)
    human = strategy.human(evaluation)
    return [
        preview.part_of(evaluation.task, human, part.criteria, part.planned)
        for part in strategy.plan(evaluation)
    ]


def workers_needed(evaluation: HumanEvaluation | None) -> int:
    """Return how many workers the rule on nearly equal texts needs; 0 if unmeasured."""
    if evaluation is None or not is_measured(evaluation):
        return 0
    strategy = strategy_of(evaluation)
    human = strategy.human(evaluation)
    n_each = human.ratings_per_instance
    n_each += bool(human.n_twice(evaluation.task.sample_size, n_each))
    pool = evaluation.task.slug if human.exposure == "task" else ""
    parts = [part for part in strategy.plan(evaluation) if part.hidden]
    return max((apart.workers_needed(p, n_each, pool=pool) for p in parts), default=0)


@transaction.atomic
def approve(
    evaluation: HumanEvaluation,
    *,
    by: Account,
    reason: str = "",
    start_now: bool = False,
    despite: str = "",
    cost_cents: int | None = None,
) -> None:
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
    _lock(evaluation, WAITING, refusal, "not-approvable")
    strategy = strategy_of(evaluation)
    human = strategy.human(evaluation)
    if evaluation.task.side_by_side and human == evaluation.task.human:
        raise GenieError(
            f"Systems of {evaluation.task} are rated side by side, and it has no question "
            "about a single output. Approve those requests instead.",
            code="no-question",
        )
    # Failures of the launch are found here, before money is reserved.
    strategy.check_launch(evaluation)
    if problem := pay_problem(human):
        raise GenieError(
            f"The reward of {evaluation.task.title} {problem}", code="below-minimum-pay"
        )
    elsewhere = human.platform != SelfHosted.slug
    if elsewhere and human.reward_cents and not evaluation.simulated:
        check_consent(evaluation.task.human)
    check_requirements(human, evaluation.task.slug)
    check_test(evaluation.task.human)
    if not evaluation.simulated and not is_measured(evaluation):
        raise GenieError(UNMEASURED, code="tests-not-measured")
    _admit_tests(evaluation, by, despite or BY_PROGRAMS * evaluation.simulated)
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
    price = f" at a cost of up to ${cents / 100:,.2f}" if cents else ""
    sentence = f"Approved{price}. {reason}".strip()
    fields = {"approved_cents": cents, "start_now": start_now}
    _move(evaluation, State.APPROVED, sentence, by, reason, **fields)


@transaction.atomic
def decline(evaluation: HumanEvaluation, *, by: Account, reason: str) -> None:
    _check_reason(evaluation, reason, "declined")
    refusal = (
        "only submissions, comparisons and joint evaluations that await approval "
        "can be declined"
    )
    _lock(evaluation, {State.REQUESTED}, refusal, "not-declinable")
    _move(evaluation, State.DECLINED, f"Declined: {reason.strip()}", by, reason)


@transaction.atomic
def stop(
    evaluation: HumanEvaluation,
    *,
    by: Account,
    reason: str,
    publish: bool | None = None,
) -> None:
    """Stop an evaluation: no more work is posted, and completed work stays paid.

    With `publish`, the answers so far become a partial score of a submission; without,
    they are kept, and `publish_partial` can publish them later. None means that staff
    did not have the choice.
    """
    _check_reason(evaluation, reason, "stopped")
    if publish:
        _stop_and_publish(evaluation, by=by, reason=reason)
        return
    at_work = {State.APPROVED, State.ANNOTATING, State.ANNOTATED}
    _lock(evaluation, at_work, "there is nothing to stop", "not-running")
    strategy = strategy_of(evaluation)
    _move(evaluation, State.STOPPED, f"Stopped: {reason.strip()}", by, reason)
    # After the move: if another decision was faster, none of this happens.
    strategy.end_early(evaluation)
    keys = strategy.keys(evaluation)
    campaigns.end(evaluation, keys, by=by, reason=reason, publish=publish)
    evaluation.refresh_from_db()


def _stop_and_publish(evaluation: HumanEvaluation, *, by: Account, reason: str) -> None:
    refusal = "only a submission that collects ratings has a partial result"
    _lock(evaluation, {State.ANNOTATING}, refusal, "not-running")
    sentence = f"Stopped, and the result so far is published: {reason.strip()}"
    if not _tell(evaluation, sentence, by):
        raise GenieError(
            f"{evaluation} has no partial result that could be published.",
            code="nothing-to-publish",
        )
    for campaign in evaluation.campaigns_in_order:
        run.stop(campaign.pk, by, reason, publish=True)
    HumanEvaluation.objects.filter(pk=evaluation.pk).update(
        decided_by_id=by.pk, decision_reason=reason.strip()
    )
    jobs.enqueue(machine.JOB, pk=evaluation.pk)
    evaluation.refresh_from_db()


@transaction.atomic
def go_on(evaluation: HumanEvaluation, *, by: Account, reason: str) -> None:
    """Undo a stop while workers have pages of it open; work is posted again."""
    _check_reason(evaluation, reason, "continued")
    refusal = "only a stop whose open pages are not in yet can be undone"
    _lock(evaluation, {State.ANNOTATING}, refusal, "not-stopped")
    stopped = read_stopped(evaluation.campaigns_in_order)
    if not stopped or not all(run.resume(one.pk, by, reason) for one in stopped):
        raise GenieError(f"{evaluation}: {refusal}.", code="not-stopped")
    _tell(evaluation, f"The stop was undone: {reason.strip()}", by)


@transaction.atomic
def rank_partial(
    evaluation: HumanEvaluation, *, by: Account, reason: str, ranked: bool
) -> None:
    _check_reason(evaluation, reason, "ranked" if ranked else "no longer ranked")
    refusal = "only a published partial score can be ranked by decision"
    _lock(evaluation, {State.SCORED}, refusal, "not-published")
    scores = evaluation.current_scores.order_by("pk")
    partial = any(partial_of_score(score) is not None for score in scores)
    if not evaluation.submission.is_published or (ranked and not partial):
        raise GenieError(f"{evaluation}: {refusal}.", code="not-partial")
    changed = HumanEvaluation.objects.filter(
        pk=evaluation.pk, ranks_partial=not ranked
    ).update(ranks_partial=ranked)
    if not changed:
        raise GenieError(
            f"{evaluation} is {'already' if ranked else 'not'} ranked by a decision.",
            code="decided-meanwhile",
        )
    shown = "is ranked" if ranked else "is no longer ranked"
    sentence = f"Staff decided that the partial score {shown}: {reason.strip()}"
    _tell(evaluation, sentence, by)
    evaluation.refresh_from_db()


@transaction.atomic
def publish_partial(evaluation: HumanEvaluation, *, by: Account, reason: str) -> None:
    refusal = (
        "only a submission that was stopped without publishing can be published now"
    )
    _lock(evaluation, {State.STOPPED}, refusal, "not-stopped")
    pks = [campaign.pk for campaign in evaluation.campaigns_in_order]
    if not pks:
        raise GenieError(
            f"{evaluation} was stopped before its HITs were posted; there is no result to "
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
    _log_decision(evaluation.listed_as, evaluation.pk, sentence, by)


@transaction.atomic
def retry(evaluation: HumanEvaluation, *, by: Account) -> None:
    machine.lock(evaluation.pk)
    evaluation.refresh_from_db()
    waits = evaluation.state in WAITING
    runner = measured_tests.RUNNER if waits else machine.RUNNERS.get(evaluation.state)
    runner = _check_failed(evaluation, runner)
    if evaluation.state == State.APPROVED:
        _accept_tests(evaluation, by)
    HumanEvaluation.objects.filter(pk=evaluation.pk).update(**CLEARED)
    machine.tell(evaluation, _AGAIN, by=by)
    jobs.enqueue(runner.job, pk=evaluation.pk)
    evaluation.refresh_from_db()


@transaction.atomic
def retry_submission(submission: Submission, *, by: Account) -> None:
    # It failed before it had an evaluation: its own row is the lock.
    lifecycle.lock(submission.pk)
    submission.refresh_from_db()
    runner = _check_failed(submission, lifecycle.RUNNERS.get(submission.state))
    Submission.objects.filter(pk=submission.pk).update(**CLEARED)
    lifecycle.tell(submission.pk, submission.state, _AGAIN, by=by)
    jobs.enqueue(runner.job, pk=submission.pk)
    submission.refresh_from_db()


def _lock(
    evaluation: HumanEvaluation, allowed: Collection[str], refusal: str, code: str
) -> None:
    # Read again under the lock: the state that the page showed may have changed.
    try:
        machine.lock(evaluation.pk)
    except HumanEvaluation.DoesNotExist as joined:
        raise GenieError(
            "This request was merged into a different one.", code="decided-meanwhile"
        ) from joined
    evaluation.refresh_from_db()
    gone = Submission.objects.filter(is_withdrawn(), human_evaluation=evaluation.pk)
    if evaluation.state not in allowed or gone.exists():
        state = evaluation.listed_as.get_state_display()
        raise GenieError(f"{evaluation} is {state}; {refusal}.", code=code)


def _move(
    evaluation: HumanEvaluation,
    state: str,
    sentence: str,
    by: Account,
    reason: str,
    **fields: Any,
) -> None:
    fields |= {"decided_by_id": by.pk, "decision_reason": reason.strip()}
    try:
        machine.move(evaluation, state, sentence, by=by, **fields)
    except LostRace as lost:
        raise GenieError(
            f"Someone else has just decided on {evaluation}.", code="decided-meanwhile"
        ) from lost
    _log_decision(evaluation.listed_as, evaluation.pk, sentence, by)


def _tell(evaluation: HumanEvaluation, sentence: str, by: Account) -> bool:
    _log_decision(evaluation.listed_as, evaluation.pk, sentence, by)
    return machine.tell(evaluation, sentence, by=by)


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


def _log_decision(row: Any, about: int | None, sentence: str, by: Account) -> None:
    name = str(row._meta.model_name)
    data = {name: row.pk, "task": row.task.slug, "says": sentence, "by": by.pk}
    log.append(log.Kind.DECISION, data, about=about)


def _check_reason(evaluation: HumanEvaluation, reason: str, done: str) -> None:
    if not reason.strip():
        noun = evaluation.listed_as._meta.verbose_name
        raise GenieError(
            f"Give a reason why the {noun} is {done}.", code="reason-missing"
        )


def _check_failed(row: Submission | HumanEvaluation, runner: Runner | None) -> Runner:
    if not row.failure or runner is None:
        raise GenieError(
            f"“{row}” did not fail; there is nothing to retry.", code="nothing-to-retry"
        )
    return runner


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
def withdraw(submission: Submission, *, by: Account, reason: str) -> None:
    """Withdraw a submission in any state; stop its campaigns and hide it on boards."""
    submission = lifecycle.lock(submission.pk)
    sentence = lifecycle.withdraw(submission, reason, by=by)
    _log_decision(submission, submission.human_evaluation_id, sentence, by)
    # Not measured yet: no worker was asked, and no money is reserved.
    if submission.human_evaluation_id is None:
        return
    # The others of its evaluation go on without it.
    evaluation = machine.lock(part_with(submission).pk)
    keys = strategy_of(evaluation).keys(evaluation)
    if evaluation.state in _BACK_TO:
        machine.move(evaluation, _BACK_TO[evaluation.state])
    campaigns.end(evaluation, keys, by=by, reason="The submission was withdrawn.")


@transaction.atomic
def restore(submission: Submission, *, by: Account) -> None:
    """Bring a withdrawn submission back to its former state within a day."""
    submission = lifecycle.lock(submission.pk)
    asked = None
    if submission.human_evaluation_id is not None:
        evaluation = machine.lock(submission.human_evaluation_id)
        asked = evaluation.state
        if asked == State.REQUESTED:
            HumanEvaluation.objects.filter(pk=evaluation.pk).update(
                approved_cents=None, decided_by=None, finished_at=None
            )
    sentence = lifecycle.restore(submission, asked, by=by)
    _log_decision(submission, submission.human_evaluation_id, sentence, by)


@transaction.atomic
def take_back(evaluation: HumanEvaluation, *, by: Account) -> None:
    waiting = {State.REQUESTED, State.DECLINED}
    refusal = "only one that awaits approval can be withdrawn"
    _lock(evaluation, waiting, refusal, "not-withdrawable")
    sentence = "Withdrawn by who asked for it."
    machine.move(evaluation, State.WITHDRAWN, sentence, by=by)
    _log_decision(evaluation.listed_as, evaluation.pk, sentence, by)


__all__ = [
    "MAY_DECIDE",
    "UNMEASURED",
    "approve",
    "decline",
    "evaluation_about",
    "go_on",
    "is_measured",
    "may_decide",
    "measure_together",
    "prepare",
    "publish_partial",
    "quote",
    "rank_partial",
    "require_evaluation",
    "restore",
    "retry",
    "retry_submission",
    "stop",
    "take_back",
    "test_questions",
    "withdraw",
    "workers_needed",
]
