"""The user's pages: choice of e-mails, stored data, deletion of the account."""

from typing import cast

from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from crowd.money.selectors.earnings import earnings
from crowd.money.selectors.payouts import next_for
from crowd.workers.models.worker import Worker
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.submissions.models.submission import Submission
from leaderboard.teams.forms import LeaveForm, NoticesForm
from leaderboard.teams.selectors.account_data import data_of
from leaderboard.teams.services import leave as leaving
from leaderboard.teams.services import notices as service
from leaderboard.teams.services.announce import KINDS


@login_required
def notices(request: HttpRequest) -> HttpResponse:
    user = cast("Account", request.user)
    muted = service.muted_by(user)
    kinds = [kind for kind in KINDS.values() if kind not in muted]
    form = NoticesForm(request.POST or None, initial={"wanted": kinds})
    if request.method == "POST":
        # bound even if empty: no ticked box is a choice, too
        form = NoticesForm(request.POST)
        if form.is_valid():
            service.choose(user, form.cleaned_data["wanted"])
            messages.success(request, gettext("Saved."))
            return redirect("leaderboard:notices")
    context = {"here": "account", "form": form}
    status = 400 if form.errors else 200
    return render(request, "leaderboard/teams/notices.html", context, status=status)


@never_cache
@require_safe
@login_required
def my_data(request: HttpRequest) -> HttpResponse:
    return JsonResponse(
        data_of(cast("Account", request.user)),
        json_dumps_params={"indent": 2, "ensure_ascii": False},
        headers={"Content-Disposition": 'attachment; filename="genie-my-data.json"'},
    )


@login_required
def leave(request: HttpRequest) -> HttpResponse:
    user = cast("Account", request.user)
    form = LeaveForm(request.POST or None, user=user)
    if request.method == "POST" and form.is_valid():
        try:
            leaving.delete(user.pk)
        except GenieError as error:
            form.add_error(None, error.message)
        else:
            logout(request)
            messages.success(request, gettext("Your account has been deleted."))
            return redirect("leaderboard:home")
    worker = Worker.objects.filter(user=user).first()
    context = {
        "here": "account",
        "form": form,
        "n_submissions": Submission.objects.filter(owner=user).count(),
        "unpaid": earnings(worker) if worker else None,
        "next_payout": next_for(worker) if worker else None,
    }
    status = 400 if form.errors else 200
    return render(request, "leaderboard/teams/leave.html", context, status=status)
