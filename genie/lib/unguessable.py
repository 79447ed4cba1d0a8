"""Seeds and names that can be made again here, and by nobody else.

The source of this program is public, and so are most data: whoever can recompute the
seed of a campaign knows which of its questions are tests.
"""

from __future__ import annotations

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
