from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from leaderboard.evaluation.selectors.board_ratings import who_ranks
from leaderboard.judges.selectors.shown import judges_of
from leaderboard.tasks.models import Task


def judges(request: HttpRequest, slug: str) -> HttpResponse:
    task = get_object_or_404(Task, slug=slug)
    context = {
        "here": "tasks",
        "task": task,
        "judges": judges_of(task, request.user),
        "who_ranks": who_ranks(task),
    }
    return render(request, "leaderboard/judges/judges.html", context)
