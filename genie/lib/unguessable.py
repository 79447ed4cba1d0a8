"""What can be made or read again here, and by nobody else: seeds, names, sealed texts.

The source of this program is public, and so are most data: whoever can recompute the
seed of a campaign knows which of its questions are tests.
"""

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.utils.crypto import salted_hmac

from genie.lib.seeds import seed_from


def name_for(*parts: object) -> str:
    """Give a name of 32 hexadecimal digits, made with the site's secret key."""
    text = "\x1f".join(str(part) for part in parts)
    return salted_hmac("genie.lib.unguessable", text, algorithm="sha256").hexdigest()[
        :32
    ]


def seed_for(*parts: object) -> int:
    """Give a seed as `seed_from` does, made with the site's secret key; store it."""
    return seed_from(name_for("seed", *parts))


def fingerprint(site_secret: str | bytes) -> str:
    """Name one of the site's secret keys without telling anything of it."""
    # The salt is older than this place: requesters' keys are stored with what it gives.
    mac = salted_hmac(
        "crowd.requester.fingerprint", "", secret=site_secret, algorithm="sha256"
    )
    return mac.hexdigest()[:16]


def seal(text: str) -> str:
    """Encrypt a text with a key made of the site's secret key."""
    return _box().encrypt(text.encode()).decode()


def opened(sealed: str) -> str | None:
    """Give the text again; None where the site has the key no more."""
    try:
        return _box().decrypt(sealed.encode()).decode()
    except InvalidToken:
        return None


def _box() -> MultiFernet:
    # the first seals; former keys still open
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet([Fernet(_key(one)) for one in keys])


def _key(site_secret: str | bytes) -> bytes:
    mac = salted_hmac(
        "genie.lib.unguessable.sealed", "", secret=site_secret, algorithm="sha256"
    )
    return base64.urlsafe_b64encode(mac.digest())
