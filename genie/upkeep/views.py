"""The page on which superusers see what the doctor finds."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from genie.lib import jobs
from genie.upkeep.doctor import examine


@require_GET
@never_cache
@login_required
def status(request: HttpRequest) -> HttpResponse:
    """Show each part's finding, and the jobs that failed last."""
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
