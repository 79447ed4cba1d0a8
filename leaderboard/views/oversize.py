"""Refuse a body that is too large by what its header says, without storing it."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

# The other fields of the form, and what surrounds a file in a multipart body.
_ROOM = 1 << 20
_CHUNK = 1 << 16


def refuse_oversize(request: HttpRequest) -> HttpResponse | None:
    """Give a page that says what to do, or None when the size is all right."""
    limit = settings.GENIE["MAX_UPLOAD_BYTES"]
    length = _length(request)
    if length <= limit + _ROOM:
        return None
    # A browser shows an answer only once its upload was taken from it: read and drop,
    # but not for ever.
    left = min(length, 8 * limit)
    while left > 0 and (chunk := request.read(_CHUNK)):
        left -= len(chunk)
    context = {"most_megabytes": limit >> 20, "megabytes": length >> 20}
    return render(request, "413.html", context, status=413)


def _length(request: HttpRequest) -> int:
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0
