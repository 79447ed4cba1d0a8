"""The file that was handed in, for those whom it concerns."""

from django.http import FileResponse, Http404, HttpRequest
from django.views.decorators.cache import never_cache

from genie.accounts.reads import Way
from leaderboard.boards.views.submission import visible_submission


@never_cache
def handed_in(request: HttpRequest, pk: int) -> FileResponse:
    """Hand the stored file back, byte for byte, to its team and to staff.

    It comes through this site wherever it is kept: a link into the bucket would be
    good for whoever gets hold of it.
    """
    submission, view = visible_submission(request, pk, Way.FILE)
    # of what was judged elsewhere, no file was ever handed in
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
