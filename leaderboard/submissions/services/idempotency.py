"""Hand in under a key: the same request sent twice is one submission."""

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
from leaderboard.submissions.models.repeated_request import RepeatedRequest

Made = TypeVar("Made", bound=Model)

# A program that comes back later than this means another submission.
KEPT = timedelta(days=7)
MAX_KEY = 200


def checked_key(key: str) -> str:
    """Give a key that can be kept, or say what is wrong with it."""
    if not 1 <= len(key) <= MAX_KEY or not key.isascii() or not key.isprintable():
        raise GenieError(
            f"An Idempotency-Key must have 1 to {MAX_KEY} printable ASCII characters.",
            code="bad-key",
        )
    return key


def fingerprint(fields: dict[str, Any], file: IO[bytes] | None = None) -> str:
    """Hash what is handed in, so that a key cannot come to mean two things."""
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
    """Call `receive` unless its work is done; the second value tells whether it was.

    The key is written in the transaction that makes the submission: there is no moment
    at which one is there without the other. `made` names what came of it.
    """

    def remember(row: Made) -> None:
        of: dict[str, Any] = {made: row}
        RepeatedRequest.objects.create(
            user_id=user.pk, key=key, fingerprint=request_hash, **of
        )

    if earlier := _earlier(user, key, request_hash, made):
        return earlier, True
    try:
        new = receive(remember)
    except (IntegrityError, GenieError):
        # A twin of this request may have been first, and have used the quota up.
        if earlier := _earlier(user, key, request_hash, made):
            return earlier, True
        raise
    return new, False


def _earlier(user: Account, key: str, request_hash: str, made: str) -> Any:
    old = timezone.now() - KEPT
    # An old key is forgotten when it is used again; no job has to clean up.
    RepeatedRequest.objects.filter(
        user_id=user.pk, key=key, created_at__lt=old
    ).delete()
    request = (
        RepeatedRequest.objects.filter(user_id=user.pk, key=key)
        .select_related("submission__task", "submission__team")
        .first()
    )
    if request is None:
        return None
    if request.fingerprint != request_hash:
        raise GenieError(
            "This Idempotency-Key was already used for a different request; use "
            "a new one.",
            code="key-reused",
        )
    return getattr(request, made)
