from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from crowd.hit_templates.form import CHECKBOXES
from crowd.scales.base import all_scales
from genie.accounts import reads
from genie.lib.serving.caches import computed_once
from leaderboard.boards.selectors.certainty import (
    evidence_beside_board,
    first_place,
    ranked_pks,
)
from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.boards.selectors.evidence import (
    RATING,
    Arranged,
    Judgement,
    MetricLine,
    Wish,
    arrange_outputs,
    choices,
    judgements,
    metric_lines,
    money,
    read_wish,
)
from leaderboard.boards.selectors.judged import JUDGED_HELP, judged_of
from leaderboard.boards.selectors.rows import Attempts, attempts_of
from leaderboard.boards.selectors.submission_progress import (
    SubmissionProgress,
    score_changes,
    scores_of,
    still_open,
    submission_progress,
)
from leaderboard.boards.selectors.version import KEPT_SECONDS, state
from leaderboard.boards.selectors.version import State as BoardState
from leaderboard.charts import Axis, axis_over, difference, histogram
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.evaluation.selectors.comparisons import LISTED
from leaderboard.evaluation.selectors.system_ratings import (
    MarkedError,
    campaigns_of,
    evaluation_of,
    marked_errors,
)
from leaderboard.evaluation.selectors.worker_figures import (
    WorkerFigures,
    worker_figures,
)
from leaderboard.metric_runs.selectors import metric_words
from leaderboard.submissions.models import Prediction, Submission
from leaderboard.submissions.selectors import (
    ON_BOARD,
    Output,
    VisibleParts,
    output,
    outputs_are_open,
    outputs_page,
    predictions_at,
    public,
    rivals,
    seen_as_staff,
    texts_at,
    visible_parts,
)
from leaderboard.submissions.services import lifecycle
from leaderboard.tasks.models import Task

REFERENCE = "reference"
# Limit of outputs per page; each escaped character may take six bytes.
MOST_CHARACTERS = 120_000


@dataclass(frozen=True)
class Shown:
    output: Output
    rating: float | None
    value: float | None
    # the criterion in words, and the count of each answer
    said: list[tuple[str, list[tuple[str, int]]]]
    boxes: list[str]
    errors: Sequence[MarkedError] = ()
    other: str | None = None
    # the address of the whole text, if this is its beginning
    whole_query: str = ""
    ours_marked: SafeString | None = None
    other_marked: SafeString | None = None


def outputs_context(
    request: HttpRequest,
    submission: Submission,
    evaluation: HumanEvaluation | None,
    metrics: Sequence[MetricLine],
    now: BoardState | None,
    **kept: str,
) -> dict[str, Any]:
    """Return the outputs' context; ratings only if `evaluation` is given.

    Addresses keep the parameters `kept`.
    """
    orders = choices(metrics, judged=evaluation is not None)
    parameters = request.GET
    wish = read_wish(parameters, [key for key, _ in orders])
    headline = metrics[0].words.slug if metrics else ""
    arrangement = arrange_outputs(submission, evaluation, wish, headline, now)
    only = [one for one in arrangement.positions if str(one) == parameters.get("only")]
    page = outputs_page(only or arrangement.positions, parameters.get("page"))
    others = rivals(submission, request.user) if arrangement.positions else []
    against = _against(submission, others, parameters.get("against", ""))
    kept |= {"against": _key(against)} if against else {}
    kept |= {"open": "1"} if parameters.get("open") == "1" else {}
    query = wish.query() | kept
    metric = metric_words(arrangement.metric).label if arrangement.metric else ""
    errors = marked_errors(evaluation, list(page)) if evaluation else {}
    return {
        "page": page,
        "outputs": [
            replace(one, errors=errors.get(one.output.position, ()))
            for one in _shown_outputs(
                submission, list(page), arrangement, against, _answers(evaluation)
            )
        ],
        "wish": wish,
        "orders": orders,
        "others": others,
        "against": against,
        "against_key": _key(against),
        "metric": metric,
        "rated": bool(arrangement.ratings),
        "ratings": arrangement.ratings,
        "opened": "open" in kept,
        "outputs_query": f"{urlencode(query)}&" if query else "",
    }


