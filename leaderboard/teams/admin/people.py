"""Accounts and groups: each change has a reason."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth import get_user_model
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from genie.lib.admin.questions import act_on_each, after_asking
from genie.lib.admin.reasons import AsksWhy
from leaderboard.teams.services import leave

User = get_user_model()
admin.site.unregister([User, Group])


@admin.register(User)
class UserAdmin(AsksWhy, DjangoUserAdmin):  # type: ignore[type-arg]
    list_display = ["username", "email", "is_active", "is_staff", "is_superuser", "date_joined", "last_login"]  # fmt: skip
    actions: Any = ["close_selected"]

    def has_close_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("auth.delete_user")

    @admin.action(description="Delete the selected accounts …", permissions=["close"])
    @after_asking(
        "Delete accounts",
        "Names, addresses, passwords and tokens are deleted for good; "
        "submissions and decisions stay, without a name.",
        "Delete them",
    )
    def close_selected(
        self, request: HttpRequest, queryset: QuerySet[Any], reason: str
    ) -> None:
        rows = list(queryset.order_by("pk"))

        def act(row: Any) -> tuple[Model, str]:
            leave.delete(row.pk)
            # the row stays, without a name: submissions and decisions refer to it
            return User.objects.get(pk=row.pk), f"Account deleted. Reason: {reason}"

        n = act_on_each(self, request, rows, act)
        level = messages.SUCCESS if n else messages.WARNING
        self.message_user(request, f"Deleted: {n} of {len(rows)}.", level)


@admin.register(Group)
class GroupAdmin(AsksWhy, DjangoGroupAdmin):
    pass
