from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from genie.accounts.throttles import WrongLinks, too_many
from genie.lib.errors import GenieError
from genie.lib.serving.post_only import post_or
from genie.lib.typing import Account
from leaderboard.submissions.models.submission import Team
from leaderboard.teams.forms import InviteForm, TeamForm
from leaderboard.teams.models.team import Membership
from leaderboard.teams.services import teams as service

OWNER = Membership.Role.OWNER


@login_required
def teams(request: HttpRequest) -> HttpResponse:
    user = cast("Account", request.user)
    form = TeamForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            team = service.create(user, form.cleaned_data["name"])
        except GenieError as error:
            form.add_error("name", error.message)
        else:
            return redirect("leaderboard:team", team.slug)
    memberships = (
        Membership.objects.filter(user=user).select_related("team").order_by("pk")
    )
    context = {"here": "account", "memberships": memberships, "form": form}
    status = 400 if form.errors else 200
    return render(request, "leaderboard/teams/teams.html", context, status=status)


def team_of(request: HttpRequest, slug: str, *, owner: bool = False) -> Team:
    """Return a team of the user; raise 404 for others."""
    user = cast("Account", request.user)
    team = Team.objects.filter(slug=slug, members=user.pk).first()
    if team is None or (owner and service.role_of(team, user) != OWNER):
        raise Http404
    return team


@never_cache
@require_safe
@login_required
def team(request: HttpRequest, slug: str) -> HttpResponse:
    own_team = team_of(request, slug)
    return _page(request, own_team, InviteForm())


def _page(
    request: HttpRequest, team: Team, form: InviteForm, status: int = 200
) -> HttpResponse:
    user = cast("Account", request.user)
    now = timezone.now()
    context: dict[str, Any] = {
        "here": "account",
        "team": team,
        "owner": service.role_of(team, user) == OWNER,
        "members": team.memberships.select_related("user").order_by("pk"),
        "invitations": team.invitations.filter(
            accepted_at=None, revoked_at=None, expires_at__gt=now
        ),
        "form": form,
        "days": service.DAYS,
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
        token = service.invite(team, by=by, **form.cleaned_data)
        path = reverse("leaderboard:team-invitation", args=[token])
        link = request.build_absolute_uri(path)
        request.session["team-invitation"] = link
        if email:
            service.send_invitation(team, email, link, by)
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
    if not service.take_back(team, pk):
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
        "remove": lambda: service.remove(team, pk),
        "owner": lambda: service.set_role(team, pk, OWNER),
        "member": lambda: service.set_role(team, pk, Membership.Role.MEMBER),
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
    return redirect("leaderboard:teams" if itself else team_url(slug))


def team_url(slug: str) -> str:
    return reverse("leaderboard:team", args=[slug])


@never_cache
@login_required
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Join a team; only a confirmation uses the invitation up, not a look."""
    try:
        offered = service.usable(token)
        if request.method == "POST":
            joined = service.accept(token, cast("Account", request.user))
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
