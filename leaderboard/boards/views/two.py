from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.boards.charts import difference
from leaderboard.boards.selectors.on_request.two import (
    Two,
    apart_most,
    read_two,
    two_of,
)
from leaderboard.boards.selectors.pairs import POWER
from leaderboard.evaluation.price import cents_per_rating
from leaderboard.evaluation.ranking import TESTED
from leaderboard.metric_runs.selectors import metric_words
from leaderboard.tasks.models import Task

_NOT_TWO = "Tick exactly two systems on the board to compare them."
_NO_SCORE = "Both systems must have a public score on this board."


def two(request: HttpRequest, task: Task) -> HttpResponse:
    cents = cents_per_rating(task)
    asked = read_two(request.GET.getlist("s"))
    found = two_of(task, asked, cents_per_rating=cents) if asked else None
    context: dict[str, Any] = {
        "here": "tasks",
        "task": task,
        "two": found,
        "trouble": _NO_SCORE if asked else _NOT_TWO,
        "dollars_per_rating": cents / 100,
        "power": POWER,
        "tested": TESTED[task.human.ranks],
    }
    if found:
        outputs = apart_most(found)
        context |= {
            "simulated": found.a.simulated or found.b.simulated,
            "numbers": _numbers(found),
            "outputs": [
                (
                    one,
                    difference(one.output.text, one.other),
                    difference(one.other, one.output.text),
                )
                for one in outputs or []
            ],
            "has_texts": outputs is not None,
        }
    return render(request, "leaderboard/boards/two.html", context)


def _numbers(two: Two) -> list[tuple[str, str, str]]:
    scores = [
        (
            name.replace("_", " "),
            _score(two.a.criteria, name),
            _score(two.b.criteria, name),
        )
        for name in two.a.criteria
    ]
    slugs = [slug for slug in two.a.metrics if slug in two.b.metrics]
    metrics = []
    for slug in slugs:
        words = metric_words(slug)
        a, b = (f"{row.metrics[slug]:.{words.decimals}f}" for row in (two.a, two.b))
        metrics.append((f"{words.label} {words.arrow}".strip(), a, b))
    return [*scores, *metrics]


def _score(criteria: dict[str, Any], name: str) -> str:
    human = criteria.get(name)
    if human is None:
        return "–"
    return f"{human.mean:.1f} [{human.low:.1f}, {human.high:.1f}]"
