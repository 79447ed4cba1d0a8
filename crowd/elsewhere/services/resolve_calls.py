"""Staff settle calls whose outcome the ledger cannot determine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from crowd.elsewhere.models.external import OutwardCall
from crowd.elsewhere.services.decisions import note_bonus
from genie.lib.admin.log import note
from genie.lib.errors import GenieError

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

Kind = OutwardCall.Kind
State = OutwardCall.State


@transaction.atomic
def happened(pk: int, by: AbstractBaseUser, reference: str) -> bool:
    """Store that a bonus of unknown outcome was paid, as staff saw on the platform."""
    reference = reference.strip()
    if not reference:
        raise GenieError(
            "Give the platform's reference, so that the payment can be found again.",
            code="reference-missing",
        )
    done = OutwardCall.objects.filter(
        pk=pk, kind=Kind.BONUS, state=State.SENDING
    ).update(
        state=State.DONE,
        platform_id=reference[:100],
        done_at=timezone.now(),
        trouble="",
    )
    return _noted(pk, by, f"Confirmed as carried out: {reference}", done)


@transaction.atomic
def send_again(pk: int, by: AbstractBaseUser, reason: str) -> bool:
    """Send a call again that was refused or surely did not happen.

    The ledger itself looks up calls that may have happened and have a token.
    """
    reason = reason.strip()
    if not reason:
        raise GenieError(
            "Say how you know that it was not carried out.", code="reason-missing"
        )
    again = (
        OutwardCall.objects.filter(pk=pk)
        .filter(Q(state=State.FAILED) | Q(kind=Kind.BONUS, state=State.SENDING))
        .update(
            state=State.PLANNED,
            first_sent_at=None,
            done_at=None,
            trouble="",
            code="",
        )
    )
    return _noted(pk, by, f"Resent: {reason}", again)


def _noted(pk: int, by: AbstractBaseUser, sentence: str, changed: int) -> bool:
    if changed:
        call = OutwardCall.objects.select_related("entry").get(pk=pk)
        if call.kind == Kind.BONUS:
            note_bonus(call)
        note(by, call, sentence[:300])
    return bool(changed)
