"""Pages to upload, publish and withdraw the scores of a metric."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from genie.lib.errors import GenieError
from leaderboard.metric_board.models import OutsideMetric
from leaderboard.metric_board.services import (
    QUOTA,
    QUOTA_DAYS,
    publish,
    receive,
    systems_of,
    withdraw,
)
from leaderboard.submissions.selectors import public
from leaderboard.submissions.views import refuse_oversize
from leaderboard.tasks.models import Task


# The upload form for the scores of a metric; `services` does the checks.
class MetricScoresForm(forms.Form):
    name = forms.CharField(
        label="Name of the metric",
        max_length=60,
        help_text="Shown on the metric board with your user name.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    file = forms.FileField(
        label="Scores",
        help_text=(
            "CSV, TSV, JSON, JSONL, Excel or Parquet with system, instance and value, "
            "or lines of system, tab, score as mt-metrics-eval's .seg.score and "
            ".sys.score, also compressed with gzip or ZIP."
        ),
        # the service refuses an empty file, with a clearer message
        allow_empty_file=True,
    )
    lower = forms.BooleanField(label="Lower is better (an error rate)", required=False)
    description = forms.CharField(
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="Describe the metric, its version, and where to read about it.",
    )


_FIELD = {"bad-name": "name", "name-taken": "name", "bad-description": "description"}
_STATUS = {"quota-reached": 429, "throttled": 429}


@csrf_exempt  # checked in the inner view, after the body's size
def hand_in_scores(request: HttpRequest, slug: str) -> HttpResponse:
    return refuse_oversize(request) or _hand_in(request, slug)


@csrf_protect
@login_required
def _hand_in(request: HttpRequest, slug: str) -> HttpResponse:
    task = get_object_or_404(Task, slug=slug)
    form = MetricScoresForm(request.POST or None, request.FILES or None)
    if request.method != "POST" or not form.is_valid():
        return _page(request, task, form, 400 if form.errors else 200)
    fields, owner = form.cleaned_data, _account(request)
    try:
        metric = receive(
            task=task,
            owner=owner,
            name=fields["name"],
            file=fields["file"],
            file_name=fields["file"].name,
            description=fields["description"],
            higher_is_better=not fields["lower"],
        )
    except GenieError as error:
        if problems := error.details.get("problems"):
            return _page(request, task, form, 400, problems=problems)
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
        "system": next(iter(systems_of(task)), ""),
        "quota": (QUOTA, QUOTA_DAYS),
        "mine": OutsideMetric.objects.filter(
            task=task, owner_id=request.user.pk, withdrawn_at=None
        ).order_by("-pk"),
    }
    return render(
        request, "leaderboard/metric_board/scores.html", context, status=status
    )


def outside_metric(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a metric to its owner, and to everyone after it is published."""
    metric, is_owner = _visible_metric(request, pk)
    if request.method == "POST" and is_owner:
        return _decide(request, metric)
    scores = metric.scores.filter(public("submission__"))
    context = {
        "here": "tasks",
        "task": metric.task,
        "metric": metric,
        "own": is_owner,
        "scores": scores.select_related("submission")
        .defer("per_instance")
        .order_by("-value", "pk"),
    }
    return render(request, "leaderboard/metric_board/outside.html", context)


def _visible_metric(request: HttpRequest, pk: int) -> tuple[OutsideMetric, bool]:
    rows = OutsideMetric.objects.select_related("task", "owner")
    metric = rows.filter(pk=pk, withdrawn_at=None).first()
    if metric is None:
        raise Http404
    is_owner = metric.owner_id == request.user.pk
    # 404, not 403: unpublished metrics must not be revealed
    if not is_owner and metric.published_at is None:
        raise Http404
    return metric, is_owner


def _decide(request: HttpRequest, metric: OutsideMetric) -> HttpResponse:
    if "withdraw" in request.POST:
        withdraw(metric)
        messages.success(request, f"{metric.name} has been withdrawn.")
        return redirect("leaderboard:metric-board", slug=metric.task.slug)
    if "publish" in request.POST and publish(metric):
        messages.success(
            request, f"{metric.name} will appear on the metric board in a few minutes."
        )
    return redirect("leaderboard:metric-outside", pk=metric.pk)
