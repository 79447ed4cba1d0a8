"""Values that only this site can create or read: seeds, names, sealed texts.

The source of this program and most data are public: with the seed of a campaign, anyone
could tell which of its questions are tests.
"""

import base64
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from django.db import models
from django.utils.crypto import salted_hmac

from genie.lib import keys
from genie.lib.seeds import seed_from

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet


def name_for(*parts: object) -> str:
    """Return a name of 32 hexadecimal digits, derived with the site's pseudonym key."""
    return names_for(*parts)[0]


def names_for(*parts: object) -> list[str]:
    """Return the names with the pseudonym key and its former ones, newest first."""
    text = "\x1f".join(str(part) for part in parts)
    macs = [
        salted_hmac("genie.lib.unguessable", text, secret=one, algorithm="sha256")
        for one in keys.values(keys.PSEUDONYM)
    ]
    return [mac.hexdigest()[:32] for mac in macs]


def seed_for(*parts: object) -> int:
    """Return a seed as `seed_from`, derived with the site's pseudonym key; store it."""
    return seed_from(name_for("seed", *parts))


def fingerprint(site_secret: str | bytes) -> str:
    # The salt keeps its old name, because requesters' keys are stored with its result.
    mac = salted_hmac(
        "crowd.requester.fingerprint", "", secret=site_secret, algorithm="sha256"
    )
    return mac.hexdigest()[:16]


def seal(text: str) -> str:
    return _box().encrypt(text.encode()).decode()


def open_sealed(sealed: str) -> str | None:
    """Decrypt a text; None if the site no longer has the key."""
    from cryptography.fernet import InvalidToken

    try:
        return _box().decrypt(sealed.encode()).decode()
    except InvalidToken:
        return None


def seal_anew(value: Any) -> Any:
    """Seal the texts in a JSON value again with the newest key, if they are sealed."""
    if isinstance(value, dict):
        return {name: seal_anew(one) for name, one in value.items()}
    if isinstance(value, list):
        return [seal_anew(one) for one in value]
    opened = open_sealed(value) if type(value) is str else None
    return value if opened is None else seal(opened)


class SealedText(models.TextField):  # type: ignore[type-arg]
    """A column of texts that `seal` returned."""


class SealedField(SealedText):
    """A secret that is sealed in the database only; random if the key is lost."""

    def from_db_value(self, value: str | None, *_: Any) -> str | None:
        if not value:
            return value
        opened = open_sealed(value)
        return _Unopened(value) if opened is None else opened

    def get_prep_value(self, value: Any) -> Any:
        if isinstance(value, _Unopened):
            return value.sealed
        return seal(value) if value else value


class _Unopened(str):
    """A text that matches no signature, stored as it was."""

    def __new__(cls, sealed: str) -> "_Unopened":
        made = super().__new__(cls, token_hex(16))
        made.sealed = sealed
        return made

    sealed: str


def _box() -> "MultiFernet":
    # An idle queue does not need it, and it takes 6 MB.
    from cryptography.fernet import Fernet, MultiFernet

    # the first encrypts; former keys still decrypt
    return MultiFernet([Fernet(_key(one)) for one in keys.sealing_keys()])


def _key(site_secret: str | bytes) -> bytes:
    mac = salted_hmac(
        "genie.lib.unguessable.sealed", "", secret=site_secret, algorithm="sha256"
    )
    return base64.urlsafe_b64encode(mac.digest())
