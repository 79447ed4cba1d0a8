"""Who may do what through the API: by token's scope, whatever the view."""

from __future__ import annotations

from typing import Any

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from genie.accounts.models import AccessToken

Scope = AccessToken.Scope


def has_scope(request: Request, scope: str) -> bool:
    """Tell whether the request may use a scope; a session may use all of them."""
    token = request.auth
    return not isinstance(token, AccessToken) or scope in token.scopes


class ScopeFits(BasePermission):
    """Reading takes the scope read, all else submit; a view may name its own."""

    message = ""

    def has_permission(self, request: Request, view: Any) -> bool:
        usual = Scope.READ if request.method in SAFE_METHODS else Scope.SUBMIT
        scope = getattr(view, "scope", None) or usual
        self.message = (
            f"This takes a token with the scope {scope}; make one on /account/tokens/."
        )
        return has_scope(request, scope)


class IsStaff(BasePermission):
    """For staff in a session, or with a token of the scope staff."""

    message = "This is for staff; a token needs the scope staff."

    def has_permission(self, request: Request, view: Any) -> bool:
        user = request.user
        return bool(
            user.is_authenticated
            and (user.is_staff or user.is_superuser)
            and has_scope(request, Scope.STAFF)
        )
