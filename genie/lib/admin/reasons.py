from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import DELETION, LogEntry
from django.db import transaction
from django.db.models import Model, ProtectedError, RestrictedError
from django.http import HttpRequest

from genie.lib.admin.lists import ListAdmin
from genie.lib.admin.questions import after_asking

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from genie.lib.typing import Account

WHY = "why"


class WhyForm(forms.ModelForm):  # type: ignore[type-arg]
    why = forms.CharField(
        label="Reason for this change",
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 60}),
        help_text="Recorded in the history with your name.",
    )


class AsksWhy(ListAdmin):
    """Rows that staff may edit, always with a reason.

    Rows are deleted only by an action that asks for a reason, and not if others refer
    to them.
    """

    actions: Any = ["delete_with_reason"]

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        if obj is not None and self.has_change_permission(request, obj):
            base = kwargs.get("form", self.form)
            bases = (WhyForm,) if base is forms.ModelForm else (WhyForm, base)
            kwargs["form"] = type("WhyForm", bases, {})
        return super().get_form(request, obj, change=change, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        fieldsets = list(super().get_fieldsets(request, obj))
        if obj is None or not self.has_change_permission(request, obj):
            return fieldsets
        shown = [
            (title, {**options, "fields": [f for f in options["fields"] if f != WHY]})
            for title, options in fieldsets
        ]
        return [*shown, (None, {"fields": [WHY]})]

    def construct_change_message(
        self, request: HttpRequest, form: Any, formsets: Any, add: bool = False
    ) -> Any:
        # It is no field of the row, and Django would list it among the changes.
        why = form.cleaned_data.pop(WHY, "")
        if WHY in form.changed_data:
            form.changed_data.remove(WHY)
        changed = super().construct_change_message(request, form, formsets, add)
        entry = LogEntry(change_message=json.dumps(changed))
        changes: str = entry.get_change_message()
        return f"{changes} Reason: {why}" if why else changes

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def may_delete(self, row: Model) -> bool:
        return True

    def has_remove_permission(self, request: HttpRequest) -> bool:
        options = self.opts
        name = f"{options.app_label}.delete_{options.model_name}"
        return bool(request.user.has_perm(name))

    @admin.action(description="Delete the selected …", permissions=["remove"])
    @after_asking("Delete", "This cannot be undone.", "Delete all of them")
    def delete_with_reason(
        self, request: HttpRequest, queryset: QuerySet[Any], reason: str
    ) -> None:
        n_gone, refused = 0, []
        for row in queryset:
            if self.may_delete(row) and self._gone(request, row, reason):
                n_gone += 1
            else:
                refused.append(str(row))
        if n_gone:
            self.message_user(request, f"Deleted: {n_gone}.", messages.SUCCESS)
        if refused:
            sentence = (
                f"Not deleted, because other records depend on them: {_few(refused)}."
            )
            self.message_user(request, sentence, messages.ERROR)

    def _gone(self, request: HttpRequest, row: Model, reason: str) -> bool:
        try:
            with transaction.atomic():
                message = f"Deleted. Reason: {reason}"
                LogEntry.objects.log_actions(
                    cast("Account", request.user).pk,
                    [row],
                    DELETION,
                    message,
                    single_object=True,
                )
                row.delete()
        except (ProtectedError, RestrictedError):
            return False
        return True


def _few(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - 10:,} more" if len(listed) > 10 else ""
    return ", ".join(listed[:10]) + more
