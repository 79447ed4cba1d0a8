from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from genie.accounts.throttles import limit_files
from genie.lib.errors import GenieError
from genie.lib.serving.pages import status_of
from leaderboard.charts import axis_over
from leaderboard.evaluation.charts import course
from leaderboard.evaluation.forms import ComparisonForm, JointForm
from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.selectors.comparison_labels import rule_of
from leaderboard.evaluation.selectors.comparisons import (
    Standing,
    comparisons_seen_by,
    concerns,
    standing_of,
    verdict,
    why_ended_early,
)
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
from leaderboard.evaluation.services import comparison as compare
from leaderboard.evaluation.services import joint
from leaderboard.tasks.models import Task
from leaderboard.tasks.selectors import CLOSED


def comparison(request: HttpRequest, pk: int) -> HttpResponse:
    shown = comparisons_seen_by(request.user).filter(pk=pk).first()
    if shown is None:
        raise Http404
    standing = standing_of(shown)
    sentence = verdict(shown, standing)
    context = {
        "here": "tasks",
        "task": shown.task,
        "comparison": shown,
        "question": compare.criteria_of(shown.task).get(shown.criterion, ""),
        "standing": standing,
        "said": sentence,
        "ended_early": why_ended_early(shown, standing),
        "chart": course(
            standing.course,
            first=shown.a.system_name,
            second=shown.b.system_name,
            description=sentence,
            decided=shown.n_labels if shown.state == Comparison.State.DECIDED else None,
        ),
        "percent": _percent(standing),
        "rule": rule_of(shown),
        "sure": f"{100 * (1 - shown.delta):.4g}",
        "inner": concerns(request.user, shown),
    }
    return render(request, "leaderboard/evaluation/comparison.html", context)


@login_required
def ask_comparison(request: HttpRequest, slug: str) -> HttpResponse:
    return _ask(request, slug, ComparisonForm, request.GET.dict())


@limit_files
@login_required
def ask_joint(request: HttpRequest, slug: str) -> HttpResponse:
    initial = {"systems": request.GET.getlist("systems")}
    return _ask(request, slug, JointForm, initial)


def _ask(
    request: HttpRequest, slug: str, kind: Any, initial: dict[str, Any]
) -> HttpResponse:
    task = get_object_or_404(Task, slug=slug)
    if task.imported:
        messages.error(request, CLOSED)
        return redirect("leaderboard:pairs", slug=task.slug)
    sent = request.POST or None
    text = request.POST.get("find", "").strip()[:100]
    if sent and "search" in sent:
        lists = {name: sent.getlist(name) for name in ("systems", "criteria")}
        initial = sent.dict() | lists
        sent = None
    form = kind(sent, task=task, viewer=request.user, initial=initial, text=text)
    if sent and form.is_valid() and "show" not in sent:
        try:
            made = form.ask(request.user)
        except GenieError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, "Staff will review the request.")
            return redirect(form.page, pk=made.pk)
    return render(
        request,
        "leaderboard/evaluation/comparison_ask.html",
        {"here": "tasks", "task": task, "form": form, "text": text},
        status=status_of(form.errors),
    )


def _percent(standing: Standing) -> dict[str, str]:
    decision = standing.now
    if not decision.n:
        return {}
    names = ("estimate", "low", "high")
    return {name: f"{100 * getattr(decision, name):.1f}" for name in names}


def joint_evaluation(request: HttpRequest, pk: int) -> HttpResponse:
    joint_row = (
        joint_seen_by(request.user)
        .prefetch_related("systems__submission", "campaigns")
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
        "systems": [row.submission for row in joint_row.systems.all()],
        "many": len(joint_row.systems.all()) > MANY,
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
