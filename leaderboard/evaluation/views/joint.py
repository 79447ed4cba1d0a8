from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.charts.axis import axis_over
from leaderboard.evaluation.selectors.joint import (
    MANY,
    CriterionResult,
    criterion_results,
    joint_changes_of,
    joint_concerns,
    joint_progress,
    joint_seen_by,
    joint_still_open,
)
from leaderboard.evaluation.services import joint


def joint_evaluation(request: HttpRequest, pk: int) -> HttpResponse:
    joint_row = (
        joint_seen_by(request.user)
        .prefetch_related("evaluation__systems__submission")
        .filter(pk=pk)
        .first()
    )
    if joint_row is None:
        raise Http404
    results = criterion_results(joint_row, joint.criteria_of(joint_row.task))
    context = {
        "here": "tasks",
        "task": joint_row.task,
        "joint": joint_row,
        "systems": [row.submission for row in joint_row.evaluation.systems.all()],
        "many": len(joint_row.evaluation.systems.all()) > MANY,
        "results": [(result, _axis(result)) for result in results],
        "still_open": joint_still_open(joint_row),
        "changes": joint_changes_of(joint_row),
        "progress": joint_progress(joint_row),
        "inner": joint_concerns(request.user, joint_row),
    }
    return render(request, "leaderboard/evaluation/joint_evaluation.html", context)


def _axis(result: CriterionResult) -> Any:
    if not result.rows:
        return None
    low = min(row.low for row in result.rows)
    high = max(row.high for row in result.rows)
    # magnitudes have no upper end: 100 is the reference, and outputs may be better
    return axis_over(low, high, ceiling=max(100.0, high))
