"""Devices of accounts: listed, signed out, and distinguished from strangers' devices.

A device on which an account has signed in keeps a signed cookie. Wrong passwords from
it are counted separately, so that strangers who guess passwords do not lock the owner
out: OWASP's device cookies,
https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies
"""

import hashlib
import re
import secrets
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext

from genie.lib.database import best_effort

COOKIE = "genie_device"
_SALT = "genie.accounts.device"
_KEPT_FOR = timedelta(days=365)
# so many people may share a device
_MOST_ACCOUNTS = 5
# Recording every use would turn each page into a write.
_NOTE_USE_EVERY = timedelta(minutes=10)
_BROWSERS = {"Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "Chrome": "Chrome", "Safari": "Safari"}  # fmt: skip
_SYSTEMS = {"Android": "Android", "iPhone": "iPhone", "iPad": "iPad", "Windows": "Windows", "Mac OS": "macOS", "CrOS": "ChromeOS", "Linux": "Linux"}  # fmt: skip


def counted_apart(request: HttpRequest, login: str) -> str | None:
    nonce, accounts = _known_devices(request)
    named = Q(username__iexact=login) | Q(emailaddress__email__iexact=login)
    users = get_user_model().objects.filter(named, pk__in=accounts)
    user = users.first() if accounts and login else None
    return None if user is None else f"device:{nonce}:{user.pk}"


def remember(request: HttpRequest, response: HttpResponse, user: Any) -> None:
    nonce, accounts = _known_devices(request)
    newest = [user.pk, *(pk for pk in accounts if pk != user.pk)][:_MOST_ACCOUNTS]
    response.set_signed_cookie(
        COOKIE,
        f"{nonce or secrets.token_urlsafe(16)}.{'.'.join(map(str, newest))}",
        salt=_SALT,
        max_age=_KEPT_FOR,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _known_devices(request: HttpRequest) -> tuple[str, list[int]]:
    kept = request.get_signed_cookie(COOKIE, "", salt=_SALT, max_age=_KEPT_FOR)
    nonce, _, accounts = str(kept).partition(".")
    return nonce, [int(pk) for pk in accounts.split(".") if pk]


class SessionsMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        session = request.session
        # Pages that did not ask who is signed in stay the same for everyone.
        key = session.session_key if session.accessed else None
        if settings.USERSESSIONS_TRACK_ACTIVITY and key and _is_due(key):
            best_effort(lambda: _note_use(request))  # the page itself is fine
        return response


def _note_use(request: HttpRequest) -> None:
    if not request.user.is_authenticated:
        return
    row = UserSession.objects.filter(
        session_key=request.session.session_key, user=request.user.pk
    )
    longest = UserSession._meta.get_field("user_agent").max_length
    # in one statement, unlike `create_from_request`
    if not row.update(
        ip=get_adapter().get_client_ip(request),
        user_agent=request.headers.get("User-Agent", "")[:longest],
        last_seen_at=timezone.now(),
    ):
        UserSession.objects.create_from_request(request)


def _is_due(session_key: str) -> bool:
    digest = hashlib.sha256(session_key.encode()).hexdigest()
    return cache.add(f"seen-{digest}", 1, _NOTE_USE_EVERY.total_seconds())


def forget_ended() -> int:
    Session.objects.filter(expire_date__lt=timezone.now()).delete()
    living = Session.objects.values("session_key")
    return int(UserSession.objects.exclude(session_key__in=living).delete()[0])


def current_first(sessions: Iterable[UserSession]) -> list[UserSession]:
    newest = sorted(sessions, key=lambda one: one.last_seen_at, reverse=True)
    return sorted(newest, key=lambda one: not one.is_current())


def describe_browser(user_agent: str) -> str:
    """Return the common names of browser and system."""
    browser = next((name for sign, name in _BROWSERS.items() if sign in user_agent), "")
    system = next((name for sign, name in _SYSTEMS.items() if sign in user_agent), "")
    if not browser and not system:
        program = re.match(r"[\w.-]{1,40}", user_agent)
        return program[0] if program else gettext("Unknown device")
    browser = browser or gettext("A browser")
    said = {"browser": browser, "system": system}
    return gettext("%(browser)s on %(system)s") % said if system else browser
