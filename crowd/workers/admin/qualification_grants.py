from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.widgets import AutocompleteSelect
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from crowd.workers.admin.groups import WhichForm
from crowd.workers.models.qualification_attempt import (
    AttemptAnswer,
    QualificationGrant,
    TestAttempt,
)
from crowd.workers.models.worker import Worker
from crowd.workers.services import test_attempts
from genie.accounts.task_admin import OfTask
from genie.lib.admin import ReadOnlyAdmin, ReadOnlyInline, adding, filled_in, person
from genie.lib.errors import GenieError
from genie.lib.staff_actions import Action


class AnswerInline(ReadOnlyInline):
    model = AttemptAnswer
    fields = readonly_fields = ("position", "question", "given", "right", "answered_at")


@admin.register(TestAttempt)
class TestAttemptAdmin(OfTask, ReadOnlyAdmin):
    pool_paths = ("test__pool",)
    list_display = ["worker", "test", "number", "n_right", "passed", "started_at", "finished_at", "next_try_at"]  # fmt: skip
    list_filter = ["passed", "test__name"]
    list_select_related = ["worker", "test"]
    search_fields = ["worker__pseudonym"]
    ordering = ["-pk"]
    inlines = [AnswerInline]


class GrantForm(WhichForm):
    worker = forms.ModelChoiceField(
        Worker.objects.all(),
        widget=AutocompleteSelect(
            QualificationGrant._meta.get_field("worker"), admin.site
        ),
        help_text="Search by pseudonym, account, or platform id.",
    )
    field_order = ("worker", "name", "new_group", "days")


@admin.register(QualificationGrant)
class QualificationGrantAdmin(ReadOnlyAdmin):
    list_display = ["worker", "name", "version", "who", "granted_at", "expires_at", "ended_at", "revoked_reason"]  # fmt: skip
    list_filter = ["name", ("ended_at", admin.EmptyFieldListFilter)]
    list_select_related = ["worker", "granted_by"]
    search_fields = ["worker__pseudonym", "name"]
    actions = [
        Action(
            "revoke_selected",
            "Revoke the selected qualifications …",
            title="Revoke qualifications",
            sentence=(
                "These workers get no more work that requires the qualification and "
                "cannot take the test again, unless you grant it by hand. They read "
                "the reason."
            ),
            button="Revoke",
            allowed=Q(ended_at=None),
            otherwise="None of them is in force.",
            service=lambda grant, by, reason: test_attempts.revoke(
                grant.pk, by=by, reason=reason
            ),
            done="Revoked: {n}.",
        )
    ]

    @admin.display(description="granted by", empty_value="the test")
    def who(self, grant: QualificationGrant) -> str | None:
        return grant.granted_by.get_username() if grant.granted_by else None

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("crowd.add_qualificationgrant")

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        form, right = filled_in(self, request, GrantForm)
        if right:
            return self._grant(request, **form.cleaned_data)
        title = "Grant a qualification"
        return adding(self, request, form, title=title, button="Grant")

    def _grant(
        self, request: HttpRequest, worker: Worker, name: str, days: int | None
    ) -> HttpResponse:
        until = timezone.now() + timedelta(days=days) if days else None
        try:
            test_attempts.grant_by_hand(
                worker, name, by=person(request), expires_at=until
            )
        except GenieError as error:
            self.message_user(request, error.message, messages.ERROR)
        else:
            self.message_user(request, f"Granted: {worker} · {name}.", messages.SUCCESS)
        return redirect("admin:crowd_qualificationgrant_changelist")
