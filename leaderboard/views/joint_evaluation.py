"""The page of a joint evaluation: magnitudes, ranking, skill and agreement."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.charts.axis import axis_over
from leaderboard.selectors.joint_seen import (
    CriterionResult,
    criterion_results,
    joint_concerns,
    joint_progress,
    joint_seen_by,
)
from leaderboard.services import joint


def joint_evaluation(request: HttpRequest, pk: int) -> HttpResponse:
    found = (
        joint_seen_by(request.user)
        .prefetch_related("evaluation__systems__submission")
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
        "progress": joint_progress(found),
        "inner": joint_concerns(request.user, found),
    }
    return render(request, "leaderboard/joint_evaluation.html", context)


def _axis(result: CriterionResult) -> Any:
    if not result.rows:
        return None
    low = min(row.low for row in result.rows)
    high = max(row.high for row in result.rows)
    return axis_over(low, high, ceiling=max(100.0, high))
