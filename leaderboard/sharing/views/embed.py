"""A board for other people's pages: small, without a header, in a frame anywhere."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.clickjacking import xframe_options_exempt

from genie.lib.serving.security import POLICY
from leaderboard.charts import intervals
from leaderboard.sharing.selectors.picture import picture_of
from leaderboard.tasks.models import Task

_FRESH_SECONDS = 300
_SYSTEMS = 10
# Nothing in it can be clicked but links that lead to the site: there is nothing to be had
# by laying a page over it.
_POLICY = POLICY.replace("frame-ancestors 'none'", "frame-ancestors *")


@xframe_options_exempt
def board_embed(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the first systems of a board, for nobody in particular and without cookies."""
    task = get_object_or_404(Task, slug=slug)
    picture = picture_of(task, limit=_SYSTEMS)
    axis = picture.axis
    bars = [
        (line, intervals.bar(axis, line.human, simulated=line.simulated, on_grid=False))
        for line in picture.lines
        if axis
    ]
    context = {"task": task, "picture": picture, "bars": bars}
    response = render(request, "leaderboard/sharing/embed.html", context)
    response["Content-Security-Policy"] = _POLICY
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    response["Cache-Control"] = f"public, max-age={_FRESH_SECONDS}"
    return response
