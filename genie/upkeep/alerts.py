from django.conf import settings
from django.core.cache import cache
from django.core.mail import send_mail

from genie.upkeep.doctor import OK, Finding, examine

_KEY = "upkeep-told"


def look() -> None:
    """E-mail findings that are new, worse or over since the last time.

    Each point of a finding is reported once while it lasts; the end of a single point
    is reported with the whole finding.
    """
    recipients: list[str] = settings.GENIE["ALERTS"]
    if not recipients:
        return
    found = dict(examine(slow=False))
    trouble = {n: f.verdict for n, f in found.items() if f.verdict != OK}
    points = {_point(name, key): OK for name in trouble for key in found[name].points}
    now, told = trouble | points, cache.get(_KEY, {})
    if now == told:
        return
    over = [name for name in told if name in found and name not in trouble]
    if over or any(told.get(name) != verdict for name, verdict in now.items()):
        _tell(recipients, found, trouble, set(told), over)
    # Stored after sending, so that a failed e-mail is sent the next time.
    cache.set(_KEY, now, timeout=None)


def _tell(
    recipients: list[str],
    found: dict[str, Finding],
    trouble: dict[str, str],
    told: set[str],
    over: list[str],
) -> None:
    lines = []
    for name in trouble:
        lines.append(f"{found[name].verdict}: {name}: {found[name].sentence}")
        lines += [
            f"- {sentence}"
            for key, sentence in found[name].points.items()
            if _point(name, key) not in told
        ]
    lines += [f"over: {name}" for name in over]
    send_mail(
        f"{settings.ACCOUNT_EMAIL_SUBJECT_PREFIX}"
        + (
            f"Trouble: {', '.join(trouble)}" if trouble else "All problems are resolved"
        ),
        "\n".join([*lines, "", f"{settings.GENIE['SITE_URL']}/admin/status/", ""]),
        None,
        recipients,
    )


def _point(name: str, key: str) -> str:
    return f"{name}: {key}"
