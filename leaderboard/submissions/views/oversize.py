"""Refuse a body that is too large by what its header says, without storing it."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from genie.lib.serving.uploads import announced, drop

# The other fields of the form, and what surrounds a file in a multipart body.
_ROOM = 1 << 20


def refuse_oversize(request: HttpRequest) -> HttpResponse | None:
    """Give a page that says what to do, or None when the size is all right."""
    limit = settings.GENIE["MAX_UPLOAD_BYTES"]
    length = announced(request)
    if length <= limit + _ROOM:
        return None
    drop(request, 8 * limit)
    context = {"most_megabytes": limit >> 20, "megabytes": f"{length / 2**20:.1f}"}
    return render(request, "413.html", context, status=413)
