"""Submit under a key: the same request sent twice creates one submission."""

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import IO, Any, TypeVar

from django.db import IntegrityError
from django.db.models import Model
from django.utils import timezone

from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.submissions.models import IdempotencyKey

Made = TypeVar("Made", bound=Model)

# A program that sends the key later than this means a new submission.
KEPT = timedelta(days=7)
MAX_KEY = 200


def checked_key(key: str) -> str:
    """Return a valid key, or raise ``bad-key``."""
    if not 1 <= len(key) <= MAX_KEY or not key.isascii() or not key.isprintable():
        raise GenieError(
            f"An Idempotency-Key must have 1 to {MAX_KEY} printable ASCII characters.",
            code="bad-key",
        )
    return key


def fingerprint(fields: dict[str, Any], file: IO[bytes] | None = None) -> str:
    """Return a hash of the request, so that a key cannot mean two requests."""
    digest = hashlib.sha256(json.dumps(fields, sort_keys=True, default=str).encode())
    if file is None:
        return digest.hexdigest()
    file.seek(0)
    while chunk := file.read(1 << 20):
        digest.update(chunk)
    file.seek(0)
    return digest.hexdigest()


def receive_once(
    user: Account,
    key: str,
    request_hash: str,
    receive: Callable[[Callable[[Made], None]], Made],
    *,
    made: str = "submission",
) -> tuple[Made, bool]:
    """Call `receive` unless its work is done; the second value is True if it was.

    The key is written in the same transaction as the submission: neither exists without
    the other. `made` is the key's field for the result.
    """

    def remember(row: Made) -> None:
        of: dict[str, Any] = {made: row}
        IdempotencyKey.objects.create(
            user_id=user.pk, key=key, fingerprint=request_hash, **of
        )

    if earlier := _earlier(user, key, request_hash, made):
        return earlier, True
    try:
        new = receive(remember)
    except (IntegrityError, GenieError):
        # An equal request may have been first, and have used up the quota.
        if earlier := _earlier(user, key, request_hash, made):
            return earlier, True
        raise
    return new, False


def _earlier(user: Account, key: str, request_hash: str, made: str) -> Any:
    old = timezone.now() - KEPT
    # An old key is deleted when it is used again, so no job has to clean up.
    IdempotencyKey.objects.filter(user_id=user.pk, key=key, created_at__lt=old).delete()
    request = (
        IdempotencyKey.objects.filter(user_id=user.pk, key=key)
        .select_related("submission__task", "submission__team")
        .first()
    )
    if request is None:
        return None
    if request.fingerprint != request_hash:
        raise GenieError(
            "This Idempotency-Key was already used for a different request. Use a new "
            "one.",
            code="key-reused",
        )
    return getattr(request, made)
