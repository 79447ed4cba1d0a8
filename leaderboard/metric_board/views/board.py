"""Page of one task's metric board."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.metric_board.selectors.inputs import criteria_of, left_out
from leaderboard.metric_board.selectors.snapshot import (
    STATISTICS,
    Line,
    Shown,
    outside_of,
    shown_board,
    under_way,
)
from leaderboard.metric_board.views import board_parts as parts
from leaderboard.metric_board.views.summary import summary
from leaderboard.tasks.models import Task


def metric_board(request: HttpRequest, slug: str) -> HttpResponse:
    task = get_object_or_404(Task, slug=slug)
    criteria = criteria_of(task)
    typed = request.GET.get("criterion", "")
    # old links may name a criterion that the task no longer has
    criterion = typed if typed in criteria else (criteria or ["overall"])[0]
    shown = shown_board(task, criterion, request.GET.get("by", ""))
    chosen = _chosen(shown, request.GET.get("metric", ""))
    context: dict[str, Any] = {
        "here": "tasks",
        "task": task,
        "criterion": criterion,
        "question": task.human.criteria.get(criterion, ""),
        "criteria": [
            (name, _query(criterion=name), name == criterion) for name in criteria
        ]
        if len(criteria) > 1
        else [],
        "shown": shown,
        # without metrics, agreement between people alone is not shown
        "board": shown.board if shown.lines else None,
        "under_way": under_way(task),
        "neither": left_out(task),
        "outside": outside_of(task),
        "files": parts.FILES,
    }
    if shown.lines:
        context |= _numbers(shown, chosen, criterion, task)
        context["provisional"] = _provisional(task, criterion)
        # a visitor who asked for a metric sees it unfolded
        context["opened"] = bool(request.GET.get("metric"))
    return render(request, "leaderboard/metric_board/board.html", context)


def _provisional(task: Task, criterion: str) -> set[int]:
    """Return the systems whose human score may still change; snapshots do not record it."""
    scores = Score.objects.filter(
        submission__task=task,
        criterion=criterion,
        superseded_at=None,
        provisional=True,
    )
    return set(scores.values_list("submission_id", flat=True))


def _chosen(shown: Shown, slug: str) -> Line | None:
    """Return the metric for the scatter plot: the best one unless `slug` is given."""
    for line in shown.lines:
        if line.slug == slug:
            return line
    return shown.lines[0] if shown.lines else None


def _numbers(
    shown: Shown, chosen: Line | None, criterion: str, task: Task
) -> dict[str, Any]:
    def address(**changes: str) -> str:
        kept = {"by": shown.by, "metric": chosen.slug if chosen else ""}
        if len(criteria_of(task)) > 1:
            kept["criterion"] = criterion
        return _query(**{**kept, **changes})

    return {
        "by": STATISTICS[shown.by],
        "top": summary(shown, address),
        "every_statistic": STATISTICS.values(),
        "levels": [
            (level, words, parts.table(shown, level, address))
            for level, words in (
                ("system", "System level"),
                ("instance", "Segment level"),
            )
        ],
        "tests": parts.tests(shown),
        "chosen": chosen,
        "choices": [
            (line, address(metric=line.slug), line is chosen) for line in shown.lines
        ],
        "seen": parts.scattered(shown, chosen) if chosen else None,
    }


def _query(**parameters: str) -> str:
    return "?" + urlencode({k: v for k, v in parameters.items() if v})
