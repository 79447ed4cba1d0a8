from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from crowd.requester.models import Requester, RequesterAssignment
from crowd.requester.protocol import clock
from crowd.requester.services import money
from crowd.requester.services.decisions import approve
from crowd.requester.services.settle import settle
from genie.lib.admin import note

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

State = RequesterAssignment.State


def overturn(assignment_pk: int, *, by: AbstractBaseUser, sentence: str) -> bool:
    """Approve rejected work and charge its requester; False if it is not rejected.

    Raises
    ------
    TurkError
        ``InsufficientFunds`` if the requester's account does not cover it.
    """
    now = clock.now()
    with transaction.atomic():
        requester = Requester.objects.select_for_update().get(
            hits__assignments=assignment_pk
        )
        # so that the account is up to date
        settle(requester, now)
        work = RequesterAssignment.objects.select_related(
            "hit__hit_type", "hit__requester"
        ).get(pk=assignment_pk)
        if work.state != State.REJECTED:
            return False
        # The hold on this money ended with the rejection.
        money.require(requester, work.hit.reward_cents + work.hit.fee_cents)
        feedback = f"Approved by this site after an appeal: {sentence}"
        approve(work, now, feedback[:1024], State.REJECTED)
        note(by, work, f"Rejection reversed: appeal granted: {sentence}")
    return True
