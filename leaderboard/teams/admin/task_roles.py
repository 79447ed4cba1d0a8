"""Roles of staff on one task, given and removed with a reason."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from genie.accounts.models import TaskRole
from genie.lib.admin.reasons import AsksWhy
from genie.lib.typing import Account
from leaderboard.tasks.models import Task


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
                "This account has no staff status; without it no role has any effect."
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
