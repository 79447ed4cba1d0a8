"""The submitted file, for its team and staff."""

from django.http import FileResponse, Http404, HttpRequest
from django.views.decorators.cache import never_cache

from genie.accounts.reads import Way
from leaderboard.boards.views.submission import visible_submission


@never_cache
def handed_in(request: HttpRequest, pk: int) -> FileResponse:
    """Return the stored file, byte for byte, to its team and to staff.

    It comes through this site wherever it is stored: a link into the bucket would work
    for anyone who gets hold of it.
    """
    submission, view = visible_submission(request, pk, Way.FILE)
    # imported ratings have no submitted file
    if not view.inner or not submission.file:
        raise Http404
    try:
        file = submission.file.open("rb")
    except FileNotFoundError:
        raise Http404("The stored file no longer exists.") from None
    return FileResponse(
        file,
        as_attachment=True,
        filename=submission.file_name,
        content_type="application/octet-stream",
    )
