"""The file that was handed in, for those whom it concerns."""

from __future__ import annotations

from django.http import FileResponse, Http404, HttpRequest
from django.views.decorators.cache import never_cache

from leaderboard.views.submission import seen_by


@never_cache
def handed_in(request: HttpRequest, pk: int) -> FileResponse:
    """Hand the stored file back, byte for byte, to its team and to staff.

    It comes through this site wherever it is kept: a link into the bucket would be
    good for whoever gets hold of it.
    """
    found, view = seen_by(request, pk)
    if not view.inner:
        raise Http404
    try:
        file = found.file.open("rb")
    except FileNotFoundError:
        raise Http404("The stored file no longer exists.") from None
    return FileResponse(
        file,
        as_attachment=True,
        filename=found.file_name,
        content_type="application/octet-stream",
    )
