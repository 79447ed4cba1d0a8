"""Approve work and reject it, once; callers hold the requester's row."""

from __future__ import annotations

from datetime import datetime

from crowd.messages import services
from crowd.messages.models import Message
from crowd.requester.models.account import RequesterAssignment
from crowd.requester.services import events, money

State = RequesterAssignment.State


def approve(
    assignment: RequesterAssignment,
    now: datetime,
    feedback: str = "",
    state: RequesterAssignment.State = State.SUBMITTED,
) -> bool:
    """Approve work that is in `state` and charge it, once."""
    approved = RequesterAssignment.objects.filter(pk=assignment.pk, state=state).update(
        state=State.APPROVED,
        approved_at=now,
        feedback=feedback or assignment.feedback,
        **money.settled(assignment.hit.requester, now),
    )
    if approved:
        money.charge_work(assignment, now)
        money.hold(assignment.hit_id, now)
        events.about_work(assignment, "AssignmentApproved", now)
    return bool(approved)


def reject(assignment: RequesterAssignment, now: datetime, reason: str) -> bool:
    """Reject submitted work and tell its worker why, once."""
    rejected = RequesterAssignment.objects.filter(
        pk=assignment.pk, state=State.SUBMITTED
    ).update(state=State.REJECTED, rejected_at=now, feedback=reason)
    if rejected:
        money.hold(assignment.hit_id, now)
        events.about_work(assignment, "AssignmentRejected", now)
        subject = "Your work was rejected"
        text = f"{_REJECTED} The reason: {reason}\n\n{_APPEAL}"
        _tell(assignment, Message.Kind.REJECTED, subject, text)
    return bool(rejected)


def take_back(assignment: RequesterAssignment, now: datetime, feedback: str) -> bool:
    """Approve work that was rejected and tell its worker, once."""
    approved = approve(assignment, now, feedback, State.REJECTED)
    if approved:
        subject = "A rejection was reversed"
        _tell(assignment, Message.Kind.REQUESTER, subject, _TAKEN_BACK)
    return approved


_REJECTED = "was rejected by its requester and is not paid."
_TAKEN_BACK = (
    "was rejected earlier. Its requester has now approved it, and it will be paid."
)
_APPEAL = (
    "If you think that this is wrong, you can appeal once, and the staff of this site "
    "will review it."
)


def _tell(
    row: RequesterAssignment, kind: Message.Kind, subject: str, sentence: str
) -> None:
    text = (
        f"“{row.hit.hit_type.title}”, submitted on "
        f"{row.submitted_at:%Y-%m-%d at %H:%M} UTC, {sentence}"
    )
    services.send_from_requester(row.worker, kind, subject, text, row)
