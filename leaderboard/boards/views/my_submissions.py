from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from genie.accounts.reads import Way
from genie.lib.errors import GenieError
from genie.lib.serving.pages import page_of
from leaderboard.boards.selectors.my_submissions import lines_for, submissions_for
from leaderboard.boards.views.submission import visible_submission
from leaderboard.evaluation import decide
from leaderboard.metric_runs.services import realign
from leaderboard.submissions.forms.submission import WithdrawalForm
from leaderboard.submissions.models.submission import Submission

PER_PAGE = 50


@login_required
def my_submissions(request: HttpRequest) -> HttpResponse:
    page = page_of(submissions_for(request.user), PER_PAGE, request.GET.get("page"))
    context = {"here": "mine", "page": page, "lines": lines_for(list(page))}
    return render(request, "leaderboard/boards/my_submissions.html", context)


@login_required
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    submission, view = visible_submission(request, pk)
    # staff see the page, too, but withdraw in the admin, with a permission
    if not view.team or submission.state == Submission.State.INVALID:
        raise Http404
    if submission.state == Submission.State.WITHDRAWN:
        return _restored(request, submission)
    form = WithdrawalForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        by: Any = request.user
        try:
            decide.withdraw(submission, by=by, reason=form.cleaned_data["reason"])
        except GenieError as error:
            messages.error(request, error.message)
        else:
            messages.success(
                request,
                gettext("%(system_name)s has been withdrawn.")
                % {"system_name": submission.system_name},
            )
        return redirect("leaderboard:submission", pk=pk)
    context = {
        "here": "mine",
        "submission": submission,
        "task": submission.task,
        "form": form,
    }
    return render(request, "leaderboard/submissions/withdraw.html", context)


def _restored(request: HttpRequest, submission: Submission) -> HttpResponse:
    if decide.way_back(submission) is None:
        raise Http404
    if request.method == "POST":
        # Withdrawing has this address, too: a second click must not restore it.
        if "restore" in request.POST:
            _restore(request, submission)
        return redirect("leaderboard:submission", pk=submission.pk)
    context = {"here": "mine", "submission": submission, "task": submission.task}
    return render(request, "leaderboard/submissions/restore.html", context)


def _restore(request: HttpRequest, submission: Submission) -> None:
    by: Any = request.user
    try:
        decide.restore(submission, by=by)
    except GenieError as error:
        messages.error(request, error.message)
    else:
        said = gettext("%(system_name)s has been restored.")
        messages.success(request, said % {"system_name": submission.system_name})


@require_safe
def realigned(request: HttpRequest, pk: int) -> HttpResponse:
    submission, view = visible_submission(request, pk, Way.FILE)
    content = realign.proposal(submission) if view.inner else None
    if content is None:
        raise Http404
    name = f"realigned-{pk}.json"
    return HttpResponse(
        content,
        content_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
