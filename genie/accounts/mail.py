"""How e-mails leave, a folder of files unless the operator names a server; their HTML."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from django.template.loader import render_to_string

from genie.lib import env

_SMTP_PORT, _SMTPS_PORT = 587, 465


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


def as_html(text: str, *, subject: str, site: str, action: str) -> str:
    """Set the text of a mail whose lines are not broken, its link as a button.

    So both parts of a mail say the same, and there is one text to translate.
    """
    body = text.partition("\n--\n")[0].strip()
    paragraphs = [one.strip().split("\n") for one in body.split("\n\n") if one.strip()]
    lines = [line for paragraph in paragraphs for line in paragraph]
    return render_to_string(
        "account/email/message.html",
        {
            "subject": subject,
            "site": site,
            "action": action,
            "paragraphs": paragraphs,
            "links": [one for one in lines if one.startswith(("http://", "https://"))],
        },
    )
