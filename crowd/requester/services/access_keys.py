"""Requesters and their keys: created by staff, shown once, revoked permanently."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from crowd.requester.models import (
    AccessKey,
    Requester,
    RequesterEntry,
    new_access_key_id,
)
from crowd.requester.services.money import book
from genie.lib import keys
from genie.lib.admin import note
from genie.lib.errors import GenieError
from genie.lib.unguessable import fingerprint

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser

MAX_DEPOSIT_CENTS = 100_000_000


def secret_of(key_id: str, site_secret: str | bytes) -> str:
    """Compute the secret half of a key from one of the site's secrets.

    Checking a signature needs the secret itself, so a hash would not do. Because the
    database does not hold it, it cannot be stolen from there.
    """
    mac = salted_hmac(
        "crowd.requester.access-key", key_id, secret=site_secret, algorithm="sha256"
    )
    return base64.b64encode(mac.digest()).decode()[:40]


def create_key(
    requester: Requester, by: AbstractBaseUser, remark: str = ""
) -> tuple[AccessKey, str]:
    site_secret = keys.values(keys.REQUESTER)[0]
    key = AccessKey.objects.create(
        requester=requester,
        key_id=new_access_key_id(),
        note=remark[:200],
        made_with=fingerprint(site_secret),
        created_by_id=by.pk,
    )
    note(by, requester, f"Created the access key {key.key_id}.")
    return key, secret_of(key.key_id, site_secret)


def revoke_key(
    key: AccessKey, by: AbstractBaseUser | None = None, reason: str = ""
) -> bool:
    """Revoke a key; False if it was revoked already."""
    revoked = AccessKey.objects.filter(pk=key.pk, revoked_at=None).update(
        revoked_at=timezone.now()
    )
    if revoked:
        note(by, key, f"Revoked: {reason}" if reason else "Revoked.")
    return bool(revoked)


def live_secrets(key_id: str) -> list[str]:
    """Return the possible secrets of a valid key; empty for other keys.

    A key is valid while the secret it was derived from is the site's, or one of the
    former ones that are still listed.
    """
    key = AccessKey.objects.filter(key_id=key_id, revoked_at=None).first()
    if key is None:
        return []
    return [
        secret_of(key_id, site_secret)
        for site_secret in keys.values(keys.REQUESTER)
        if key.made_with == fingerprint(site_secret)
    ]


def deposit(
    requester: Requester, cents: int, *, key: str, by: AbstractBaseUser | None = None
) -> RequesterEntry:
    """Add money to a requester's account; the same key again changes nothing."""
    if not 0 < cents <= MAX_DEPOSIT_CENTS:
        raise GenieError(
            f"A deposit must be from 1 to {MAX_DEPOSIT_CENTS} cents.",
            code="bad-deposit",
        )
    with transaction.atomic():
        entry, is_new = RequesterEntry.objects.get_or_create(
            # Hashed, because a chosen name may be of any length.
            key=f"deposit:{requester.pk}:{hashlib.sha256(key.encode()).hexdigest()[:32]}",
            defaults={
                "requester": requester,
                "kind": RequesterEntry.Kind.DEPOSIT,
                "amount_cents": cents,
                "created_at": timezone.now(),
            },
        )
        if is_new:
            book(requester.pk, cents)
            note(by, requester, f"Deposited {cents} cents.")
    return entry
