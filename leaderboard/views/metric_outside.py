"""Handing in the scores of one's own metric, publishing and withdrawing them."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from genie.lib.errors import GenieError
from leaderboard.forms.metric_scores import MetricScoresForm
from leaderboard.models import OutsideMetric, Task
from leaderboard.selectors.sight import public
from leaderboard.services import metric_outside as service
from leaderboard.views.oversize import refuse_oversize

_FIELD = {"bad-name": "name", "name-taken": "name", "bad-description": "description"}
_STATUS = {"quota-reached": 429, "throttled": 429}


@csrf_exempt  # only so far that an oversize body is refused before it is read
def hand_in_scores(request: HttpRequest, slug: str) -> HttpResponse:
    return refuse_oversize(request) or _hand_in(request, slug)


@csrf_protect
@login_required
def _hand_in(request: HttpRequest, slug: str) -> HttpResponse:
    task = get_object_or_404(Task, slug=slug)
    form = MetricScoresForm(request.POST or None, request.FILES or None)
    if request.method != "POST" or not form.is_valid():
        return _page(request, task, form, 400 if form.errors else 200)
    given, owner = form.cleaned_data, _account(request)
    try:
        metric = service.receive(
            task=task,
            owner=owner,
            name=given["name"],
            file=given["file"],
            file_name=given["file"].name,
            description=given["description"],
            higher_is_better=not given["lower"],
        )
    except GenieError as error:
        if found := error.details.get("problems"):
            return _page(request, task, form, 400, problems=found)
        form.add_error(_FIELD.get(error.code), error.message)
        return _page(request, task, form, _STATUS.get(error.code, 400))
    messages.success(
        request, f"{metric.name} has been uploaded. Only you can see it so far."
    )
    return redirect("leaderboard:metric-outside", pk=metric.pk)


def _account(request: HttpRequest) -> Any:
    return request.user


def _page(
    request: HttpRequest,
    task: Task,
    form: MetricScoresForm,
    status: int,
    *,
    problems: Any = (),
) -> HttpResponse:
    instance = task.instances.order_by("position").first()
    context = {
        "here": "tasks",
        "task": task,
        "form": form,
        "problems": problems,
        "instance_id": instance.instance_id if instance else "",
        "system": next(iter(service.systems_of(task)), ""),
        "quota": (service.QUOTA, service.QUOTA_DAYS),
        "mine": OutsideMetric.objects.filter(
            task=task, owner_id=request.user.pk, withdrawn_at=None
        ).order_by("-pk"),
    }
    return render(request, "leaderboard/metric_scores.html", context, status=status)


def outside_metric(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a metric to its owner; once it is published, to everybody."""
    metric, own = _seen(request, pk)
    if request.method == "POST" and own:
        return _decide(request, metric)
    scores = metric.scores.filter(public("submission__"))
    context = {
        "here": "tasks",
        "task": metric.task,
        "metric": metric,
        "own": own,
        "scores": scores.select_related("submission")
        .defer("per_instance")
        .order_by("-value", "pk"),
    }
    return render(request, "leaderboard/metric_outside.html", context)


def _seen(request: HttpRequest, pk: int) -> tuple[OutsideMetric, bool]:
    rows = OutsideMetric.objects.select_related("task", "owner")
    metric = rows.filter(pk=pk, withdrawn_at=None).first()
    if metric is None:
        raise Http404
    own = metric.owner_id == request.user.pk
    if not own and metric.published_at is None:
        raise Http404
    return metric, own


def _decide(request: HttpRequest, metric: OutsideMetric) -> HttpResponse:
    if "withdraw" in request.POST:
        service.withdraw(metric)
        messages.success(request, f"{metric.name} has been withdrawn.")
        return redirect("leaderboard:metric-board", slug=metric.task.slug)
    if "publish" in request.POST and service.publish(metric):
        messages.success(
            request, f"{metric.name} will appear on the metric board in a few minutes."
        )
    return redirect("leaderboard:metric-outside", pk=metric.pk)
