import json
from dataclasses import asdict
from http import HTTPStatus
from typing import IO, Any, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext, ngettext
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from genie.accounts.throttles import CheckThrottle
from genie.lib.errors import GenieError
from genie.lib.serving.one_at_a_time import one_at_a_time
from genie.lib.serving.pages import file_named
from genie.lib.serving.uploads import announced_length, drop
from leaderboard.submissions.forms import CheckForm, SubmissionForm, said_at
from leaderboard.submissions.models import Submission, Team, detail_names
from leaderboard.submissions.readers import PredictionFile
from leaderboard.submissions.services import check_file as dry_run
from leaderboard.submissions.services import submit as service
from leaderboard.tasks.models import Task

# Check a file of predictions, and serve a sample of one; no data is stored.
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
        return _not_now(request, task, free=free) or _check_upload(request, task)


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


def _check_upload(request: HttpRequest, task: Task) -> HttpResponse:
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
    return file_named(f"{task.slug}-sample.json", text + "\n", "application/json")


def _too_large(request: HttpRequest) -> HttpResponse | None:
    limit = dry_run.most_bytes()
    length = announced_length(request)
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


# Refuse a body that is too large by its header, without storing it.

# The other fields of the form, and the bytes around a file in a multipart body.
_FORM_ROOM = 1 << 20


def refuse_oversize(request: HttpRequest) -> HttpResponse | None:
    """Return a page that explains what to do, or None if the size is allowed."""
    limit = settings.GENIE["MAX_UPLOAD_BYTES"]
    length = announced_length(request)
    if length <= limit + _FORM_ROOM:
        return None
    drop(request, 8 * limit)
    context = {"most_megabytes": limit >> 20, "megabytes": f"{length / 2**20:.1f}"}
    return render(request, "413.html", context, status=413)


# The page to submit predictions.

# The form field of the service's errors.
_FIELD = {
    "file-too-large": "file",
    "empty-file": "file",
    "bad-name": "system_name",
    "not-a-member": "team",
}

_STATUS = {"file-too-large": 413, "quota-reached": 429, "not-accepting": 403}


@csrf_exempt  # only until the view has refused an oversize body without reading it
def submit(request: HttpRequest, slug: str) -> HttpResponse:
    return refuse_oversize(request) or _submit(request, slug)


@csrf_protect
@login_required
def _submit(request: HttpRequest, slug: str) -> HttpResponse:
    task = get_object_or_404(Task, slug=slug)
    teams = list(Team.objects.filter(members=request.user.pk).order_by("pk"))
    quotas = {team.pk: service.quota(task, team) for team in teams}
    if request.method != "POST":
        form = SubmissionForm(teams=teams, left=quotas)
        return _form_page(request, task, teams, form)
    form = SubmissionForm(request.POST, request.FILES, teams=teams, left=quotas)
    if not form.is_valid():
        return _form_page(request, task, teams, form, status=400)
    try:
        received = _receive(request, task, form.cleaned_data)
    except GenieError as error:
        form.add_error(_FIELD.get(error.code) or said_at(error), error.message)
        status = _STATUS.get(error.code, 400)
        return _form_page(request, task, teams, form, status=status)
    messages.success(
        request,
        gettext("%(system_name)s was received and is being checked.")
        % {"system_name": received.system_name},
    )
    return redirect("leaderboard:submission", pk=received.pk)


def _receive(request: HttpRequest, task: Task, data: dict[str, Any]) -> Submission:
    owner: Any = request.user
    return service.receive(
        task=task,
        owner=owner,
        team=data["team"] or service.team_for(owner),
        system_name=data["system_name"],
        file=data["file"],
        file_name=data["file"].name,
        description=data["description"],
        links=data["links"],
        visibility=data["visibility"],
        anonymous_until=data["anonymous_until"],
        **{name: data[name] for name in detail_names()},
    )


def _form_page(
    request: HttpRequest,
    task: Task,
    teams: list[Team],
    form: SubmissionForm,
    *,
    status: int = 200,
) -> HttpResponse:
    user: Any = request.user
    context = {
        "here": "tasks",
        "task": task,
        "form": form,
        "exempt": service.exempt_from_quota(user, "leaderboard.add_submission"),
        "quotas": [(team, form.left[team.pk]) for team in teams],
        "example": task.instances.order_by("position").values("instance_id")[:2],
        "most_megabytes": settings.GENIE["MAX_UPLOAD_BYTES"] >> 20,
    }
    return render(
        request, "leaderboard/submissions/submit.html", context, status=status
    )
