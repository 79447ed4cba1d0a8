"""A file of predictions is checked, and a sample of one given; nothing is kept."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.csrf import csrf_exempt

from genie.lib.uploads import announced, drop
from leaderboard.forms.check import CheckForm
from leaderboard.models import Task
from leaderboard.readers.predictions import PredictionFile
from leaderboard.services.look_over import MOST_BYTES, look_over

# What surrounds a file in a multipart body.
_ROOM = 1 << 16


@csrf_exempt  # programs ask too, and nothing is changed for anybody
def check_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Say what is wrong with a file; as JSON to those who accept nothing else."""
    task = get_object_or_404(Task, slug=slug)
    if refused := _too_large(request):
        return refused
    if request.method != "POST":
        return _page(request, task, CheckForm())
    form = CheckForm(None, request.FILES)
    if not form.is_valid():
        return _page(request, task, form, status=400)
    file = form.cleaned_data["file"]
    found = look_over(task, cast("BinaryIO", file), str(file.name or "predictions"))
    if _wants_json(request):
        return JsonResponse(as_json(task, found))
    return _page(request, task, form, found=found, file_name=file.name)


def as_json(task: Task, found: PredictionFile) -> dict[str, Any]:
    """Give the finding as programs read it."""
    return {
        "task": task.slug,
        "valid": found.ok,
        "format": found.format,
        "n_predictions": len(found.predictions) if found.ok else 0,
        "n_instances": task.n_instances,
        "problems": [asdict(problem) for problem in found.problems],
    }


def sample(request: HttpRequest, slug: str) -> HttpResponse:
    """Give a file of the right shape, with every id and no prediction."""
    task = get_object_or_404(Task, slug=slug)
    ids = task.instances.order_by("position").values_list("instance_id", flat=True)
    text = json.dumps(
        dict.fromkeys(ids, "what your system says"), indent=0, ensure_ascii=False
    )
    response = HttpResponse(text + "\n", content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="{task.slug}-sample.json"'
    return response


def _too_large(request: HttpRequest) -> HttpResponse | None:
    limit = min(MOST_BYTES, settings.GENIE["MAX_UPLOAD_BYTES"])
    length = announced(request)
    if length <= limit + _ROOM:
        return None
    drop(request, 8 * limit)
    if _wants_json(request):
        detail = f"The file is larger than {limit >> 20} MB; more is not taken here."
        return JsonResponse({"detail": detail, "code": "file-too-large"}, status=413)
    context = {"most_megabytes": limit >> 20, "megabytes": max(length >> 20, 1)}
    return render(request, "413.html", context, status=413)


def _wants_json(request: HttpRequest) -> bool:
    return not request.accepts("text/html") and request.accepts("application/json")


def _page(
    request: HttpRequest,
    task: Task,
    form: CheckForm,
    *,
    found: PredictionFile | None = None,
    file_name: str = "",
    status: int = 200,
) -> HttpResponse:
    if status != 200 and _wants_json(request):
        return JsonResponse({"detail": "Send the file as `file`."}, status=status)
    context = {
        "here": "tasks",
        "task": task,
        "form": form,
        "found": found,
        "problems": [asdict(one) for one in found.problems] if found else [],
        "file_name": file_name,
        "most_megabytes": MOST_BYTES >> 20,
    }
    return render(request, "leaderboard/check.html", context, status=status)
