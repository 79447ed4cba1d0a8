"""What monitors read: `/metrics`, and a number for each request in log and answer."""

from __future__ import annotations

import ipaddress
import re
import uuid
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare

from genie.lib import logs
from genie.upkeep.doctor import PROBLEM, Finding, examine

# Numbers that a proxy gave; anything else could forge log lines.
_NUMBER = re.compile(r"[A-Za-z0-9-]{8,64}")


class WatchMiddleware:
    """Numbers each request, and answers `/metrics` before anything else looks at it.

    Like a probe, a monitor comes by IP address and without HTTPS.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-ID", "")
        number = given if _NUMBER.fullmatch(given) else uuid.uuid4().hex
        with logs.about(request=number):
            if request.path_info == "/metrics":
                answer = _metrics(request)
            else:
                answer = self.get_response(request)
        answer.headers["X-Request-ID"] = number
        return answer


def _metrics(request: HttpRequest) -> HttpResponse:
    if not _may_read(request):
        return HttpResponse("Not found.\n", status=404, content_type="text/plain")
    found = dict(examine(slow=False, seldom=False))
    return HttpResponse(
        exposition(found),
        content_type="text/plain; version=0.0.4; charset=utf-8",
        headers={"Cache-Control": "no-store"},
    )


def exposition(found: dict[str, Finding]) -> str:
    """Write findings in Prometheus' text format.

    Source: https://prometheus.io/docs/instrumenting/exposition_formats/

    Examples
    --------
    >>> print(exposition({"disk": Finding("ok", "", {"disk_free_bytes": 5.0})}))
    # HELP genie_ok Whether an examination found no problem (see genie doctor).
    # TYPE genie_ok gauge
    genie_ok{examination="disk"} 1
    # TYPE genie_disk_free_bytes gauge
    genie_disk_free_bytes 5
    <BLANKLINE>
    """
    lines = [
        "# HELP genie_ok Whether an examination found no problem (see genie doctor).",
        "# TYPE genie_ok gauge",
    ]
    for name, finding in found.items():
        fine = int(finding.verdict != PROBLEM)
        lines.append(f'genie_ok{{examination="{name}"}} {fine}')
    for finding in found.values():
        for name, value in finding.figures.items():
            lines += [f"# TYPE genie_{name} gauge", f"genie_{name} {value:.15g}"]
    return "\n".join(lines) + "\n"


def _may_read(request: HttpRequest) -> bool:
    """With the token from anywhere; without one only on this machine, past no proxy."""
    token = settings.GENIE["METRICS_TOKEN"]
    if token:
        given = request.headers.get("Authorization", "")
        return constant_time_compare(given, f"Bearer {token}")
    if "X-Forwarded-For" in request.headers or "Forwarded" in request.headers:
        return False
    try:
        return ipaddress.ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:  # a Unix socket has no address; what is behind it is unknown
        return False
