from typing import Any, cast

from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from crowd.money.selectors.earnings import earnings
from crowd.money.selectors.payouts import next_for
from crowd.workers.models.worker import Worker
from genie.accounts.throttles import WrongLinks, too_many
from genie.lib.errors import GenieError
from genie.lib.serving.pages import post_or, status_of
from genie.lib.typing import Account
from leaderboard.submissions.models import Submission, Team
from leaderboard.teams.forms import (
    InviteForm,
    LeaveForm,
    NoticesForm,
    TeamForm,
    WebhookForm,
)
from leaderboard.teams.models import Membership, Webhook, WebhookDelivery
from leaderboard.teams.selectors import as_file, data_of
from leaderboard.teams.services import leave as leaving
from leaderboard.teams.services import notices as service
from leaderboard.teams.services import teams as team_service
from leaderboard.teams.services import webhooks as webhook_service
from leaderboard.teams.services.announce import KINDS


# The user's pages: choice of e-mails, stored data, deletion of the account.
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
    return render(
        request,
        "leaderboard/teams/notices.html",
        {"here": "account", "form": form},
        status=status_of(form.errors),
    )


@never_cache
@require_safe
@login_required
def my_data(request: HttpRequest) -> HttpResponse:
    return as_file(data_of(cast("Account", request.user)), "genie-my-data.json")


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
    return render(
        request, "leaderboard/teams/leave.html", context, status=status_of(form.errors)
    )


OWNER = Membership.Role.OWNER


@login_required
def teams(request: HttpRequest) -> HttpResponse:
    user = cast("Account", request.user)
    form = TeamForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            team = team_service.create(user, form.cleaned_data["name"])
        except GenieError as error:
            form.add_error("name", error.message)
        else:
            return redirect("leaderboard:team", team.slug)
    memberships = (
        Membership.objects.filter(user=user).select_related("team").order_by("pk")
    )
    context = {"here": "account", "memberships": memberships, "form": form}
    return render(
        request, "leaderboard/teams/teams.html", context, status=status_of(form.errors)
    )


def team_of(request: HttpRequest, slug: str, *, owner: bool = False) -> Team:
    """Return a team of the user; raise 404 for others."""
    user = cast("Account", request.user)
    team = Team.objects.filter(slug=slug, members=user.pk).first()
    if team is None or (owner and team_service.role_of(team, user) != OWNER):
        raise Http404
    return team


@never_cache
@require_safe
@login_required
def team(request: HttpRequest, slug: str) -> HttpResponse:
    return _page(request, team_of(request, slug), InviteForm())


def _page(
    request: HttpRequest, team: Team, form: InviteForm, status: int = 200
) -> HttpResponse:
    user = cast("Account", request.user)
    context: dict[str, Any] = {
        "here": "account",
        "team": team,
        "owner": team_service.role_of(team, user) == OWNER,
        "members": team.memberships.select_related("user").order_by("pk"),
        "invitations": team.invitations.filter(
            accepted_at=None, revoked_at=None, expires_at__gt=timezone.now()
        ),
        "form": form,
        "days": team_service.DAYS,
        # the link is shown once and not stored: only the token's hash is in the
        # database
        "link": request.session.pop("team-invitation", None),
    }
    return render(request, "leaderboard/teams/team.html", context, status=status)


@post_or("leaderboard:team", "slug")
@login_required
def invite(request: HttpRequest, slug: str) -> HttpResponse:
    team = team_of(request, slug, owner=True)
    form = InviteForm(request.POST)
    if not form.is_valid():
        return _page(request, team, form, 400)
    by, email = cast("Account", request.user), form.cleaned_data["email"]
    try:
        token = team_service.invite(team, by=by, **form.cleaned_data)
        path = reverse("leaderboard:team-invitation", args=[token])
        link = request.build_absolute_uri(path)
        request.session["team-invitation"] = link
        if email:
            team_service.send_invitation(team, email, link, by)
            del request.session["team-invitation"]
            messages.success(
                request,
                gettext("We have sent an e-mail to %(email)s.") % {"email": email},
            )
    except GenieError as error:
        messages.error(request, error.message)
    return redirect("leaderboard:team", slug)


