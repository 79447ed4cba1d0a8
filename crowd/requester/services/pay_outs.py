"""Note which of requesters' work was paid out to workers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from crowd.requester.models.account import RequesterAssignment, RequesterBonus
from genie.lib.admin.log import note
from genie.lib.errors import GenieError

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser


def mark_paid(
    rows: Iterable[RequesterAssignment | RequesterBonus],
    by: AbstractBaseUser,
    reference: str,
) -> int:
    """Note that approved work and bonuses were paid, under the payer's reference.

    Returns how many changed: what is not approved, or was paid before, does not.
    """
    reference = reference.strip()
    if not reference:
        raise GenieError(
            "Give the payment's reference, so that it can be found again.",
            code="reference-missing",
        )
    n = 0
    for row in rows:
        with transaction.atomic():
            if _pay(row, reference):
                note(by, row, f"Marked paid: {reference}.")
                n += 1
    return n


def _pay(row: RequesterAssignment | RequesterBonus, reference: str) -> bool:
    values = {"paid_at": timezone.now(), "payment_reference": reference[:100]}
    if isinstance(row, RequesterBonus):
        unpaid = RequesterBonus.objects.filter(pk=row.pk, paid_at=None)
        return bool(unpaid.update(**values))
    approved = RequesterAssignment.objects.filter(
        pk=row.pk, paid_at=None, state=RequesterAssignment.State.APPROVED
    )
    return bool(approved.update(**values))
