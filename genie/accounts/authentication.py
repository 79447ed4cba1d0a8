from typing import Any

from drf_spectacular.authentication import SessionScheme
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import (
    BaseAuthentication,
    SessionAuthentication,
    get_authorization_header,
)
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied, Throttled
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from genie.accounts import second_factor, tokens
from genie.accounts.models import AccessToken
from genie.accounts.staff import staff_may, staff_may_somewhere
from genie.accounts.throttles import WrongTokens

KEYWORDS = frozenset({b"token", b"bearer"})
_LONGEST = 200


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[Any, AccessToken] | None:
        words = get_authorization_header(request).split()
        # Not our token: another kind of authentication may know the caller.
        if not words or words[0].lower() not in KEYWORDS:
            return None
        if len(words) != 2 or len(words[1]) > _LONGEST:
            raise AuthenticationFailed(
                "Send exactly one token: Authorization: Bearer TOKEN."
            )
        try:
            token = _usable(words[1].decode("latin-1"))
        except AuthenticationFailed:
            _count(request)
            raise
        tokens.note_use(token)
        return _limit_account(token), token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class SignedIn(SessionAuthentication):
    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        found = super().authenticate(request)
        if found is not None and second_factor.is_missing(request._request):
            raise _without_second_factor()
        return found


def _count(request: Request) -> None:
    """Count a bad token; raise the throttle's error if there were too many."""
    limit = WrongTokens()
    if not limit.one_more(request):
        raise Throttled(limit.wait())


def _without_second_factor() -> PermissionDenied:
    return PermissionDenied(second_factor.SENTENCE, "second-factor-required")


def _usable(secret: str) -> AccessToken:
    token = tokens.find(secret)
    if token is None or not token.user.is_active:
        raise AuthenticationFailed("This token is not valid.")
    if token.revoked_at is not None:
        raise AuthenticationFailed("This token has been revoked.")
    if token.is_expired:
        raise AuthenticationFailed("This token has expired; create a new one.")
    return token


def _limit_account(token: AccessToken) -> Any:
    """Return the account as limited by its token: without the scope, no staff rights.

    The object must not be saved, or the account would lose its rights permanently.
    """
    user = token.user
    if AccessToken.Scope.STAFF not in token.scopes:
        user.is_staff = user.is_superuser = False
        user.save = _refuse_to_save  # type: ignore[method-assign]
    elif second_factor.has_none(user):
        raise _without_second_factor()
    return user


def _refuse_to_save(*args: object, **kwargs: object) -> None:
    raise RuntimeError(
        "This account was loaded through a token. Load it again to save it."
    )


class SignedInScheme(SessionScheme):  # type: ignore[no-untyped-call]
    target_class: Any = SignedIn


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


Scope = AccessToken.Scope


def has_scope(request: Request, scope: str) -> bool:
    """Check whether the request may use a scope; a session may use all of them."""
    token = request.auth
    return not isinstance(token, AccessToken) or scope in token.scopes


class ScopeFits(BasePermission):
    """Reading requires the scope read, all else submit; a view may name its own."""

    message = ""

    def has_permission(self, request: Request, view: Any) -> bool:
        usual = Scope.READ if request.method in SAFE_METHODS else Scope.SUBMIT
        scope = getattr(view, "scope", None) or usual
        self.message = (
            f"This requires a token with the scope {scope}; create one on "
            "/account/tokens/."
        )
        return has_scope(request, scope)


class IsStaff(BasePermission):
    """For staff with the view's permission; a token needs the scope staff.

    A role on one task is enough for views with `of_tasks`, which filter the rows.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        needed: str = view.staff_permission
        self.message = (
            f"This requires the staff permission {needed}; a token also needs "
            "the scope staff."
        )
        may = staff_may_somewhere if getattr(view, "of_tasks", False) else staff_may
        return has_scope(request, Scope.STAFF) and may(request.user, needed)
