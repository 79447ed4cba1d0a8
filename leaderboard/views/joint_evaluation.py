"""The page of a joint evaluation: magnitudes, ranking, skill and agreement."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from crowd.selectors.progress import campaign_progress
from genie.accounts.staff import staff_may
from leaderboard.charts.axis import axis_over
from leaderboard.models import JointEvaluation
from leaderboard.selectors.campaigns import campaigns_of
from leaderboard.selectors.joint_seen import (
    CriterionResult,
    criterion_results,
    joint_seen_by,
)
from leaderboard.selectors.sight import Staff
from leaderboard.services import joint


def joint_evaluation(request: HttpRequest, pk: int) -> HttpResponse:
    found = (
        joint_seen_by(request.user)
        .select_related("evaluation__campaign__hit_type")
        .prefetch_related("systems__submission")
        .filter(pk=pk)
        .first()
    )
    if found is None:
        raise Http404
    results = criterion_results(found, joint.criteria_of(found.task))
    context = {
        "here": "tasks",
        "task": found.task,
        "joint": found,
        "systems": [row.submission for row in found.systems.all()],
        "results": [(one, _axis(one)) for one in results],
        "progress": _progress(found),
        "inner": found.requested_by_id == request.user.pk
        or staff_may(request.user, Staff.SEE_JOINT_EVALUATIONS),
    }
    return render(request, "leaderboard/joint_evaluation.html", context)


def _axis(result: CriterionResult) -> Any:
    if not result.rows:
        return None
    low = min(row.low for row in result.rows)
    high = max(row.high for row in result.rows)
    return axis_over(low, high, ceiling=max(100.0, high))


def _progress(found: JointEvaluation) -> dict[str, int]:
    if found.evaluation is None:
        return {"n_done": 0, "n_hits": 0, "spent_cents": 0}
    parts = [campaign_progress(one) for one in campaigns_of(found.evaluation)]
    return {
        "n_done": sum(one.n_done for one in parts),
        "n_hits": sum(one.n_hits for one in parts),
        "spent_cents": sum(one.spent_cents for one in parts),
    }
