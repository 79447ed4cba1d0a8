"""What `manage.py check --deploy` asks besides Django's own questions.

Each of these settings has a default that works on one's own machine and fails silently
in production.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.http.request import validate_host

from genie.lib import env

_LOCAL = {"localhost", "127.0.0.1", "[::1]", "::1"}
_SMTP = "django.core.mail.backends.smtp.EmailBackend"
# What browsers' lists ask of a site that wants to be preloaded: hstspreload.org
_PRELOAD_SECONDS = 31_536_000


@register(Tags.security, deploy=True)
def deployment(app_configs: Any, **_options: Any) -> list[CheckMessage]:
    """Refuse a production site that could not reach its users or tell them apart."""
    problems = [*_mail(), *_addresses(), *_proxies(), *_hsts()]
    return [Error(message, hint=hint, id=code) for code, message, hint in problems]


_Problems = list[tuple[str, str, str]]


def _mail() -> _Problems:
    problems = []
    if settings.EMAIL_BACKEND != _SMTP:
        problems.append(
            (
                "genie.E001",
                "No mail server is set, but nobody can use an account before its "
                "address is confirmed by e-mail.",
                "Set GENIE_EMAIL=smtp://user:password@host:587.",
            )
        )
    if settings.DEFAULT_FROM_EMAIL.rpartition("@")[2].rstrip(">") in _LOCAL:
        problems.append(
            (
                "genie.E002",
                f"E-mails would come from {settings.DEFAULT_FROM_EMAIL}, which mail "
                "servers refuse.",
                "Set GENIE_EMAIL_FROM=genie@your.domain.",
            )
        )
    return problems


def _addresses() -> _Problems:
    problems = []
    hosts = settings.ALLOWED_HOSTS
    if "*" in hosts or not set(hosts) - _LOCAL:
        problems.append(
            (
                "genie.E003",
                "The site's host names are not set, or any name is accepted: links in "
                "e-mails could then lead to another site.",
                "Set GENIE_HOSTS=your.domain.",
            )
        )
    address = urlsplit(settings.GENIE["SITE_URL"])
    host = address.hostname or ""
    if address.scheme != "https" or host in _LOCAL or not validate_host(host, hosts):
        problems.append(
            (
                "genie.E004",
                "The site's own address, as e-mails and webhooks show it, is "
                f"{settings.GENIE['SITE_URL']}: it must begin with https:// and name "
                "one of GENIE_HOSTS.",
                "Set GENIE_SITE_URL=https://your.domain.",
            )
        )
    return problems


def _proxies() -> _Problems:
    if env.text("GENIE_PROXIES"):
        return []
    return [
        (
            "genie.E005",
            "The number of proxies before the site is not set: behind one, all visitors "
            "would share one address and its limits.",
            "Set GENIE_PROXIES=1, or 0 where visitors reach the web server directly.",
        )
    ]


def _hsts() -> _Problems:
    if not settings.SECURE_HSTS_PRELOAD or (
        settings.SECURE_HSTS_INCLUDE_SUBDOMAINS
        and settings.SECURE_HSTS_SECONDS >= _PRELOAD_SECONDS
    ):
        return []
    return [
        (
            "genie.E006",
            "HSTS preloading needs a year and all subdomains.",
            f"Set GENIE_HSTS_SECONDS={_PRELOAD_SECONDS} and GENIE_HSTS_SUBDOMAINS=yes, "
            "or unset GENIE_HSTS_PRELOAD.",
        )
    ]
