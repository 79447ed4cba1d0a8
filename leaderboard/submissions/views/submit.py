"""The page to submit predictions."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from genie.lib.errors import GenieError
from leaderboard.submissions.forms.about_system import said_at
from leaderboard.submissions.forms.submission import SubmissionForm
from leaderboard.submissions.models.submission import Submission, Team
from leaderboard.submissions.services import about_system
from leaderboard.submissions.services import submit as service
from leaderboard.submissions.views.oversize import refuse_oversize
from leaderboard.tasks.models import Task

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
        return _page(request, task, teams, form)
    form = SubmissionForm(request.POST, request.FILES, teams=teams, left=quotas)
    if not form.is_valid():
        return _page(request, task, teams, form, status=400)
    try:
        received = _receive(request, task, form.cleaned_data)
    except GenieError as error:
        form.add_error(_FIELD.get(error.code) or said_at(error), error.message)
        status = _STATUS.get(error.code, 400)
        return _page(request, task, teams, form, status=status)
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
        **{name: data[name] for name in about_system.FIELDS},
    )


def _page(
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
