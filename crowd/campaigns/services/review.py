"""Approve or reject submitted work; each decision is made once.

Code that decides locks the campaign's row first and the assignment's second, as
`overturn` does, so decisions wait for each other without deadlocks.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.functional import lazy
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy

from crowd.hits.models import Assignment, Campaign
from crowd.hits.selectors import title_now
from crowd.hits.services.build import free_slot
from crowd.hits.services.platforms import can
from crowd.messages import services
from crowd.messages.models import Message
from crowd.messages.services import Words
from crowd.money.services import budgets, payments
from crowd.workers.selectors.profiles import zone_of
from genie.lib.admin import note
from genie.lib.errors import GenieError

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

    from crowd.workers.models.worker import Worker

State = Assignment.State
# In the reader's language.
_title, _written = lazy(title_now, str), lazy(date_format, str)
ASKING = (Campaign.State.RUNNING, Campaign.State.PAUSED)


def approve(
    assignment_pks: Iterable[int], by: AbstractBaseUser | None = None, why: str = ""
) -> int:
    n = 0
    for pk in list(assignment_pks):
        with transaction.atomic():
            approved = Assignment.objects.filter(pk=pk, state=State.SUBMITTED).update(
                state=State.APPROVED, decided_at=timezone.now()
            )
            if approved and by is not None:
                note(by, Assignment.objects.get(pk=pk), "Approved.", why)
            n += approved
    return n


def approve_waiting() -> None:
    now = timezone.now()
    limit = now - timedelta(hours=settings.GENIE["AUTO_APPROVAL_HOURS"])
    waiting = Assignment.objects.filter(state=State.SUBMITTED, submitted_at__lte=limit)
    waiting.update(state=State.APPROVED, decided_at=now)


def reject(assignment_pk: int, by: AbstractBaseUser | None, reason: str) -> bool:
    """Reject submitted work: it is not paid, and its HIT goes out again, once."""
    reason = reason.strip()
    if not reason:
        raise GenieError(
            "Give a reason for the rejection; the worker reads it.",
            code="reason-missing",
        )
    with transaction.atomic():
        # Code that ends the campaign locks this row, so its final state counts.
        campaign = Campaign.objects.select_for_update(of=("self",)).get(
            hits__assignments=assignment_pk
        )
        # Rejections that a platform reports have passed its rules already.
        if by is not None:
            _check_reason(campaign, reason)
        assignment = Assignment.objects.select_for_update(of=("self",)).get(
            pk=assignment_pk
        )
        rejected = Assignment.objects.filter(
            pk=assignment_pk, state=State.SUBMITTED
        ).update(
            state=State.REJECTED, decided_at=timezone.now(), feedback=reason[:1024]
        )
        if not rejected:
            return False
        saved = payments.cancel(assignment_pk, reason)
        if campaign.state not in ASKING:
            # The account was closed at the amount spent, so the saving is subtracted
            # again.
            budgets.correct(campaign.key, -saved)
        # A replaced answer has given up its place already.
        elif assignment.replaced_at is None:
            free_slot(assignment.hit_id)
        if by is not None:
            note(by, assignment, f"Rejected: {reason}")
        _tell(assignment, campaign, reason)
    return True


def _tell(assignment: Assignment, campaign: Campaign, reason: str) -> None:
    title, at = _title(campaign.hit_type), assignment.submitted_at
    services.send(
        assignment.worker,
        Message.Kind.REJECTED,
        *refusal(assignment.worker, title, at, reason),
        pool=campaign.pool_id,
        assignment=assignment,
    )


def refusal(
    worker: Worker, title: Words, at: datetime | None, reason: str
) -> tuple[Words, Words]:
    zone = zone_of(worker)
    at = (at or timezone.now()).astimezone(zone)
    text = format_lazy(
        gettext_lazy(
            "“{title}”, submitted on {day} at {time} ({zone}), was rejected and is "
            "not paid. The reason: {reason}\n\nIf you think that this is wrong, you "
            "can appeal once, and a person will review it."
        ),
        title=title,
        day=_written(at, "DATE_FORMAT"),
        time=_written(at, "TIME_FORMAT"),
        zone=str(zone).replace("_", " "),
        reason=reason,
    )
    return gettext_lazy("Your work was rejected"), text


def _check_reason(campaign: Campaign, reason: str) -> None:
    least = can(campaign.platform).reject_minimum_characters
    if len(reason) < least:
        raise GenieError(
            f"{campaign.platform} requires a reason of at least {least} characters "
            f"for a rejection; this one has {len(reason)}.",
            code="reason-too-short",
        )