def _against(
    submission: Submission, others: list[tuple[int, str]], typed: str
) -> Submission | str | None:
    """Return the other system among the visible ones; guessed ids are refused."""
    if typed == REFERENCE and not submission.task.hidden_references:
        return REFERENCE
    # compared as text: an address can select only a listed system
    if typed not in {str(pk) for pk, _ in others}:
        return None
    return Submission.objects.filter(pk=int(typed)).first()


def _key(against: Submission | str | None) -> str:
    return str(against.pk) if isinstance(against, Submission) else against or ""


def _shown_outputs(
    submission: Submission,
    positions: list[int],
    arrangement: Arranged,
    against: Submission | str | None,
    names: Mapping[float, str],
) -> list[Shown]:
    texts = texts_at(against, positions) if isinstance(against, Submission) else {}
    most = MOST_CHARACTERS // max(1, len(positions) * (2 if against else 1))
    shown = []
    for prediction in predictions_at(submission, positions):
        ours = output(submission, prediction)
        if against == REFERENCE:
            other = ours.references[0] if ours.references else None
        else:
            other = texts.get(ours.position)
        is_cut = max(len(ours.text), len(other or "")) > most
        if is_cut:
            ours = replace(ours, text=submission.task.output(ours.text[:most]))
            other = other and submission.task.output(other[:most])
        shown.append(
            Shown(
                output=ours,
                rating=arrangement.ratings.get(ours.position),
                value=arrangement.values.get(ours.position),
                said=_count_answers(arrangement.said.get(ours.position, {}), names),
                boxes=[CHECKBOXES[name] for name in arrangement.boxes(ours.position)],
                other=other,
                whole_query=f"only={ours.position}&open=1" if is_cut else "",
                ours_marked=None if other is None else difference(ours.text, other),
                other_marked=None if other is None else difference(other, ours.text),
            )
        )
    return shown


def _count_answers(
    answers: dict[str, list[float]], names: Mapping[float, str]
) -> list[tuple[str, list[tuple[str, int]]]]:
    return [
        (
            criterion,
            [
                (names.get(value, f"{value:g}"), n)
                for value, n in sorted(Counter(values).items(), reverse=True)
            ],
        )
        for criterion, values in answers.items()
        if criterion not in CHECKBOXES
    ]


def _answers(evaluation: HumanEvaluation | None) -> dict[float, str]:
    scale = all_scales().get(evaluation.campaign.hit_type.scale) if evaluation else None
    return {option.value: option.label for option in scale.options} if scale else {}


State = Submission.State
# Automatic steps: the first two within minutes of submitting.
_SOON_DONE = frozenset({State.RECEIVED, State.VALID})
_AT_WORK = frozenset(Submission.WALK[:-1])
_WAITS_FOR_PEOPLE = frozenset({State.MEASURED, State.ANNOTATING})
_FRESH = timedelta(minutes=10)
# A page's address with this parameter returns only its progress.
LIVE = "live"
# These could disclose another team's submission.
_FOR_THE_TEAM = ("near-duplicate",)


def submission(request: HttpRequest, pk: int) -> HttpResponse:
    shown, view = visible_submission(request, pk)
    evaluation = evaluation_of(shown)
    story = submission_progress(shown, evaluation, view)
    context: dict[str, Any] = {
        "here": "mine" if view.team else "tasks",
        "submission": shown,
        "task": shown.task,
        "view": view,
        "story": story,
        "realignable": view.inner
        and any(one.get("code") == "misaligned-ids" for one in shown.warnings),
        "withdrawable": view.team
        and shown.state not in {State.INVALID, State.WITHDRAWN},
        "restorable": view.team and lifecycle.way_back(shown) is not None,
        "money": money(shown, view),
        "on_board": shown.state in ON_BOARD,
        "done": shown.state == State.PUBLISHED and not story.waits_for,
        "reload_seconds": _reload_seconds(shown, view),
        # without a script the whole page reloads: not while it waits for people, which
        # takes longer than any visit
        "by_itself": shown.state not in _WAITS_FOR_PEOPLE,
        "reload_off": request.GET.get("reload") == "off",
    }
    if LIVE in request.GET:
        return _live(request, context, story)
    if shown.state != State.WITHDRAWN or view.inner:
        context |= _evidence(request, shown, evaluation, view)
    return render(request, "leaderboard/boards/submission.html", context)


