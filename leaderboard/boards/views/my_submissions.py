from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from genie.accounts.reads import Way
from genie.lib.errors import GenieError
from genie.lib.serving.pages import page_of, status_of
from leaderboard.boards.selectors.rows import Pending
from leaderboard.boards.views.submission import visible_submission
from leaderboard.evaluation import decide
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.selectors.ranked_scores import n_judged
from leaderboard.metric_runs.services import proposal
from leaderboard.submissions.forms import (
    AboutSystemForm,
    WithdrawalForm,
    initial_of,
    said_at,
)
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import team_ids
from leaderboard.submissions.services import lifecycle
from leaderboard.submissions.services.submit import describe as change


# The submitted file, for its team and staff.
@never_cache
def handed_in(request: HttpRequest, pk: int) -> FileResponse:
    """Return the stored file, byte for byte, to its team and to staff.

    It comes through this site wherever it is stored: a link into the bucket would work
    for anyone who gets hold of it.
    """
    submission, view = visible_submission(request, pk, Way.FILE)
    # imported ratings have no submitted file
    if not view.inner or not submission.file:
        raise Http404
    try:
        file = submission.file.open("rb")
    except FileNotFoundError:
        raise Http404("The stored file no longer exists.") from None
    return FileResponse(
        file,
        as_attachment=True,
        filename=submission.file_name,
        content_type="application/octet-stream",
    )


# Changes by a team to its system's description, also after publication.
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
                gettext("The description of %(system_name)s was saved.")
                % {"system_name": submission.system_name},
            )
            return redirect("leaderboard:submission", pk=pk)
    context = {
        "here": "mine",
        "submission": submission,
        "task": submission.task,
        "form": form,
    }
    return render(
        request,
        "leaderboard/submissions/describe.html",
        context,
        status=status_of(form.errors),
    )


@dataclass(frozen=True)
class MyLine:
    submission: Submission
    score: Score | None
    pending: Pending | None


def lines_for(submissions: list[Submission]) -> list[MyLine]:
    """Add scores and progress to a page of submissions, in two queries."""
    pks = [submission.pk for submission in submissions]
    scores: dict[int, Score] = {}
    scores_now = (
        Score.objects.filter(submission__in=pks, superseded_at=None)
        .select_related("evaluation")
        .prefetch_related("evaluation__campaigns")
    )
    for score in scores_now:
        scores.setdefault(score.submission_id, score)
    being_judged = [s.pk for s in submissions if s.state == Submission.State.ANNOTATING]
    judged = n_judged(being_judged) if being_judged else {}
    return [
        MyLine(
            submission=submission,
            score=scores.get(submission.pk),
            pending=_make_pending(submission, judged.get(submission.pk, 0))
            if submission.pk in being_judged
            else None,
        )
        for submission in submissions
    ]


def _make_pending(submission: Submission, n: int) -> Pending:
    evaluation = submission.human_evaluation
    n_planned = evaluation.n_instances if evaluation else submission.task.sample_size
    return Pending(min(n, n_planned), n_planned)


PER_PAGE = 50


@login_required
def my_submissions(request: HttpRequest) -> HttpResponse:
    mine = (
        Submission.objects.filter(team_id__in=team_ids(request.user))
        .select_related("team", "human_evaluation")
        # few tasks for many rows, and their settings are long
        .prefetch_related("task")
        .defer("errors", "description", "links")
        .order_by("-pk")
    )
    # the database sorts keys faster than long rows
    keys = mine.values_list("pk", flat=True)
    page = page_of(keys, PER_PAGE, request.GET.get("page"))
    lines = lines_for(list(mine.filter(pk__in=list(page))))
    context = {"here": "mine", "page": page, "lines": lines}
    return render(request, "leaderboard/boards/my_submissions.html", context)


@login_required
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    submission, view = visible_submission(request, pk)
    # staff see the page, too, but withdraw in the admin, with a permission
    if not view.team or submission.state == Submission.State.INVALID:
        raise Http404
    if submission.is_withdrawn:
        return _restore(request, submission)
    form = WithdrawalForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        said = gettext("%(system_name)s has been withdrawn.")
        _decide(request, decide.withdraw, submission, said, **form.cleaned_data)
        return redirect("leaderboard:submission", pk=pk)
    context = {
        "here": "mine",
        "submission": submission,
        "task": submission.task,
        "form": form,
    }
    return render(request, "leaderboard/submissions/withdraw.html", context)


def _restore(request: HttpRequest, submission: Submission) -> HttpResponse:
    if lifecycle.way_back(submission) is None:
        raise Http404
    if request.method == "POST":
        # Withdrawing has this address, too: a second click must not restore it.
        if "restore" in request.POST:
            said = gettext("%(system_name)s has been restored.")
            _decide(request, decide.restore, submission, said)
        return redirect("leaderboard:submission", pk=submission.pk)
    context = {"here": "mine", "submission": submission, "task": submission.task}
    return render(request, "leaderboard/submissions/restore.html", context)


def _decide(
    request: HttpRequest,
    decision: Callable[..., object],
    submission: Submission,
    said: str,
    **why: str,
) -> None:
    try:
        decision(submission, by=request.user, **why)
    except GenieError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, said % {"system_name": submission.system_name})


@require_safe
def realigned_file(request: HttpRequest, pk: int) -> HttpResponse:
    submission, view = visible_submission(request, pk, Way.FILE)
    content = proposal(submission) if view.inner else None
    if content is None:
        raise Http404
    name = f"realigned-{pk}.json"
    return HttpResponse(
        content,
        content_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
