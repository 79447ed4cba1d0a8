"""Sending of e-mails, to a folder of files unless the operator names a server; HTML."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string

from genie.lib import env

_SMTP_PORT, _SMTPS_PORT = 587, 465
# The line length of an e-mail's text; HTML wraps in the reader.
LINE, UNBROKEN = 78, 1_000_000
_LINK = re.compile(r"(.*?)(https?://\S+)")


def settings_for(where: str, folder: Path) -> dict[str, Any]:
    """Return Django's settings for `GENIE_EMAIL`.

    Parameters
    ----------
    where : str
        `file`, `console`, or a server: `smtp://user:password@host:587` (STARTTLS)
        or `smtps://...` (TLS from the start).
    """
    backend = "django.core.mail.backends."
    if where == "console":
        return {"EMAIL_BACKEND": f"{backend}console.EmailBackend"}
    if where == "file":
        return {
            "EMAIL_BACKEND": f"{backend}filebased.EmailBackend",
            "EMAIL_FILE_PATH": str(folder),
        }
    parts = urlsplit(where)
    if parts.scheme not in {"smtp", "smtps"} or not parts.hostname:
        raise env.ConfigurationError(
            "GENIE_EMAIL must be file, console, smtp://user:password@host:587 or "
            "smtps://user:password@host:465."
        )
    tls = parts.scheme == "smtps"
    return {
        "EMAIL_BACKEND": f"{backend}smtp.EmailBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or (_SMTPS_PORT if tls else _SMTP_PORT),
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": tls,
        "EMAIL_USE_TLS": not tls,
        "EMAIL_TIMEOUT": 20,
    }


def message(
    subject: str,
    text: str,
    address: str,
    *,
    action: str,
    unbroken: str = "",
    headers: dict[str, str] | None = None,
) -> EmailMultiAlternatives:
    """Return an e-mail with text and HTML.

    `action` labels the button of its link; `unbroken` is the text without line breaks,
    for narrow windows.
    """
    mail = EmailMultiAlternatives(subject, text, None, [address], headers=headers)
    html = as_html(unbroken or text, subject=subject, action=action)
    mail.attach_alternative(html, "text/html")
    return mail


def as_html(text: str, *, subject: str, action: str) -> str:
    """Return an e-mail's text as HTML; its first link on a separate line is a button."""
    body = text.partition("\n--\n")[0].strip()
    paragraphs = [
        [_LINK.fullmatch(line.strip()) or line.strip() for line in one.split("\n")]
        for one in body.split("\n\n")
        if one.strip()
    ]
    lines = [one for paragraph in paragraphs for one in paragraph]
    links = [one for one in lines if isinstance(one, re.Match)]
    context = {
        "subject": subject,
        "site": str(settings.GENIE["SITE_URL"]).rstrip("/"),
        "action": action,
        "paragraphs": [[_line(one) for one in paragraph] for paragraph in paragraphs],
        "main": next((link[2] for link in links if not link[1]), None),
    }
    return render_to_string("account/email/message.html", context)


def _line(line: str | re.Match[str]) -> dict[str, str]:
    if isinstance(line, str):
        return {"words": line, "link": ""}
    return {"words": line[1], "link": line[2]}