def _live(
    request: HttpRequest, context: dict[str, Any], story: SubmissionProgress
) -> HttpResponse:
    """Return the progress for the page's script, or 304; the ETag is not the page's."""
    tag = f'W/"{story.version}-{get_language()}-{context["reload_seconds"]}"'
    if request.headers.get("If-None-Match") == tag:
        response = HttpResponse(status=304)
    else:
        response = render(request, "leaderboard/boards/parts/progress.html", context)
    response["ETag"] = tag
    response["Cache-Control"] = "private, no-cache"
    return response


def _reload_seconds(submission: Submission, view: VisibleParts) -> int | None:
    at_work = submission.state in _AT_WORK and not submission.work.failure_permanent
    if not (view.team and at_work):
        return None
    # after ten minutes something is stuck, and reloading every five seconds does not
    # help
    fresh = timezone.now() - submission.created_at < _FRESH
    return 5 if fresh and submission.state in _SOON_DONE else 60


def visible_submission(
    request: HttpRequest, pk: int, way: reads.Way = reads.Way.PAGE
) -> tuple[Submission, VisibleParts]:
    """Return a submission or raise 404; access that only staff have is logged."""
    submission = (
        Submission.objects.select_related(
            "task", "team", "owner", "human_evaluation__task"
        )
        .filter(pk=pk)
        .first()
    )
    if submission is None:
        raise Http404
    view = visible_parts(submission, request.user)
    # the same 404 as for an unused number, so that private ones cannot be counted
    if not view.page:
        raise Http404
    as_staff = view.inner and not view.team
    if seen_as_staff(submission, view) or (as_staff and way == reads.Way.FILE):
        reads.record(request, submission, way, submission.task.slug)
    return submission, view


def _evidence(
    request: HttpRequest,
    submission: Submission,
    evaluation: HumanEvaluation | None,
    view: VisibleParts,
) -> dict[str, Any]:
    scores = scores_of(submission) if evaluation else []
    judged = judgements(submission, evaluation, view, scores)
    metrics = metric_lines(submission)
    now = state(submission.task) if judged else None
    attempts, n_ranked, figures = _beside(submission, evaluation, judged, now)
    return {
        "warnings": [
            w
            for w in submission.warnings
            if view.inner or not str(w.get("code", "")).startswith(_FOR_THE_TEAM)
        ],
        "judgements": [
            (judgement, histogram(judgement.counts)) for judgement in judged
        ],
        "judged": judged_of(submission.task, [submission.pk]).get(submission.pk, {})
        if judged
        else {},
        "judges_help": JUDGED_HELP,
        "n_ranked": n_ranked,
        "axis": _axis(judged),
        "still_open": still_open(submission, scores) if judged else [],
        "score_changes": score_changes(submission, scores) if judged else [],
        "metrics": metrics,
        # anonymous teams would be recognized by their number
        "attempts": attempts if view.identity else None,
        "figures": figures,
        **_outputs(
            request, submission, evaluation if judged else None, view, metrics, now
        ),
    }


def _beside(
    submission: Submission,
    evaluation: HumanEvaluation | None,
    judged: list[Judgement],
    now: BoardState | None,
) -> tuple[Attempts, int | None, WorkerFigures] | tuple[None, None, None]:
    if now is None or evaluation is None:
        return None, None, None
    return computed_once(
        now.key("submission", f"{submission.pk}", submission.state),
        lambda: (
            attempts_of(submission, judged[0].score),
            _n_ranked(submission),
            worker_figures(campaigns_of(evaluation)),
        ),
        KEPT_SECONDS,
    )


def _n_ranked(submission: Submission) -> int | None:
    scores = Score.objects.filter(
        public("submission__"),
        submission__task=submission.task_id,
        criterion=main_criterion(submission.task),
        superseded_at=None,
        rank_first__isnull=False,
    )
    found = scores.aggregate(n=Count("pk"), own=Count("pk", Q(submission=submission)))
    return found["n"] if found["own"] else None


