from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import SimpleLazyObject

from genie.lib.serving.pages import page_of
from leaderboard.boards.selectors.home import TaskCard, task_cards, tasks_in_order
from leaderboard.boards.selectors.version import (
    KEPT_SECONDS,
    LONG_FROM_ROWS,
    of_all_boards,
)
from leaderboard.charts import Axis, axis_over
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import public
from leaderboard.tasks.models import Task


# Tasks as cards: the best systems, each task with its own axis.
@dataclass(frozen=True)
class Card:
    data: TaskCard
    axis: Axis | None


def cards(tasks: Iterable[Task], *, many: bool) -> dict[str, Any]:
    """Return the tasks' cards, created lazily; `many` or long ones have a cache key."""
    many = many or _are_long()
    made = SimpleLazyObject(lambda: [Card(c, _axis(c)) for c in task_cards(tasks)])
    return {
        "cards": made,
        "keep_seconds": KEPT_SECONDS if many else 0,
        "version": of_all_boards() if many else "",
    }


def _are_long() -> bool:
    rows = Submission.objects.filter(public()).order_by()[:LONG_FROM_ROWS]
    return rows.count() == LONG_FROM_ROWS


def _axis(card: TaskCard) -> Axis | None:
    if not card.best:
        return None
    return axis_over(
        min(score.low for score in card.best), max(score.high for score in card.best)
    )


CARDS = 24
_LONGEST = 100


def tasks(request: HttpRequest) -> HttpResponse:
    kinds = list(
        Task.objects.order_by("kind").values_list("kind", flat=True).distinct()
    )
    # databases refuse a text with a zero in it
    text = request.GET.get("q", "").replace("\0", "").strip()[:_LONGEST]
    kind = request.GET.get("kind", "")
    chosen = {"q": text, "kind": kind if kind in kinds else ""}
    page = page_of(tasks_in_order(text, chosen["kind"]), CARDS, request.GET.get("page"))
    context = {
        "here": "tasks",
        **cards(page.object_list, many=page.has_other_pages()),
        "page": page,
        "chosen": chosen,
        "query": urlencode({name: word for name, word in chosen.items() if word}),
        "kinds": kinds,
    }
    return render(request, "leaderboard/boards/tasks.html", context)
