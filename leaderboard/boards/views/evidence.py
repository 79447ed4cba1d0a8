from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from genie.accounts.throttles import limit_files
from genie.lib.interval import Interval
from genie.lib.serving.pages import page_of
from leaderboard.boards.charts import difference, timeline
from leaderboard.boards.selectors import certainty, pairs
from leaderboard.boards.selectors.certainty import (
    System,
    has_pools,
    pools_of,
    ranked_pks,
    systems,
)
from leaderboard.boards.selectors.columns import crowd_groups
from leaderboard.boards.selectors.history import History, history
from leaderboard.boards.selectors.judged import JUDGED_HELP, Judged, judged_of
from leaderboard.boards.selectors.pairs import POWER, Two, apart_most, read_two, two_of
from leaderboard.boards.selectors.weights import read_weights, weighted_rows
from leaderboard.charts import HistogramLine, axis_over, format_score, histogram
from leaderboard.evaluation.estimates import TESTED
from leaderboard.evaluation.price import cents_per_rating
from leaderboard.evaluation.selectors.board_ratings import population_of, who_ranks
from leaderboard.imports.selectors import with_published
from leaderboard.metric_runs.selectors import metric_words
from leaderboard.stats.systems.estimates import Population
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import inside, is_published
from leaderboard.tasks.models import Task
from quality.test_questions.models import TestCheck


def two(request: HttpRequest, task: Task) -> HttpResponse:
    cents = cents_per_rating(task)
    asked = read_two(request.GET.getlist("s"))
    found = two_of(task, asked, cents_per_rating=cents) if asked else None
    context: dict[str, Any] = {
        "here": "tasks",
        "task": task,
        "two": found,
        "trouble": "Both systems must have a public score on this board."
        if asked
        else "Tick exactly two systems on the board to compare them.",
        "dollars_per_rating": cents / 100,
        "power": POWER,
        "tested": TESTED[task.human.ranks],
        "about_raters": population_of(task),
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
    return "–" if human is None else format_score(human)


# How well the test questions of published results were hidden: only numbers.
@dataclass(frozen=True)
class HiddenTests:
    system: str
    n_tests: int
    auc: Interval
    # how well good texts differ from wrong ones
    key_auc: float | None
    start: str


def hidden_tests(task: Task) -> list[HiddenTests]:
    systems = Submission.objects.filter(
        is_published(),
        task=task,
        visibility=Submission.Visibility.PUBLIC,
        human_evaluation__test_check__isnull=False,
    ).select_related("human_evaluation__test_check")
    return [
        HiddenTests(
            system=system.system_name,
            n_tests=check.n_found,
            auc=Interval(check.auc, check.low, check.high),
            key_auc=check.key_auc,
            start=_start(check),
        )
        for system in systems.order_by("-human_evaluation__test_check")
        for check in [system.evaluation.test_check]
    ]


def _start(check: TestCheck) -> str:
    if check.accepted_at is not None:
        return "by decision of staff"
    return "programs answer" if check.refused else "allowed"


# Limits of a readable matrix and of a list to weight.
_IN_MATRIX, _IN_LIST = 12, 30
_IN_STORY = 100


def evidence(request: HttpRequest, slug: str) -> HttpResponse:
    task = get_object_or_404(with_published(), slug=slug)
    context = {
        "here": "tasks",
        "task": task,
        "criteria": [
            (one, _drawn_shares(one.shares), _helped(task, one.criterion))
            for one in certainty.evidence_of(task)
        ],
        "judges_help": JUDGED_HELP,
        "who_ranks": who_ranks(task),
        "hidden": hidden_tests(task),
        "has_pools": has_pools(task),
        "simulated": any(s.simulated for s in systems(task, ranked_pks(task))),
    }
    return render(request, "leaderboard/boards/evidence.html", context)


def _helped(task: Task, criterion: str) -> list[tuple[System, Judged]]:
    listed = systems(task, ranked_pks(task))
    found = judged_of(task, [system.pk for system in listed])
    return [
        (system, found[system.pk][criterion])
        for system in listed
        if criterion in found.get(system.pk, {})
    ]


def crowds(request: HttpRequest, slug: str) -> HttpResponse:
    task = get_object_or_404(Task, slug=slug)
    if not has_pools(task):
        raise Http404("This task was rated on one platform.")
    context = {"here": "tasks", "task": task, "pools": pools_of(task)}
    return render(request, "leaderboard/boards/crowds.html", context)


def _drawn_shares(shares: certainty.Shares | None) -> list[HistogramLine]:
    if shares is None:
        return []
    lines = [
        ("Workers: some are stricter than others", shares.worker),
        ("Instances: some are harder than others", shares.instance),
        ("Everything else: taste, attention, chance", shares.rest),
    ]
    if shares.day is not None:
        lines.insert(2, ("Days: ratings are higher on some than on others", shares.day))
    if shares.system is not None:
        lines.insert(0, ("Systems: what the board wants to know", shares.system))
    return histogram(lines)


def differences(request: HttpRequest, slug: str) -> HttpResponse:
    """Show P(A > B) for neighbors, or for the systems `s` selected on the board."""
    task = get_object_or_404(Task, slug=slug)
    if "s" in request.GET:
        return two(request, task)
    page = page_of(ranked_pks(task), _IN_MATRIX, request.GET.get("page"))
    cents = cents_per_rating(task)
    other, shows_other = _other_raters(request, task)
    matrix = pairs.matrix(
        task,
        list(page),
        cents_per_rating=cents,
        population=other if shows_other else None,
    )
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
        "open": [pair for pair in matrix.pairs if pair.comparable and not pair.apart]
        if matrix
        else [],
        "n_incomparable": sum(not pair.comparable for pair in matrix.pairs)
        if matrix
        else 0,
        "n_apart": sum(pair.apart for pair in matrix.pairs) if matrix else 0,
        "simulated": any(s.simulated for s in matrix.systems) if matrix else False,
        "dollars_per_rating": cents / 100,
        "power": pairs.POWER,
        "tested": TESTED[task.human.ranks],
    }
    return render(request, "leaderboard/boards/differences.html", context)


def _other_raters(request: HttpRequest, task: Task) -> tuple[Population | None, bool]:
    """Return the population that is not the task's, and whether the viewer sees it."""
    if not task.submissions.filter(inside(request.user)).exists():
        return None, False
    these = task.human.population == Population.THESE
    other = Population.LIKE if these else Population.THESE
    return other, request.GET.get("raters") == other


def _cells(matrix: pairs.Matrix) -> list[list[tuple[str, str] | None]]:
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
        raise Http404("One criterion ranks this board: there is nothing to weight.")
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


@limit_files
def story(request: HttpRequest, slug: str) -> HttpResponse:
    task = get_object_or_404(Task, slug=slug)
    results = history(task)
    context: dict[str, Any] = {
        "here": "tasks",
        "task": task,
        "leads": results.leads[::-1][:_IN_STORY],
        "n_results": len(results.results),
        "simulated": any(result.simulated for result in results.results),
        "drawn": results.leads and _drawn(task, results),
    }
    return render(request, "leaderboard/boards/history.html", context)


def _drawn(task: Task, history: History) -> Any:
    axis = axis_over(
        min(result.low for result in history.results),
        max(result.high for result in history.results),
    )
    last = history.leads[-1].result
    description = (
        f"Best score on {task.title} over time, from "
        f"{history.leads[0].result.mean:.1f} to {last.mean:.1f}, with 95 % "
        "intervals; the table below has the numbers."
    )
    leads = [lead.result for lead in history.leads]
    return timeline(axis, leads, history.results, description=description)
