"""Page of one task's metric board."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.metric_board.charts import Bar, overview
from leaderboard.metric_board.selectors.headline import (
    headline,
    judges,
    person_sentence,
    williams_sentence,
)
from leaderboard.metric_board.selectors.snapshot import (
    STATISTICS,
    Cell,
    Line,
    Shown,
    criteria_of,
    left_out,
    outside_of,
    shown_board,
    under_way,
)
from leaderboard.metric_board.views import board_parts as parts
from leaderboard.tasks.models import Task

# Top of a metric board's page: a sentence and a chart.

# More intervals would be hard to read; the table has them all.
_MOST_DRAWN = 7


def summary(shown: Shown) -> dict[str, Any]:
    return {
        "sentence": headline(shown),
        "person": person_sentence(shown),
        "williams": williams_sentence(shown),
        "chart": _chart(shown),
        "not_drawn": max(0, len(shown.lines) - _MOST_DRAWN),
        "about_person": shown.person,
        "whom": "worker" if judges(shown) == "people" else "simulated annotator",
    }


def _chart(shown: Shown) -> Any:
    by = STATISTICS[shown.by]
    lines = [line for line in shown.lines if _value(line.cells, by.slug) is not None]
    bars = [Bar(line.label, line.cells[by.slug]) for line in lines[:_MOST_DRAWN]]
    person = shown.person
    if person is not None and _value(person.cells, by.slug) is not None:
        one = "one worker" if judges(shown) == "people" else "one annotator"
        bars.append(Bar(one, person.cells[by.slug], True))
    described = ", ".join(f"{bar.label} {bar.cell.value:.2f}" for bar in bars)
    return overview(
        bars,
        lowest=by.lowest,
        chance=by.chance,
        description=f"{by.label} with 95% intervals: {described}",
    )


def _value(cells: dict[str, Cell], slug: str) -> float | None:
    return cells.get(slug, Cell()).value


def metric_board(request: HttpRequest, slug: str) -> HttpResponse:
    task = get_object_or_404(Task, slug=slug)
    criteria = criteria_of(task)
    typed = request.GET.get("criterion", "")
    # old links may name a criterion that the task no longer has
    criterion = typed if typed in criteria else (criteria or ["overall"])[0]
    shown = shown_board(task, criterion, request.GET.get("by", ""))
    chosen = _choose_line(shown, request.GET.get("metric", ""))
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
        submission__task=task, criterion=criterion, superseded_at=None, provisional=True
    )
    return set(scores.values_list("submission_id", flat=True))


def _choose_line(shown: Shown, slug: str) -> Line | None:
    wanted = [line for line in shown.lines if line.slug == slug]
    return next(iter([*wanted, *shown.lines]), None)


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
        "top": summary(shown),
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
        "seen": parts.scatter_context(shown, chosen) if chosen else None,
    }


def _query(**parameters: str) -> str:
    return "?" + urlencode({k: v for k, v in parameters.items() if v})
