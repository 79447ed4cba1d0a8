"""Check a file of predictions, and serve a sample of one; no data is stored."""

import json
from dataclasses import asdict
from http import HTTPStatus
from typing import IO, Any, cast

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext, ngettext
from django.views.decorators.csrf import csrf_exempt

from genie.accounts.throttles import CheckThrottle
from genie.lib.serving.one_at_a_time import one_at_a_time
from genie.lib.serving.uploads import announced, drop
from leaderboard.submissions.forms.check import CheckForm
from leaderboard.submissions.readers import PredictionFile
from leaderboard.submissions.services import check_file as dry_run
from leaderboard.tasks.models import Task

# Bytes around a file in a multipart body.
_ROOM = 1 << 16
_BUSY_SECONDS = 3


# Exempt, because programs without a cookie use it too. Another site that makes a
# visitor send a file gains no advantage: no data changes, the answer does not depend on
# the user, and all anonymous users together have one check at a time.
@csrf_exempt
def check_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the problems of a file; JSON for clients that accept only JSON."""
    task = get_object_or_404(Task, slug=slug)
    if refused := _too_large(request):
        return refused
    if request.method != "POST":
        return _page(request, task, CheckForm())
    _ = request.FILES  # a slow upload blocks its thread, and no lock
    group = "accounts" if request.user.is_authenticated else "strangers"
    with one_at_a_time(f"check-by-{group}") as free:
        return _not_now(request, task, free=free) or _checked(request, task)


def _not_now(request: HttpRequest, task: Task, *, free: bool) -> HttpResponse | None:
    """Refuse if another check is running, or after too many."""
    throttle = CheckThrottle()
    if not free:
        # before the throttle, so that this refusal is not counted
        seconds = _BUSY_SECONDS
        reason = gettext("Another file is being checked right now.")
    elif not throttle.allow_request(cast("Any", request), cast("Any", None)):
        seconds = max(1, round(throttle.wait() or 1))
        reason = gettext(
            "You have reached the hourly limit of file checks for your address or "
            "account."
        )
    else:
        return None
    minutes = seconds // 60
    if seconds < 120:
        again = ngettext(
            "Try again in %(n)s second.", "Try again in %(n)s seconds.", seconds
        ) % {"n": seconds}
    else:
        again = ngettext(
            "Try again in %(n)s minute.", "Try again in %(n)s minutes.", minutes
        ) % {"n": minutes}
    form = CheckForm()
    answer = _page(
        request,
        task,
        form,
        refused=f"{reason} {again}",
        status=HTTPStatus.TOO_MANY_REQUESTS,
    )
    answer["Retry-After"] = str(seconds)
    return answer


def _checked(request: HttpRequest, task: Task) -> HttpResponse:
    form = CheckForm(None, request.FILES)
    if not form.is_valid():
        return _page(request, task, form, status=400)
    file = form.cleaned_data["file"]
    checked = dry_run.read(
        task, cast("IO[bytes]", file), str(file.name or "predictions")
    )
    if _wants_json(request):
        return JsonResponse(as_json(task, checked))
    return _page(request, task, form, checked=checked, file_name=file.name)


def as_json(task: Task, checked: PredictionFile) -> dict[str, Any]:
    return {
        "task": task.slug,
        "valid": checked.ok,
        "format": checked.format,
        "n_predictions": len(checked.predictions) if checked.ok else 0,
        "n_instances": task.n_instances,
        "problems": [asdict(problem) for problem in checked.problems],
    }


def sample(request: HttpRequest, slug: str) -> HttpResponse:
    """Return a valid file with every id and no prediction."""
    task = get_object_or_404(Task, slug=slug)
    ids = task.instances.order_by("position").values_list("instance_id", flat=True)
    text = json.dumps(
        dict.fromkeys(ids, "your system's output"), indent=0, ensure_ascii=False
    )
    response = HttpResponse(text + "\n", content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="{task.slug}-sample.json"'
    return response


def _too_large(request: HttpRequest) -> HttpResponse | None:
    limit = dry_run.most_bytes()
    length = announced(request)
    if length <= limit + _ROOM:
        return None
    drop(request, 2 * limit)
    if _wants_json(request):
        detail = f"The file is larger than {limit >> 20} MB, the limit here."
        return JsonResponse({"detail": detail, "code": "file-too-large"}, status=413)
    context = {"most_megabytes": limit >> 20, "megabytes": f"{length / 2**20:.1f}"}
    return render(request, "413.html", context, status=413)


def _wants_json(request: HttpRequest) -> bool:
    return not request.accepts("text/html") and request.accepts("application/json")


def _page(
    request: HttpRequest,
    task: Task,
    form: CheckForm,
    *,
    checked: PredictionFile | None = None,
    file_name: str = "",
    refused: str = "",
    status: int = 200,
) -> HttpResponse:
    if status != HTTPStatus.OK and _wants_json(request):
        detail = refused or "Upload the file in the field `file`."
        return JsonResponse({"detail": detail}, status=status)
    context = {
        "here": "tasks",
        "task": task,
        "form": form,
        "found": checked,
        "problems": [asdict(problem) for problem in checked.problems]
        if checked
        else [],
        "warnings": dry_run.warnings_of(task, checked) if checked else [],
        "file_name": file_name,
        "refused": refused,
        "most_megabytes": dry_run.most_bytes() >> 20,
    }
    return render(request, "leaderboard/submissions/check.html", context, status=status)
