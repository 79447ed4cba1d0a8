from typing import Any

from django.db.models import Prefetch
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from genie.lib.serving.pages import page_of
from leaderboard.boards.selectors import pairs as selectors
from leaderboard.boards.selectors.certainty import ranked_pks, systems
from leaderboard.boards.selectors.columns import crowd_groups
from leaderboard.boards.selectors.pairs import (
    POWER,
    apart_most,
    cents_of_rating,
    read_two,
    two_of,
)
from leaderboard.boards.selectors.weights import read_weights, weighted_rows
from leaderboard.charts import axis_over, difference
from leaderboard.evaluation.estimates import TESTED
from leaderboard.evaluation.selectors.board_ratings import population_of
from leaderboard.evaluation.selectors.comparisons import LISTED, comparisons_seen_by
from leaderboard.evaluation.selectors.joint import joint_seen_by
from leaderboard.stats.systems.estimates import Population
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import inside
from leaderboard.tasks.models import Task

# Comparisons of two or several systems that are listed.
NEWEST = 100


def _two(task: Task, typed: list[str]) -> dict[str, Any]:
    asked = read_two(typed)
    found = two_of(task, asked) if asked else None
    if not found:
        return {
            "trouble": "Both systems must have a public score on this board."
            if asked
            else "Select exactly two systems to compare them."
        }
    outputs = apart_most(found)
    apart = found.difference
    return {
        "two": found,
        "axis": axis_over(min(apart.low, 0), max(apart.high, 0), floor=-100)
        if apart and apart.ends
        else None,
        "simulated": found.a.simulated or found.b.simulated,
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


# Limits of a readable matrix and of a list to weight.
_IN_MATRIX, _IN_LIST = 12, 30


def pairs(request: HttpRequest, slug: str) -> HttpResponse:
    """Show P(A > B) for neighbors, above them the systems `s`, and all comparisons."""
    task = get_object_or_404(Task, slug=slug)
    ranked = ranked_pks(task)
    page = page_of(ranked, _IN_MATRIX, request.GET.get("page"))
    other, shows_other = _other_raters(request, task)
    matrix = selectors.matrix(
        task,
        list(page),
        population=other if shows_other else None,
    )
    found = matrix.pairs if matrix else []
    context = {
        "here": "tasks",
        "task": task,
        "page": page,
        "left_out": matrix.left_out if matrix else (),
        "matrix": matrix,
        "other": other,
        "shows_other": shows_other,
        "about_raters": population_of(task),
        "rows": list(zip(matrix.systems, _cells(matrix), strict=True))
        if matrix
        else [],
        "n_incomparable": sum(not pair.comparable for pair in found),
        "n_apart": sum(pair.apart for pair in found),
        "simulated": any(s.simulated for s in matrix.systems) if matrix else False,
        # called if it is shown
        "dollars_per_rating": lambda: cents_of_rating(task) / 100,
        "power": POWER,
        "tested": TESTED[task.human.ranks],
        "comparisons": comparisons_seen_by(request.user, task)[:NEWEST],
        "joint": joint_seen_by(request.user, task)
        .defer("results")
        .prefetch_related(
            Prefetch("systems__submission", Submission.objects.only("system_name"))
        )[:NEWEST],
    }
    if typed := request.GET.getlist("s"):
        context |= _two(task, typed)
    two: Any = context.get("two")
    pks = [two.a.pk, two.b.pk] if two else []
    pks += [*_find(task, ranked, request.GET.get("find", "")), *page]
    context["choices"] = systems(task, list(dict.fromkeys(pks)))
    return render(request, "leaderboard/boards/pairs.html", context)


def _find(task: Task, ranked: list[int], typed: str) -> list[int]:
    text = typed.replace("\0", "").strip()[:100]
    named = task.submissions.filter(system_name__icontains=text)
    found = {*named.values_list("pk", flat=True)} if text else set()
    return [pk for pk in ranked if pk in found][:LISTED]


def _other_raters(request: HttpRequest, task: Task) -> tuple[Population | None, bool]:
    if not task.submissions.filter(inside(request.user)).exists():
        return None, False
    these = task.human.population == Population.THESE
    other = Population.LIKE if these else Population.THESE
    return other, request.GET.get("raters") == other


def _cells(matrix: selectors.Matrix) -> list[list[tuple[str, str] | None]]:
    apart = {frozenset((p.a, p.b)) for p in matrix.pairs if not p.comparable}
    return [
        [
            None
            if a == b
            else ("n/c", "")
            if frozenset((a, b)) in apart
            else _cell(matrix.p_above[i][j])
            for j, b in enumerate(matrix.systems)
        ]
        for i, a in enumerate(matrix.systems)
    ]


def _cell(share: float) -> tuple[str, str]:
    text = "> 99" if share > 0.99 else "< 1" if share < 0.01 else f"{100 * share:.0f}"
    # edges of the shades at 70, 90, 95 and 99% for one of the two
    sure = abs(share - 0.5)
    shade = sum(sure >= edge for edge in (0.2, 0.4, 0.45, 0.49))
    return text, f"{'up' if share >= 0.5 else 'down'}{shade}"


def weights(request: HttpRequest, slug: str) -> HttpResponse:
    task = get_object_or_404(Task, slug=slug)
    questions = task.human.criteria
    if len(questions) < 2:
        raise Http404("Only one criterion ranks this board, so there are no weights.")
    chosen = read_weights(list(questions), request.GET)
    every = weighted_rows(task, chosen)
    rows = every[:_IN_LIST]
    drawn = [
        end for row in rows for end in (row.interval.ends or (row.interval.estimate,))
    ]
    context = {
        "here": "tasks",
        "task": task,
        "chosen": [(name, questions[name], weight) for name, weight in chosen.items()],
        "rows": rows,
        "n_more": len(every) - len(rows),
        "simulated": any(row.system.simulated for row in rows),
        # without a common crowd there is no order to draw
        "axis": axis_over(min(drawn), max(drawn))
        if drawn and not crowd_groups(task)
        else None,
    }
    return render(request, "leaderboard/boards/weights.html", context)