def _outputs(
    request: HttpRequest,
    submission: Submission,
    evaluation: HumanEvaluation | None,
    view: VisibleParts,
    metrics: list[MetricLine],
    now: BoardState | None,
) -> dict[str, Any]:
    if view.inner or outputs_are_open(submission):
        context = outputs_context(request, submission, evaluation, metrics, now)
        return context | {"extremes": _extremes(submission, context["ratings"])}
    return {"outputs_withheld": True}


def _axis(judged: list[Judgement]) -> Axis | None:
    drawn = [judgement.score for judgement in judged if judgement.on_axis]
    if not drawn:
        return None
    low, high = (
        min(judgement.low for judgement in drawn),
        max(judgement.high for judgement in drawn),
    )
    # some room on either side, but not beyond the range of scores
    return axis_over(max(low - 10, min(low, 0)), min(high + 10, max(high, 100)))


# A board's outputs: those of one system at a time, and the extremes of each.
N_EXTREMES = 5


def readable(task: Task) -> QuerySet[Submission]:
    """Return the public systems whose outputs everyone may read."""
    rows = Submission.objects.select_related("task", "team", "human_evaluation__task")
    has_texts = Exists(Prediction.objects.filter(submission=OuterRef("pk")))
    return rows.filter(has_texts, public(), task=task, published_at__isnull=False)


def outputs(request: HttpRequest, slug: str) -> HttpResponse:
    task = get_object_or_404(Task, slug=slug)
    rows = readable(task).order_by("system_name", "pk")
    now: Any = SimpleLazyObject(lambda: state(task))
    chosen = _chosen_or_best(task, rows, request.GET.get("s", ""), now)
    context: dict[str, Any] = {"here": "tasks", "task": task, "submission": chosen}
    if chosen:
        text = request.GET.get("find", "").replace("\0", "").strip()[:100]
        names = rows.filter(system_name__icontains=text).values_list(
            "pk", "system_name"
        )
        found = list(names[: LISTED + 1])
        context |= {
            "systems": {chosen.pk: chosen.system_name, **dict(found[:LISTED])},
            "find": text,
            "is_long": len(found) > LISTED or text,
        }
        context |= outputs_context(
            request,
            chosen,
            evaluation_of(chosen),
            metric_lines(chosen),
            now,
            s=str(chosen.pk),
        )
    return render(request, "leaderboard/boards/outputs.html", context)


def _chosen_or_best(
    task: Task, rows: QuerySet[Submission], typed: str, now: BoardState
) -> Submission | None:
    if typed.isdecimal() and (chosen := rows.filter(pk=typed[:18]).first()):
        return chosen
    known = {*rows.order_by().values_list("pk", flat=True)}
    best = (
        next((pk for pk in ranked_pks(task, now) if pk in known), None)
        if known
        else None
    )
    return (rows.filter(pk=best) if best else rows).first()


def system_drawer(task: Task, typed: str) -> dict[str, Any] | None:
    """Return more about the system with this number; None if it is not public."""
    if not typed.isdecimal():
        return None
    pk = int(typed)
    shown = Submission.objects.filter(public(), task=task, pk=pk).first()
    if shown is None:
        return None
    first = first_place(task, evidence_beside_board(task))
    found = readable(task).filter(pk=pk).first()
    evaluation = evaluation_of(found) if found else None
    return {
        "pk": pk,
        "metrics": metric_lines(shown),
        "first": first if first and pk in {first.leader.pk, first.rival.pk} else None,
        "extremes": _extremes(
            found, arrange_outputs(found, evaluation, Wish(key=RATING)).ratings
        )
        if found and evaluation
        else [],
    }


def _extremes(
    submission: Submission, ratings: Mapping[int, float]
) -> list[tuple[str, list[tuple[Output, float]]]]:
    rated = sorted(ratings, key=lambda position: (ratings[position], position))
    worst = rated[:N_EXTREMES]
    best = rated[len(worst) :][-N_EXTREMES:][::-1]
    texts = {
        row.instance.position: output(submission, row)
        for row in predictions_at(submission, [*best, *worst])
    }  # an import may have ratings without texts
    return [
        (title, [(texts[position], ratings[position]) for position in positions])
        for title, positions in (("Best outputs", best), ("Worst outputs", worst))
        if positions and texts
    ]
