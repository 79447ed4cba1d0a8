from typing import Any

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from genie.accounts.models import AccessToken
from genie.accounts.staff import staff_may, staff_may_somewhere

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
