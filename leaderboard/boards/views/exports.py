from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone

from genie.accounts.throttles import limit_files
from genie.lib.moment import read_moment, stamp, whole_second
from genie.lib.serving.pages import file_named
from leaderboard.boards.exports.board import WRITERS
from leaderboard.boards.exports.every_eval_ever import Source, as_records
from leaderboard.boards.exports.table import BoardTable
from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.boards.selectors.judged import agreement_of, raters_of
from leaderboard.boards.selectors.rows import standings
from leaderboard.boards.selectors.version import state
from leaderboard.boards.views.board import read_address
from leaderboard.tasks.models import Task


@limit_files
def board_export(request: HttpRequest, slug: str, form: str) -> HttpResponse:
    task = get_object_or_404(Task, slug=slug)
    if form not in WRITERS:
        raise Http404
    content_type, write = WRITERS[form]
    text = write(public_table(request, task))
    return file_named(f"{task.slug}.{form}", text, content_type)


@limit_files
def board_records(request: HttpRequest, slug: str) -> HttpResponse:
    table = public_table(request, get_object_or_404(Task, slug=slug))
    # past raters are not recorded
    now = "at" not in request.GET
    source = Source(
        retrieved=table.state.latest_at or table.task.created_at,
        site=_site(),
        version=settings.VERSION,
        raters=raters_of(table.task, table.state) if now else {},
        agreement=agreement_of(table.task) if now else {},
    )
    saved = {
        "Content-Disposition": f'attachment; filename="{slug}-every-eval-ever.json"'
    }
    return JsonResponse(as_records(table, source), safe=False, headers=saved)


def public_table(request: HttpRequest, task: Task) -> BoardTable:
    typed_moment = request.GET.get("at")
    at = read_moment(typed_moment) if typed_moment else None
    if typed_moment and at is None:
        raise Http404("This is not a time in the past.")
    moment = at or whole_second(timezone.now())
    address = read_address(task, request.GET)
    # for an anonymous reader: a file is passed on, so no team's private rows
    rows = standings(task, None, address.order, chosen=address.chosen, at=at)
    now = state(task, at=moment)
    # a paper that cites the file cites this moment, not the board of the day it is read
    kept = reverse("leaderboard:board-at", args=[task.slug, stamp(moment)])
    # one reversed address with a placeholder instead of one reversal per row
    page = reverse("leaderboard:submission", args=[0]).replace("/0/", "/{}/")
    return BoardTable(
        task=task,
        rows=rows.kept(now),
        state=now,
        criteria=(main_criterion(task), *address.criteria),
        metrics=tuple(address.metrics),
        at=moment,
        address=_site() + kept,
        page=_site() + page,
    )


def _site() -> str:
    """Return the site's configured address: files outlive the host of the request."""
    return str(settings.GENIE["SITE_URL"]).rstrip("/")
