from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from crowd.pricing import hourly_cents
from genie.lib.serving.pages import page_of
from leaderboard.boards.selectors.home import tasks_in_order
from leaderboard.boards.selectors.sorting import metrics_of
from leaderboard.boards.views.guidelines import example, guidelines
from leaderboard.boards.views.task_cards import cards
from leaderboard.evaluation.selectors.task_policy import control, requirements
from leaderboard.metric_runs.selectors import metric_words
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.configuration import noisy_below
from quality.detection.models import ALL_EVIDENCE

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
            "all_evidence": settings.GENIE["DETECTOR"] == ALL_EVIDENCE,
            "noisy_below": [
                (kind.lower(), f"{100 * share:g}")
                for kind, share in noisy_below(task.human).items()
            ],
            "quota": task.configuration.quota,
        },
    )


def _percent(share: float) -> str:
    return f"{100 * share:g}"
