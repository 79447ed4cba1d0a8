from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path

from crowd.workers.models.worker import Worker
from genie.accounts.models import TaskRole
from genie.lib.admin import AsksWhy, ReadOnlyAdmin
from genie.lib.staff_actions import Action
from genie.lib.typing import Account
from leaderboard.submissions.models import Team
from leaderboard.tasks.models import Task
from leaderboard.teams.models import Membership, WebhookDelivery
from leaderboard.teams.selectors import as_file, history_of
from leaderboard.teams.services import leave
from leaderboard.teams.services.webhooks import RUNNER

# Accounts and groups: each change has a reason.
User = get_user_model()
admin.site.unregister([User, Group])


def _close(user: Any, by: object, reason: str) -> None:
    leave.delete(user.pk)
    # the row stays, without a name: submissions and decisions refer to it
    user.refresh_from_db()


# What those who manage workers see of them elsewhere; money is seen by others.
_SEEN = ("worker", "assignment", "message", "qualificationgrant", "testattempt")
_HISTORY = (
    *("platform", "pseudonym", "since", "consents", "assignments", "answers"),
    *("test_attempts", "qualifications", "messages"),
)


def _export(request: HttpRequest, pk: int) -> HttpResponse:
    if not request.user.has_perms([f"crowd.view_{name}" for name in _SEEN]):
        raise PermissionDenied
    worker = get_object_or_404(Worker, pk=pk)
    history = history_of(worker)
    return as_file({part: history[part] for part in _HISTORY}, f"{worker}.json")


@admin.register(User)
class UserAdmin(AsksWhy, DjangoUserAdmin):  # type: ignore[type-arg]
    list_display = ["username", "email", "is_active", "is_staff", "is_superuser", "date_joined", "last_login"]  # fmt: skip
    actions: Any = [
        Action(
            "close_selected",
            "Delete the selected accounts …",
            title="Delete accounts",
            sentence="Names, addresses, passwords and tokens are deleted permanently. "
            "Submissions and decisions are kept without a name.",
            button="Delete them",
            permission="delete",
            danger=True,
            service=_close,
            history="Account deleted. Reason: {reason}",
            done="Deleted: {n} of {n_all}.",
        )
    ]

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(_export)
        export = path("worker/<int:pk>/", view, name="leaderboard_worker_data")
        return [export, *super().get_urls()]


@admin.register(Group)
class GroupAdmin(AsksWhy, DjangoGroupAdmin):
    pass


# Roles of staff on one task, given and removed with a reason.
class TaskRoleForm(forms.ModelForm):  # type: ignore[type-arg]
    pool = forms.ChoiceField(label="Task")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        tasks = Task.objects.values_list("slug", "title")
        self.fields["pool"].choices = list(tasks)  # type: ignore[attr-defined]

    def clean_user(self) -> Account:
        user: Account = self.cleaned_data["user"]
        if not user.is_staff:
            raise forms.ValidationError(
                "This account has no staff status, so roles have no effect."
            )
        return user


@admin.register(TaskRole)
class TaskRoleAdmin(AsksWhy):
    """A role on a task gives the permissions of the role's group there."""

    form = TaskRoleForm
    list_display = ["user", "role", "pool", "created_at"]
    list_filter = ["role", "pool"]
    list_select_related = ["user", "role"]
    search_fields = ["user__username", "pool"]
    autocomplete_fields = ["user"]
    fields = ["user", "role", "pool"]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Return False: the history needs both a removal and a new role."""
        return False


# Teams: quotas count per team, and a private submission belongs to one.
class MembershipInline(admin.TabularInline):  # type: ignore[type-arg]
    model = Membership
    autocomplete_fields = ["user"]
    fields = ["user", "role", "joined_at"]
    readonly_fields = ["joined_at"]
    extra = 1


@admin.register(Team)
class TeamAdmin(AsksWhy):
    list_display = ["name", "slug", "n_members", "created_at"]
    search_fields = ["name", "slug", "members__username"]
    prepopulated_fields = {"slug": ["name"]}
    inlines = [MembershipInline]

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).annotate(n=Count("members"))

    @admin.display(description="members", ordering="n")
    def n_members(self, team: Any) -> int:
        return int(team.n)


# Deliveries to teams' webhooks, for questions about missing ones.
State = WebhookDelivery.State


def _send_again(delivery: WebhookDelivery, by: object, reason: str) -> bool:
    failed = WebhookDelivery.objects.filter(pk=delivery.pk, state=State.FAILED)
    return bool(RUNNER.retry(failed))


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(ReadOnlyAdmin):
    list_display = ["kind", "team", "webhook", "state", "n_attempts", "last_status", "failure", "created_at", "next_at"]  # fmt: skip
    list_filter = ["state", "kind", "created_at"]
    list_select_related = ["webhook__team"]
    search_fields = ["uuid", "webhook__url", "webhook__team__name"]
    actions = [
        Action(
            "send_again",
            "Send the selected failed deliveries again …",
            title="Send again",
            sentence="Failed deliveries are sent again with the same id.",
            button="Send them",
            service=_send_again,
            history="Sent again. Reason: {reason}",
            done="{n} will be sent again.",
        )
    ]

    @admin.display(description="team", ordering="webhook__team__name")
    def team(self, delivery: WebhookDelivery) -> str:
        return delivery.webhook.team.name
