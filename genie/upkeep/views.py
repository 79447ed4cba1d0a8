from datetime import timedelta

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_safe

from genie.lib import jobs
from genie.lib.serving import mail_server
from genie.upkeep.doctor import examine

# RFC 9116 recommends less than a year; later readers get a new file.
_GOOD_FOR = timedelta(days=180)
# Jobs within this time are on time: people wait for them without wondering.
_LATE = timedelta(minutes=5)


@require_GET
@never_cache
@login_required
def status(request: HttpRequest) -> HttpResponse:
    if not getattr(request.user, "is_superuser", False):
        raise PermissionDenied
    return render(
        request,
        "admin/status.html",
        {
            **admin.site.each_context(request),
            "title": "Status of the site",
            "found": list(examine(slow=False)),
            "failed": jobs.latest_failures(20),
        },
    )


@require_safe
@never_cache
def public_status(request: HttpRequest) -> HttpResponse:
    late, waiting = jobs.longest_overdue(), jobs.oldest_waiting_seconds() or 0.0
    behind = timedelta(0) if late is None else max(late, timedelta(seconds=waiting))
    context = {
        "here": "status",
        "at": timezone.now(),
        "started": late is not None,
        "late": behind > _LATE,
        "minutes": max(1, round(behind / timedelta(minutes=1))),
        "n_waiting": jobs.n_waiting(),
        "mail": mail_server.watched.state() if mail_server.is_used() else "",
    }
    return render(request, "upkeep/status.html", context)


@require_safe
def security_txt(request: HttpRequest) -> HttpResponse:
    """Return the contact for vulnerability reports; RFC 9116."""
    contacts: list[str] = settings.GENIE["SECURITY_CONTACT"]
    if not contacts:
        raise Http404
    # By the day, so that the file is the same for a day.
    day = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    lines = [
        *(f"Contact: {one}" for one in contacts),
        f"Expires: {(day + _GOOD_FOR).strftime('%Y-%m-%dT%H:%M:%SZ')}",
        "Preferred-Languages: en",
        f"Canonical: {settings.GENIE['SITE_URL']}{request.path}",
    ]
    return HttpResponse(
        "\n".join([*lines, ""]), content_type="text/plain; charset=utf-8"
    )
