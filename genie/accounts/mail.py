"""How e-mails leave, a folder of files unless the operator names a server; their HTML."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string

from genie.lib import env

_SMTP_PORT, _SMTPS_PORT = 587, 465
# How long the lines of a mail's text are; its HTML is broken where it is read.
LINE, UNBROKEN = 78, 1_000_000
_LINK = re.compile(r"(.*?)(https?://\S+)")


def settings_for(where: str, folder: Path) -> dict[str, Any]:
    """Turn `GENIE_EMAIL` into Django's settings.

    Parameters
    ----------
    where : str
        `file`, `console`, or a server: `smtp://user:password@host:587` (STARTTLS)
        or `smtps://...` (TLS from the start).
    folder : Path
        Where `file` writes.

    Examples
    --------
    >>> settings_for("smtp://nina:a%40b@mail.example", Path("mail"))["EMAIL_HOST_PASSWORD"]
    'a@b'
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
    """Put a mail's text and its HTML together.

    Parameters
    ----------
    action : str
        What its link is for, as the words on a button.
    unbroken : str
        The text again without breaks for narrow windows, where it has some.
    """
    mail = EmailMultiAlternatives(subject, text, None, [address], headers=headers)
    html = as_html(unbroken or text, subject=subject, action=action)
    mail.attach_alternative(html, "text/html")
    return mail


def as_html(text: str, *, subject: str, action: str) -> str:
    """Set the text of a mail as HTML; its first link that has a line to itself is a button.

    So both parts of a mail say the same, and there is one text to translate.
    """
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
    """Part a line into its words and the link with which it ends."""
    if isinstance(line, str):
        return {"words": line, "link": ""}
    return {"words": line[1], "link": line[2]}
