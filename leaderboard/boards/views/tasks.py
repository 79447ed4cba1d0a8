import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.functional import SimpleLazyObject
from django.utils.safestring import SafeString

from crowd import hit_templates
from crowd.pricing import hourly_cents
from crowd.scales.base import all_scales
from genie.lib.serving.pages import page_of
from leaderboard.boards.selectors.columns import metrics_of
from leaderboard.boards.selectors.home import TaskCard, task_cards, tasks_in_order
from leaderboard.boards.selectors.version import KEPT_SECONDS, of_all_boards
from leaderboard.charts import Axis, axis_over
from leaderboard.evaluation.selectors.task_policy import control, requirements
from leaderboard.metric_runs.selectors import metric_words
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.configuration import noisy_below
from quality.detection.models import ALL_EVIDENCE


# Tasks as cards: the best systems, each task with its own axis.
@dataclass(frozen=True)
class Card:
    data: TaskCard
    axis: Axis | None


def cards(tasks: Iterable[Task], *, many: bool) -> dict[str, Any]:
    """Return the tasks' cards, created lazily; `many` of them have a cache key."""
    made = SimpleLazyObject(lambda: [Card(c, _axis(c)) for c in task_cards(tasks)])
    return {
        "cards": made,
        "keep_seconds": KEPT_SECONDS if many else 0,
        "version": of_all_boards() if many else "",
    }


def _axis(card: TaskCard) -> Axis | None:
    if not card.best:
        return None
    return axis_over(
        min(score.low for score in card.best), max(score.high for score in card.best)
    )


@dataclass(frozen=True)
class Example:
    shown: SafeString
    questions: list[str]
    answers: list[str]


def guidelines(task: Task) -> SafeString:
    template = hit_templates.known().get(task.asked.hit_template)
    if template is None:
        return SafeString("")
    return _below(template.instructions_of(task.asked.form(task.asked.criteria)))


def _below(page: SafeString) -> SafeString:
    # HIT templates begin with h1, as they are separate on workers' pages
    moved = re.sub(
        r"(</?h)([1-4])\b", lambda tag: f"{tag[1]}{int(tag[2]) + 2}", str(page)
    )
    # only the levels of already safe headings have changed
    return SafeString(moved)


def example(task: Task) -> Example | None:
    template = hit_templates.known().get(task.asked.hit_template)
    if template is None:
        return None
    scale = all_scales().get(task.asked.scale)
    return Example(
        shown=template.render(template.example),
        questions=list(task.asked.criteria.values()),
        answers=[option.label for option in scale.options] if scale else [],
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


def about(request: HttpRequest, slug: str) -> HttpResponse:
    task = get_object_or_404(Task, slug=slug)
    return render(
        request,
        "leaderboard/site/about.html",
        {
            "here": "tasks",
            "task": task,
            "human": task.asked,
            "metrics": [metric_words(slug) for slug in metrics_of(task)],
            "guidelines": guidelines(task),
            "example": example(task),
            "control": control(task),
            "requirements": requirements(task),
            "hourly_cents": hourly_cents(
                task.human.reward_cents, task.human.expected_seconds
            ),
            "positive_percent": _percent(task.human.positive_share),
            "negative_percent": _percent(task.human.negative_share),
            "threshold": settings.GENIE["BAN_THRESHOLD"],
            "all_evidence": task.detector == ALL_EVIDENCE,
            "noisy_below": [
                (kind.lower(), f"{100 * share:g}")
                for kind, share in noisy_below(task.human).items()
            ],
            "quota": task.configuration.quota,
        },
    )


def _percent(share: float) -> str:
    return f"{100 * share:g}"
