"""E-mails to whoever runs the site when trouble begins and when it is over."""

from __future__ import annotations

from django.conf import settings
from django.core.cache import cache
from django.core.mail import send_mail

from genie.upkeep.doctor import OK, examine

_KEY = "upkeep-told"


def look() -> None:
    """Be a periodic job: tell of what is new or worse, or over, since the last time."""
    recipients: list[str] = settings.GENIE["ALERTS"]
    if not recipients:
        return
    found = dict(examine(slow=False))
    trouble = {n: f.verdict for n, f in found.items() if f.verdict != OK}
    told: dict[str, str] = cache.get(_KEY, {})
    if trouble == told:
        return
    lines = [
        f"{found[name].verdict}: {name}: {found[name].sentence}" for name in trouble
    ]
    lines += [f"over: {name}" for name in told if name not in trouble]
    send_mail(
        f"{settings.ACCOUNT_EMAIL_SUBJECT_PREFIX}"
        + (f"Trouble: {', '.join(trouble)}" if trouble else "All is well again"),
        "\n".join([*lines, "", f"{settings.GENIE['SITE_URL']}/admin/status/", ""]),
        None,
        recipients,
    )
    # Kept after it was sent: what fails is told the next time.
    cache.set(_KEY, trouble, timeout=None)
