"""Values that only this site can create or read: seeds, names, sealed texts.

The source of this program and most data are public: with the seed of a campaign, anyone
could tell which of its questions are tests.
"""

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.utils.crypto import salted_hmac

from genie.lib.seeds import seed_from


def name_for(*parts: object) -> str:
    """Return a name of 32 hexadecimal digits, derived with the site's secret key."""
    text = "\x1f".join(str(part) for part in parts)
    return salted_hmac("genie.lib.unguessable", text, algorithm="sha256").hexdigest()[
        :32
    ]


def seed_for(*parts: object) -> int:
    """Return a seed as `seed_from`, derived with the site's secret key; store it."""
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
    try:
        return _box().decrypt(sealed.encode()).decode()
    except InvalidToken:
        return None


def _box() -> MultiFernet:
    # the first encrypts; former keys still decrypt
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet([Fernet(_key(one)) for one in keys])


def _key(site_secret: str | bytes) -> bytes:
    mac = salted_hmac(
        "genie.lib.unguessable.sealed", "", secret=site_secret, algorithm="sha256"
    )
    return base64.urlsafe_b64encode(mac.digest())
