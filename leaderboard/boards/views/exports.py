from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone

from genie.accounts.throttles import limit_files
from genie.lib.moment import read_moment, whole_second
from leaderboard.boards.exports.board import WRITERS
from leaderboard.boards.exports.table import BoardTable
from leaderboard.boards.views import files
from leaderboard.tasks.models import Task


@limit_files
def board_export(request: HttpRequest, slug: str, form: str) -> HttpResponse:
    task = get_object_or_404(Task, slug=slug)
    if form not in WRITERS:
        raise Http404
    return _serve(request, task, form)


@limit_files
def board_records(request: HttpRequest, slug: str) -> HttpResponse:
    return _serve(request, get_object_or_404(Task, slug=slug), files.RECORDS)


def _serve(request: HttpRequest, task: Task, name: str) -> HttpResponse:
    _refuse_future(request)
    return files.serve(request, task, name)


def public_table(request: HttpRequest, task: Task) -> BoardTable:
    _refuse_future(request)
    return files.table_of(request.GET, task, whole_second(timezone.now()))


def _refuse_future(request: HttpRequest) -> None:
    typed_moment = request.GET.get("at")
    if typed_moment and read_moment(typed_moment) is None:
        raise Http404("This is not a time in the past.")
