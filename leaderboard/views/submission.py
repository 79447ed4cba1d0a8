"""The page of one submission: what happened to it, and what its numbers rest on."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from leaderboard.charts.axis import Axis, axis_over
from leaderboard.charts.bars import histogram
from leaderboard.models import HumanEvaluation, Submission
from leaderboard.selectors.campaigns import campaigns_of, evaluation_of
from leaderboard.selectors.evidence import Judgement, judgements, metric_lines, money
from leaderboard.selectors.sight import ON_BOARD, Sight, sight
from leaderboard.selectors.story import story_of
from leaderboard.selectors.worker_figures import worker_figures
from leaderboard.views.submission_outputs import outputs_context

State = Submission.State
# Steps that the site takes by itself: the first two within minutes of submitting.
_SOON_DONE = frozenset({State.RECEIVED, State.VALID})
_AT_WORK = _SOON_DONE | {State.APPROVED, State.ANNOTATED, State.SCORED}
_FRESH = timedelta(minutes=10)
# These would name, or describe, somebody else's submission.
_FOR_THE_TEAM = ("near-duplicate",)


def submission(request: HttpRequest, pk: int) -> HttpResponse:
    found, view = seen_by(request, pk)
    evaluation = evaluation_of(found)
    context: dict[str, Any] = {
        "here": "mine" if view.team else "tasks",
        "submission": found,
        "task": found.task,
        "view": view,
        "story": story_of(found, evaluation, view),
        "realignable": view.inner and _warned(found, "misaligned-ids"),
        "withdrawable": view.team
        and found.state not in {State.INVALID, State.WITHDRAWN},
        "money": money(found, evaluation, view),
        "on_board": found.state in ON_BOARD,
        "reload_seconds": _reload_seconds(found, view),
        "reload_off": request.GET.get("reload") == "off",
    }
    if found.state != State.WITHDRAWN or view.inner:
        context |= _evidence(request, found, evaluation, view)
    response = render(request, "leaderboard/submission.html", context)
    if context["reload_seconds"] and not context["reload_off"]:
        # what a browser follows without scripts; the page says so, and how to stop it
        response["Refresh"] = str(context["reload_seconds"])
    return response


def _reload_seconds(found: Submission, view: Sight) -> int | None:
    """Give the pause between reloads for a team that waits for the site's own work.

    What waits for people takes longer than anybody looks at the page.
    """
    at_work = found.state in _AT_WORK and not found.failure_permanent
    if not (view.team and at_work):
        return None
    fresh = timezone.now() - found.created_at < _FRESH
    return 5 if fresh and found.state in _SOON_DONE else 60


def seen_by(request: HttpRequest, pk: int) -> tuple[Submission, Sight]:
    """Give a submission to those who may see it; to others it does not exist."""
    found = (
        Submission.objects.select_related("task", "team", "owner").filter(pk=pk).first()
    )
    if found is None:
        raise Http404
    view = sight(found, request.user)
    if not view.page:
        raise Http404
    return found, view


def _evidence(
    request: HttpRequest,
    found: Submission,
    evaluation: HumanEvaluation | None,
    view: Sight,
) -> dict[str, Any]:
    judged = judgements(found, evaluation, view)
    metrics = metric_lines(found)
    return {
        "warnings": [w for w in found.warnings if view.inner or not _private(w)],
        "judgements": [(one, histogram(one.counts)) for one in judged],
        "axis": _axis(judged),
        "metrics": metrics,
        "figures": worker_figures(campaigns_of(evaluation))
        if judged and evaluation
        else None,
        **outputs_context(request, found, evaluation if judged else None, metrics),
    }


def _axis(judged: list[Judgement]) -> Axis | None:
    drawn = [one.score for one in judged if one.on_axis]
    if not drawn:
        return None
    low, high = min(one.low for one in drawn), max(one.high for one in drawn)
    # some room to either side, but not beyond what a score can be
    return axis_over(max(low - 10, min(low, 0)), min(high + 10, max(high, 100)))


def _private(warning: dict[str, Any]) -> bool:
    return str(warning.get("code", "")).startswith(_FOR_THE_TEAM)


def _warned(found: Submission, code: str) -> bool:
    return any(warning.get("code") == code for warning in found.warnings)
