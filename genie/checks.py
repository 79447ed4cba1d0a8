"""Additional checks of `manage.py check --deploy`.

Each of these settings has a default that works on a local machine and fails silently in
production.
"""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.http.request import validate_host

from genie.lib import env
from genie.lib.site_address import OWN_MACHINE

_SMTP = "django.core.mail.backends.smtp.EmailBackend"
# The requirement of browsers' preload lists: hstspreload.org
_PRELOAD_SECONDS = 31_536_000


@register(Tags.security, deploy=True)
def deployment(app_configs: Any, **_options: Any) -> list[CheckMessage]:
    sender, site = settings.DEFAULT_FROM_EMAIL, settings.GENIE["SITE_URL"]
    hosts = set(settings.ALLOWED_HOSTS)
    table = [
        (
            settings.EMAIL_BACKEND == _SMTP,
            "No mail server is set, but accounts cannot be used until their "
            "address is confirmed by e-mail.",
            "Set GENIE_EMAIL=smtp://user:password@host:587.",
        ),
        (
            sender.rpartition("@")[2].rstrip(">") not in OWN_MACHINE,
            f"E-mails would come from {sender}, which mail servers reject.",
            "Set GENIE_EMAIL_FROM=genie@your.domain.",
        ),
        (
            "*" not in hosts and hosts - OWN_MACHINE,
            "The site's host names are not set, or any name is accepted: links "
            "in e-mails could point to another site.",
            "Set GENIE_HOSTS=your.domain.",
        ),
        (
            _is_reachable(site),
            f"The site address used in e-mails and webhooks is {site}; it must "
            "begin with https:// and use one of GENIE_HOSTS.",
            "Set GENIE_SITE_URL=https://your.domain.",
        ),
        (
            env.text("GENIE_PROXIES"),
            "The number of proxies in front of the site is not set: behind a "
            "proxy, all visitors would share one address and its rate limits.",
            "Set GENIE_PROXIES=1, or 0 if visitors reach the web server directly.",
        ),
        (
            not settings.SECURE_HSTS_PRELOAD or _may_be_preloaded(),
            "HSTS preloading requires a max-age of one year and all subdomains.",
            f"Set GENIE_HSTS_SECONDS={_PRELOAD_SECONDS} and GENIE_HSTS_SUBDOMAINS=yes, "
            "or unset GENIE_HSTS_PRELOAD.",
        ),
        (
            not settings.GENIE["REQUESTER_ORIGIN"] or _is_another_host(site),
            "Requesters' pages would be served without HTTPS, or from the site's "
            "own host.",
            "Set GENIE_REQUESTER_ORIGIN=https://another.domain.",
        ),
    ]
    return [
        Error(message, hint=hint, id=f"genie.E{number:03}")
        for number, (fine, message, hint) in enumerate(table, start=1)
        if not fine
    ]


def _is_reachable(site: str) -> bool:
    address = urlsplit(site)
    host = address.hostname or ""
    known = validate_host(host, settings.ALLOWED_HOSTS)
    return address.scheme == "https" and host not in OWN_MACHINE and known


def _is_another_host(site: str) -> bool:
    other = urlsplit(settings.GENIE["REQUESTER_ORIGIN"])
    return bool(other.scheme == "https" and other.hostname != urlsplit(site).hostname)


def _may_be_preloaded() -> bool:
    long_enough: bool = settings.SECURE_HSTS_SECONDS >= _PRELOAD_SECONDS
    return long_enough and settings.SECURE_HSTS_INCLUDE_SUBDOMAINS
