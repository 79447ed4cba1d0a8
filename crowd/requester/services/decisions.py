"""Approve and reject work, once; callers lock the requester's row."""

from datetime import datetime

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy

from crowd.campaigns.services.review import refusal
from crowd.messages import services
from crowd.messages.models import Message
from crowd.requester.models import RequesterAssignment
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
        state=State.APPROVED, approved_at=now, feedback=feedback or assignment.feedback
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
        title, at = assignment.hit.hit_type.title, assignment.submitted_at
        words = refusal(assignment.worker.worker, title, at, reason)
        kind = Message.Kind.REJECTED
        services.send_from_requester(assignment.worker, kind, *words, assignment)
    return bool(rejected)


def take_back(assignment: RequesterAssignment, now: datetime, feedback: str) -> bool:
    """Approve work that was rejected and tell its worker, once."""
    approved = approve(assignment, now, feedback, State.REJECTED)
    if approved:
        text = format_lazy(
            gettext_lazy(
                "“{title}” was rejected earlier. Its requester has now approved it, and "
                "it will be paid."
            ),
            title=assignment.hit.hit_type.title,
        )
        services.send_from_requester(
            assignment.worker,
            Message.Kind.REQUESTER,
            gettext_lazy("A rejection was reversed"),
            text,
            assignment,
        )
    return approved
