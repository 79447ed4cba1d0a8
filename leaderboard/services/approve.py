"""A person looks at the cost and decides."""

from __future__ import annotations

from dataclasses import replace

from django.db import transaction

from crowd.pricing import Quote
from crowd.pricing import quote as price
from crowd.services import fund
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.models import Submission, Task
from leaderboard.services import asking, lifecycle, qualification

State = Submission.State


def n_test_questions(task: Task) -> tuple[int, int]:
    """Give how many positive and negative test questions a campaign of the task has."""
    return asking.n_test_questions(task.human, task.sample_size)


def quote(submission: Submission) -> Quote:
    """Price the human evaluation of a submission, to the cent."""
    one = quote_part(submission.task)
    n = len(asking.separate(submission.task.human))
    return _times(one, n) if n > 1 else one


def quote_part(task: Task) -> Quote:
    """Price one campaign of the task; with separate criteria there are several."""
    human = task.human
    return price(
        platform=str(human.get("platform", "selfhosted")),
        reward_cents=int(human["reward_cents"]),
        n_items=task.sample_size,
        n_test_questions=sum(n_test_questions(task)),
        ratings_per_item=int(human.get("ratings_per_instance", 1)),
        repost_share=float(human.get("repost_share", 0.1)),
        max_assignments=int(human.get("ratings_per_instance", 1)),
    )


def _times(one: Quote, n: int) -> Quote:
    return Quote(
        reward_cents=n * one.reward_cents,
        fee_cents=n * one.fee_cents,
        test_question_cents=n * one.test_question_cents,
        repost_cents=n * one.repost_cents,
        total_cents=n * one.total_cents,
        n_assignments=n * one.n_assignments,
        lines=tuple(
            replace(line, n=n * line.n, cents=n * line.cents) for line in one.lines
        ),
    )


def commitment_key(submission_pk: int) -> str:
    return f"submission:{submission_pk}"


def parts(submission: Submission) -> list[str]:
    """Name the submission's campaigns; each has a commitment of the same name."""
    key = commitment_key(submission.pk)
    rest = asking.separate(submission.task.human)[1:]
    return [key, *(f"{key}:{next(iter(criteria))}" for criteria in rest)]


def approve(
    pk: int, *, by: Account, reason: str = "", start_now: bool = False
) -> Submission:
    """Set the money aside and send the submission to people; one approval counts."""
    with transaction.atomic():
        submission = Submission.objects.select_for_update().get(pk=pk)
        if submission.state not in {State.MEASURED, State.DECLINED}:
            raise GenieError(
                f"{submission.system_name} is {submission.get_state_display()}; only "
                "measured or declined submissions can be approved.",
                code="not-approvable",
            )
        _refuse_without_references(submission)
        qualification.check_platform_of(submission.task, submission.task.human)
        cost = quote(submission)
        keys = parts(submission)
        for key in keys:
            fund.commit(
                key=key,
                pool=submission.task.slug,
                amount_cents=cost.total_cents // len(keys),
                by=by,
            )
        moved = lifecycle.move(
            pk,
            submission.state,
            State.APPROVED,
            f"Approved at a cost of up to ${cost.total_cents / 100:,.2f}."
            + (f" {reason}" if reason else ""),
            by=by,
            decided_by=by,
            decision_reason=reason,
            approved_cents=cost.total_cents,
            start_now=start_now,
        )
        if not moved:
            raise GenieError(
                "Someone else has just decided on this submission.",
                code="decided-meanwhile",
            )
    submission.refresh_from_db()
    return submission


def decline(pk: int, *, by: Account, reason: str) -> Submission:
    """Say no, with the reason that the submitter reads."""
    if not reason.strip():
        raise GenieError(
            "Give a reason for declining the submission.", code="reason-missing"
        )
    with transaction.atomic():
        submission = Submission.objects.select_for_update().get(pk=pk)
        moved = submission.state == State.MEASURED and lifecycle.move(
            pk,
            State.MEASURED,
            State.DECLINED,
            f"Declined: {reason.strip()}",
            by=by,
            decided_by=by,
            decision_reason=reason.strip(),
        )
        if not moved:
            raise GenieError(
                f"{submission.system_name} is {submission.get_state_display()}; only "
                "measured submissions can be declined.",
                code="not-declinable",
            )
    submission.refresh_from_db()
    return submission


def _refuse_without_references(submission: Submission) -> None:
    design = asking.design_of(submission.task, submission.task.human)
    judged = submission.task.instances.filter(
        sample_rank__lt=submission.task.sample_size
    )
    bare = [one for one in judged.order_by("pk") if not asking.has_references(one)]
    if design.needs_reference and bare:
        raise GenieError(
            f"{len(bare):,} of the instances to be rated have no reference, "
            f"which the design {design.slug} shows to workers.",
            code="no-references",
        )
    wanted = sum(n_test_questions(submission.task))
    with_references = submission.task.instances.exclude(references=[]).count()
    if wanted and with_references < 2:
        raise GenieError(
            f"{submission.task.title} has no references to make test questions from; "
            "load them (they can be hidden) or set positive_share and negative_share "
            "to 0 in its task.toml.",
            code="no-references",
        )
