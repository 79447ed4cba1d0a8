"""Texts that the database keeps and cannot read: sealed with the site's secret key."""

from __future__ import annotations

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.utils.crypto import salted_hmac


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
    mac = salted_hmac("genie.lib.sealed", "", secret=site_secret, algorithm="sha256")
    return base64.urlsafe_b64encode(mac.digest())
