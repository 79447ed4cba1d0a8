from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.translation import gettext

from genie.accounts.models import AccessToken
from genie.lib.database import best_effort
from genie.lib.errors import GenieError
from genie.lib.typing import Account

if TYPE_CHECKING:
    from django.db.models import QuerySet

# Scanners for leaked secrets recognize the prefix.
PREFIX = "genie_"
MAX_TOKENS = 50
DEFAULT_DAYS, MAX_DAYS = 90, 3650
# Recording every use would turn each read of the API into a write.
_NOTE_USE_EVERY = timedelta(minutes=1)
Scope = AccessToken.Scope


def issue(
    user: Account, *, name: str, scopes: Iterable[str], days: int | None
) -> tuple[AccessToken, str]:
    """Create a token; the second value is the token itself, which is not stored."""
    chosen = [scope for scope in Scope.values if scope in set(scopes)]
    _refuse_unfit(user, name, chosen, days)
    secret = PREFIX + secrets.token_urlsafe(30)
    token = AccessToken.objects.create(
        user=user,
        name=name.strip(),
        token_sha256=hash_token(secret),
        ending=secret[-4:],
        scopes=chosen,
        expires_at=None if days is None else timezone.now() + timedelta(days=days),
    )
    return token, secret


def _refuse_unfit(
    user: Account, name: str, scopes: list[str], days: int | None
) -> None:
    if not 1 <= len(name.strip()) <= 100 or not name.isprintable():
        raise GenieError(
            gettext("Give the token a name of 1 to 100 characters."), code="bad-name"
        )
    if not scopes:
        raise GenieError(gettext("Choose at least one scope."), code="no-scope")
    if Scope.STAFF in scopes and not (user.is_staff or user.is_superuser):
        raise GenieError(
            gettext("Only staff can create a token with the scope staff."),
            code="not-staff",
        )
    if days is not None and not 1 <= days <= MAX_DAYS:
        raise GenieError(
            gettext("A token can be valid for 1 to %(max_days)s days.")
            % {"max_days": MAX_DAYS},
            code="bad-expiry",
        )
    if valid_tokens(user).count() >= MAX_TOKENS:
        raise GenieError(
            gettext("You already have %(max_tokens)s active tokens; revoke one first.")
            % {"max_tokens": MAX_TOKENS},
            code="too-many-tokens",
        )


def valid_tokens(user: Account) -> QuerySet[AccessToken]:
    now = timezone.now()
    not_revoked = AccessToken.objects.filter(user=user, revoked_at=None)
    return not_revoked.exclude(expires_at__lte=now)


def find(secret: str) -> AccessToken | None:
    return (
        AccessToken.objects.select_related("user")
        .filter(token_sha256=hash_token(secret))
        .first()
    )


def note_use(token: AccessToken) -> None:
    """Store when a token was last used, to the minute, unless the database is locked."""
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at >= _NOTE_USE_EVERY:
        row = AccessToken.objects.filter(pk=token.pk)
        best_effort(lambda: row.update(last_used_at=now))


def revoke(token: AccessToken) -> bool:
    """Revoke a token; False if it was revoked already."""
    rows = AccessToken.objects.filter(pk=token.pk, revoked_at=None)
    return bool(rows.update(revoked_at=timezone.now()))


def hash_token(secret: str) -> str:
    """Hash a token; it has too many random bits to guess."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
