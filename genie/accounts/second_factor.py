from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from allauth.account.authentication import get_authentication_records
from allauth.account.internal.flows.login import record_authentication
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import PermissionsMixin
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext

from genie.accounts.models import TaskRole
from genie.accounts.sign_in import ALL_STAFF, SUPERUSERS

SENTENCE = (
    "Your role on this site requires a second factor: set one up under My account, "
    "Two-factor sign-in, and try again."
)
# The pages for setting up a second factor, or signing out. The API checks by itself and
# answers in JSON, and other machines sign their requests.
_OPEN = (
    "account_",
    "mfa_",
    "login",
    "logout",
    "accounts:home",
    "api:",
    "turk:",
    "hooks:",
)
_TAKING_AWAY = {"mfa_deactivate_totp", "mfa_remove_webauthn"}
# Changing factors requires having used one: a password alone, in a session from before
# the first one was set up, must not add another or read new recovery codes.
_USING = ("mfa_reauthenticate", "mfa_authenticate", "mfa_login_")
_Type = Authenticator.Type


def is_needed(user: object) -> bool:
    """Check whether a role of the account requires a second factor.

    Without staff status no role has effect, so none requires one.
    """
    named = set(settings.GENIE["SECOND_FACTOR"])
    if not named or not isinstance(user, PermissionsMixin):
        return False
    is_staff = bool(getattr(user, "is_staff", False))
    if not (is_staff or user.is_superuser):
        return False
    if ALL_STAFF in named or (user.is_superuser and SUPERUSERS in named):
        return True
    on_tasks = TaskRole.objects.filter(user=user.pk, role__name__in=named)
    return user.groups.filter(name__in=named).exists() or on_tasks.exists()


def is_missing(request: HttpRequest) -> bool:
    records = get_authentication_records(request, request.user)
    used = any(record.get("method") == "mfa" for record in records)
    return not used and is_needed(request.user)


def has_none(user: object) -> bool:
    return is_needed(user) and not _types(user)


class SecondFactorMiddleware:
    """Shows users with such a role only these pages until a second factor is used."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: Any, kwargs: Any
    ) -> HttpResponse | None:
        # Pages that do not ask who is signed in stay the same for everyone.
        has_session = settings.SESSION_COOKIE_NAME in request.COOKIES
        if not settings.GENIE["SECOND_FACTOR"] or not has_session:
            return None
        match = request.resolver_match
        name = match.view_name if match is not None else ""
        if _is_closed(name, request.user) and is_missing(request):
            return redirect(_way(request))
        return _refuse_removal(request) if name in _TAKING_AWAY else None


def _is_closed(name: str, user: Any) -> bool:
    if name.startswith("mfa_") and not name.startswith(_USING):
        return bool(_types(user))
    return not name.startswith(_OPEN)


def _way(request: HttpRequest) -> str:
    types = _types(request.user)
    if not types:
        return f"{reverse('mfa_index')}?required=yes"
    page = (
        "mfa_reauthenticate" if _Type.TOTP in types else "mfa_reauthenticate_webauthn"
    )
    back = {"next": request.get_full_path()} if request.method == "GET" else {}
    return f"{reverse(page)}?{urlencode(back)}"


def _refuse_removal(request: HttpRequest) -> HttpResponse | None:
    if request.method != "POST" or not is_needed(request.user):
        return None
    if len(_types(request.user)) > 1:
        return None
    messages.error(
        request,
        gettext(
            "Your role requires a second factor: add another one before you remove this one."
        ),
    )
    return redirect("mfa_index")


def _types(user: Any) -> list[str]:
    rows = Authenticator.objects.filter(user=user.pk)
    return list(rows.exclude(type=_Type.RECOVERY_CODES).values_list("type", flat=True))


@receiver(authenticator_added)
def _note_that_it_was_used(
    request: HttpRequest, user: Any, authenticator: Authenticator, **_others: Any
) -> None:
    if authenticator.type != _Type.RECOVERY_CODES:
        record_authentication(request, user, "mfa", type=authenticator.type)
