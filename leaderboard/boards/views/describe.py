"""Changes by a team to its system's description, also after publication."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext

from genie.lib.errors import GenieError
from leaderboard.boards.views.submission import visible_submission
from leaderboard.submissions.forms.about_system import (
    AboutSystemForm,
    initial_of,
    said_at,
)
from leaderboard.submissions.services.about_system import describe as change


@login_required
def describe(request: HttpRequest, pk: int) -> HttpResponse:
    submission, view = visible_submission(request, pk)
    # staff edit it in the admin, with a permission
    if not view.team:
        raise Http404
    form = AboutSystemForm(request.POST or None, initial=initial_of(submission))
    if request.method == "POST" and form.is_valid():
        try:
            change(submission, **form.cleaned_data)
        except GenieError as error:
            form.add_error(said_at(error), error.message)
        else:
            messages.success(
                request,
                gettext("What is said of %(system_name)s was saved.")
                % {"system_name": submission.system_name},
            )
            return redirect("leaderboard:submission", pk=pk)
    context = {
        "here": "mine",
        "submission": submission,
        "task": submission.task,
        "form": form,
    }
    status = 400 if form.errors else 200
    return render(
        request, "leaderboard/submissions/describe.html", context, status=status
    )
