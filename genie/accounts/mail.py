"""How e-mails leave: a folder of files unless the operator names a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

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
