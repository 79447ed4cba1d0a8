"""Staff see whose programs have access, and take it back; nobody sees a token."""

from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from genie.accounts import tokens
from genie.accounts.models import AccessToken
from genie.lib.read_only_admin import ReadOnlyAdmin


@admin.register(AccessToken)
class AccessTokenAdmin(ReadOnlyAdmin):
    list_display = ["name", "user", "may", "created_at", "last_used_at", "expires_at", "revoked_at"]  # fmt: skip
    list_filter = [("revoked_at", admin.EmptyFieldListFilter)]
    list_select_related = ["user"]
    search_fields = ["name", "user__username", "ending"]
    exclude = ["token_sha256"]
    actions = ["revoke_selected"]

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("genie.change_accesstoken")

    @admin.display(description="may")
    def may(self, token: AccessToken) -> str:
        return ", ".join(token.scopes)

    @admin.action(description="Revoke the selected …", permissions=["revoke"])
    def revoke_selected(
        self, request: HttpRequest, queryset: QuerySet[AccessToken]
    ) -> None:
        found = list(queryset)
        n = sum(tokens.revoke(token) for token in found)
        for token in found:
            self.log_change(request, token, "Revoked.")
        self.message_user(request, f"Revoked {n}.", messages.SUCCESS)