@post_or("leaderboard:team", "slug")
@login_required
def take_back(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    team = team_of(request, slug, owner=True)
    if not team_service.take_back(team, pk):
        raise Http404
    messages.success(request, gettext("The invitation has been revoked."))
    return redirect("leaderboard:team", slug)


@post_or("leaderboard:team", "slug")
@login_required
def member(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    # members may always leave; everything else needs an owner
    itself = pk == request.user.pk and request.POST.get("do") == "remove"
    team = team_of(request, slug, owner=not itself)
    actions = {
        "remove": lambda: team_service.remove(team, pk),
        "owner": lambda: team_service.set_role(team, pk, OWNER),
        "member": lambda: team_service.set_role(team, pk, Membership.Role.MEMBER),
    }
    action = actions.get(request.POST.get("do", ""))
    if action is None:
        raise Http404
    try:
        action()
    except GenieError as error:
        messages.error(request, error.message)
        itself = False
    else:
        messages.success(request, gettext("Done."))
    if itself:
        return redirect("leaderboard:teams")
    return redirect("leaderboard:team", slug)


@never_cache
@login_required
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Join a team; only a confirmation uses the invitation up, not a look."""
    try:
        offered = team_service.usable(token)
        if request.method == "POST":
            joined = team_service.accept(token, cast("Account", request.user))
            messages.success(
                request, gettext("You have joined %(name)s.") % {"name": joined.name}
            )
            return redirect("leaderboard:team", joined.slug)
    except GenieError as error:
        context = {"here": "account", "sentence": error.message}
        page = "leaderboard/teams/invitation.html"
        refused = render(request, page, context, status=410)
        limit = WrongLinks()
        return refused if limit.one_more(request) else too_many(refused, limit.wait())
    return render(
        request,
        "leaderboard/teams/invitation.html",
        {"here": "account", "team": offered.team},
    )


SHOWN = 50


@never_cache
@login_required
def webhooks(request: HttpRequest, slug: str) -> HttpResponse:
    team = team_of(request, slug, owner=True)
    form = WebhookForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        by = cast("Account", request.user)
        try:
            webhook = webhook_service.add(team, form.cleaned_data["url"], by=by)
        except GenieError as error:
            form.add_error("url", error.message)
        else:
            # the next page shows the new webhook's secret, later ones hide it
            request.session["new-webhook"] = webhook.pk
            return redirect("leaderboard:webhooks", slug)
    deliveries = WebhookDelivery.objects.filter(webhook__team=team)
    return render(
        request,
        "leaderboard/teams/webhooks.html",
        {
            "here": "account",
            "team": team,
            "form": form,
            "webhooks": team.webhooks.order_by("pk"),
            "new": request.session.pop("new-webhook", None),
            "deliveries": deliveries.select_related("webhook").order_by("-pk")[:SHOWN],
        },
        status=status_of(form.errors),
    )


@post_or("leaderboard:webhooks", "slug")
@login_required
def webhook(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    hook = get_object_or_404(Webhook, pk=pk, team=team_of(request, slug, owner=True))
    action = request.POST.get("do", "")
    if action == "test":
        webhook_service.queue_test(hook)
        messages.success(
            request,
            gettext(
                "A test event is on its way; it will appear below within a minute."
            ),
        )
    elif action == "remove":
        hook.delete()
        messages.success(
            request, gettext("%(url)s will receive no more events.") % {"url": hook.url}
        )
    elif action in {"on", "off"}:
        Webhook.objects.filter(pk=hook.pk).update(active=action == "on")
    else:
        raise Http404
    return redirect("leaderboard:webhooks", slug)


urlpatterns = [
    path("teams/", teams, name="teams"),
    path("teams/<slug:slug>/", team, name="team"),
    path("teams/<slug:slug>/invite/", invite, name="invite"),
    path(
        "teams/<slug:slug>/invitations/<int:pk>/take-back/", take_back, name="take-back"
    ),
    path("teams/<slug:slug>/members/<int:pk>/", member, name="team-member"),
    path("teams/<slug:slug>/webhooks/", webhooks, name="webhooks"),
    path("teams/<slug:slug>/webhooks/<int:pk>/", webhook, name="webhook"),
    path("team-invitation/<str:token>/", invitation, name="team-invitation"),
    path("account/notices/", notices, name="notices"),
    path("account/data.json", my_data, name="my-data"),
    path("account/delete/", leave, name="leave"),
]
