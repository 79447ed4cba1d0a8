"""Refuse a body that is too large by its header, without storing it."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from genie.lib.serving.uploads import announced, drop

# The other fields of the form, and the bytes around a file in a multipart body.
_ROOM = 1 << 20


def refuse_oversize(request: HttpRequest) -> HttpResponse | None:
    """Return a page that explains what to do, or None if the size is allowed."""
    limit = settings.GENIE["MAX_UPLOAD_BYTES"]
    length = announced(request)
    if length <= limit + _ROOM:
        return None
    drop(request, 8 * limit)
    context = {"most_megabytes": limit >> 20, "megabytes": f"{length / 2**20:.1f}"}
    return render(request, "413.html", context, status=413)
