from typing import Any, cast

from allauth.account import views as allauth_views
from allauth.account.models import EmailAddress
from allauth.mfa.utils import is_mfa_enabled
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import auth, messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from genie.accounts import first_staff, tokens
from genie.accounts.addresses import addresses_of
from genie.accounts.forms import TokenForm
from genie.accounts.models import AccessToken
from genie.accounts.throttles import LOCKED_SECONDS, too_many
from genie.lib.errors import GenieError
from genie.lib.serving.pages import post_or
from genie.lib.typing import Account

# The secret stays in the session until the next page has shown it, once.
_NEW = "new-token"


class LoginView(allauth_views.LoginView):  # type: ignore[misc]
    extra_context = {"here": "login"}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return {**context, "open_for_signup": settings.GENIE["SIGN_UP"]}

    def form_invalid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_invalid(form)
        if form.has_error(NON_FIELD_ERRORS, "too_many_login_attempts"):
            return too_many(response, LOCKED_SECONDS)
        return response


@never_cache
def set_up(request: HttpRequest, token: str) -> HttpResponse:
    if not first_staff.is_good(token):
        raise Http404
    if not first_staff.is_wanted():
        return redirect("login")
    form = first_staff.FirstStaffForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            user = first_staff.make(form)
        except first_staff.TooLate:
            return redirect("login")
        auth.login(request, user, backend=settings.AUTHENTICATION_BACKENDS[0])
        return redirect("leaderboard:home")
    context = {"here": "login", "form": form}
    status = 400 if form.errors else None
    return render(request, "account/set_up.html", context, status=status)


@require_safe
@login_required
def home(request: HttpRequest) -> HttpResponse:
    user = cast("Account", request.user)
    context = {
        "here": "account",
        "address": addresses_of([user]).get(user.pk),
        "addresses": EmailAddress.objects.filter(user=user).order_by("-primary", "pk"),
        "second_factor": is_mfa_enabled(user),
        "n_sessions": UserSession.objects.filter(user=user).count(),
        "connected": SocialAccount.objects.filter(user=user).order_by("pk"),
        "n_tokens": tokens.valid_tokens(user).count(),
    }
    return render(request, "account/home.html", context)


@post_or("usersessions_list")
@login_required
def end_session(request: HttpRequest, pk: int) -> HttpResponse:
    get_object_or_404(UserSession, pk=pk, user_id=request.user.pk).end()
    messages.success(request, gettext("Signed out on that device."))
    return redirect("usersessions_list")


@never_cache
@login_required
def my_tokens(request: HttpRequest) -> HttpResponse:
    user = cast("Account", request.user)
    form = TokenForm(request.POST or None, user=user)
    if request.method == "POST" and form.is_valid():
        return _show_token(request, user, form)
    return _page(request, user, form, 400 if form.errors else None)


def _show_token(request: HttpRequest, user: Account, form: TokenForm) -> HttpResponse:
    try:
        token, secret = tokens.issue(user, **form.cleaned_data)
    except GenieError as error:
        form.add_error(None, error.message)
        return _page(request, user, form, 400)
    request.session[_NEW] = {"pk": token.pk, "secret": secret}
    return redirect("accounts:tokens")


def _page(
    request: HttpRequest, user: Account, form: TokenForm, status: int | None
) -> HttpResponse:
    context = {
        "here": "account",
        "form": form,
        "tokens": AccessToken.objects.filter(user=user, revoked_at=None),
        "new": request.session.pop(_NEW, None),
    }
    return render(request, "account/tokens.html", context, status=status)


@post_or("accounts:tokens")
@login_required
def revoke(request: HttpRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(AccessToken, pk=pk, user_id=request.user.pk)
    tokens.revoke(token)
    messages.success(
        request,
        gettext("%(name)s has been revoked and no longer works.")
        % {"name": token.name},
    )
    return redirect("accounts:tokens")
