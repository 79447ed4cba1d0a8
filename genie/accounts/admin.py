# these four register the lists that are replaced here
import allauth.account.admin
import allauth.mfa.admin
import allauth.socialaccount.admin
import allauth.usersessions.admin  # noqa: F401
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib import admin

from genie.accounts import tokens
from genie.accounts.models import AccessToken, PrivateRead
from genie.accounts.task_admin import OfTask
from genie.lib.admin import AsksWhy, NeverWritten, ReadOnlyAdmin
from genie.lib.staff_actions import Action


@admin.register(AccessToken)
class AccessTokenAdmin(ReadOnlyAdmin):
    list_display = ["name", "user", "allows", "created_at", "last_used_at", "expires_at", "revoked_at"]  # fmt: skip
    list_filter = [("revoked_at", admin.EmptyFieldListFilter)]
    list_select_related = ["user"]
    search_fields = ["name", "user__username", "ending"]
    exclude = ["token_sha256"]
    actions = [
        Action(
            "revoke_selected",
            "Revoke the selected …",
            title="Revoke tokens",
            sentence=(
                "Programs that use them will be refused from now on. This cannot be "
                "undone."
            ),
            button="Revoke them",
            service=lambda token, by, reason: tokens.revoke(token),
            history="Revoked. Reason: {reason}",
            done="Revoked {n}.",
        )
    ]

    @admin.display(description="may")
    def allows(self, token: AccessToken) -> str:
        return ", ".join(token.scopes)


# Providers are configured in the operator's settings, and their tokens are not stored.
# Only users may see the addresses they work from.
admin.site.unregister(
    [EmailAddress, Authenticator, SocialAccount, SocialApp, SocialToken, UserSession]
)


@admin.register(EmailAddress)
class EmailAddressAdmin(AsksWhy):
    list_display = ["email", "user", "primary", "verified"]
    list_filter = ["primary", "verified"]
    list_select_related = ["user"]
    search_fields = ["email", "user__username"]
    raw_id_fields = ["user"]


class FixedAdmin(NeverWritten, AsksWhy):
    """Rows that staff can only delete."""


@admin.register(Authenticator)
class AuthenticatorAdmin(FixedAdmin):
    list_display = ["user", "type", "created_at", "last_used_at"]
    list_filter = ["type"]
    list_select_related = ["user"]
    fields = ["user", "type", "created_at", "last_used_at"]  # not the shared secret
    search_fields = ["user__username"]


@admin.register(SocialAccount)
class SocialAccountAdmin(FixedAdmin):
    list_display = ["user", "provider", "uid", "last_login"]
    list_filter = ["provider"]
    list_select_related = ["user"]
    search_fields = ["user__username", "uid"]
    fields = ["user", "provider", "uid", "last_login", "date_joined"]


@admin.register(PrivateRead)
class PrivateReadAdmin(OfTask, ReadOnlyAdmin):
    pool_paths = ("pool",)
    list_display = ["at", "by", "way", "title", "pool", "address"]
    list_filter = ["way", "pool", "at"]
    list_select_related = ["by"]
    search_fields = ["by__username", "what", "title", "address"]
