from datetime import timedelta
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import get_language

from genie.accounts import reads
from leaderboard.boards.selectors.attempts import attempts_of
from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.boards.selectors.evidence import (
    Judgement,
    MetricLine,
    judgements,
    metric_lines,
    money,
)
from leaderboard.boards.selectors.judged import JUDGED_HELP, judged_of
from leaderboard.boards.selectors.score_changes import score_changes, still_open
from leaderboard.boards.selectors.submission_progress import (
    SubmissionProgress,
    submission_progress,
)
from leaderboard.boards.views.submission_outputs import outputs_context
from leaderboard.charts import Axis, axis_over, histogram
from leaderboard.evaluation import decide
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.evaluation.selectors.campaigns import campaigns_of, evaluation_of
from leaderboard.evaluation.selectors.judged import who_ranks
from leaderboard.evaluation.selectors.worker_figures import worker_figures
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import (
    ON_BOARD,
    VisibleParts,
    outputs_are_open,
    public,
    seen_as_staff,
    visible_parts,
)

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
        "realignable": view.inner and _warned(shown, "misaligned-ids"),
        "withdrawable": view.team
        and shown.state not in {State.INVALID, State.WITHDRAWN},
        "restorable": view.team and decide.way_back(shown) is not None,
        "money": money(shown, evaluation, view),
        "on_board": shown.state in ON_BOARD,
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
    at_work = submission.state in _AT_WORK and not submission.failure_permanent
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
    judged = judgements(submission, evaluation, view)
    metrics = metric_lines(submission)
    return {
        "warnings": [w for w in submission.warnings if view.inner or not _private(w)],
        "judgements": [
            (judgement, histogram(judgement.counts)) for judgement in judged
        ],
        "judged": judged_of(submission.task, [submission.pk]).get(submission.pk, {})
        if judged
        else {},
        "judges_help": JUDGED_HELP,
        "who_ranks": who_ranks(submission.task),
        "n_ranked": _n_ranked(submission) if judged else None,
        "axis": _axis(judged),
        "still_open": still_open(submission) if judged else [],
        "score_changes": score_changes(submission) if judged else [],
        "metrics": metrics,
        # anonymous teams would be recognized by their number
        "attempts": attempts_of(submission, judged[0].score)
        if judged and view.identity
        else None,
        "figures": worker_figures(campaigns_of(evaluation))
        if judged and evaluation
        else None,
        **_outputs(request, submission, evaluation if judged else None, view, metrics),
    }


def _n_ranked(submission: Submission) -> int | None:
    scores = Score.objects.filter(
        public("submission__"),
        submission__task=submission.task_id,
        criterion=main_criterion(submission.task),
        superseded_at=None,
        rank_first__isnull=False,
    )
    ranked = list(scores.values_list("submission_id", flat=True))
    return len(ranked) if submission.pk in ranked else None


def _outputs(
    request: HttpRequest,
    submission: Submission,
    evaluation: HumanEvaluation | None,
    view: VisibleParts,
    metrics: list[MetricLine],
) -> dict[str, Any]:
    if view.inner or outputs_are_open(submission):
        return outputs_context(request, submission, evaluation, metrics)
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


def _private(warning: dict[str, Any]) -> bool:
    return str(warning.get("code", "")).startswith(_FOR_THE_TEAM)


def _warned(submission: Submission, code: str) -> bool:
    return any(warning.get("code") == code for warning in submission.warnings)
