"""Admin pages for retired test questions, which staff can restore."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse

from genie.accounts.task_admin import OfTask
from genie.lib.admin.questions import (
    Line,
    Question,
    ReasonForm,
    act_on_each,
    confirmed_form,
)
from genie.lib.admin.read_only import ReadOnlyAdmin
from quality.detection.models import RetiredQuestion
from quality.detection.services.retire import restore
from quality.test_questions.selectors import shown_fields

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from genie.lib.typing import Account

RESTORE = Question(
    title="Restore test questions",
    sentence=(
        "The answers to these test questions count again, and they will not be retired "
        "a second time."
    ),
    button="Restore",
    action="restore_selected",
    form=ReasonForm,
)


@admin.register(RetiredQuestion)
class RetiredQuestionAdmin(OfTask, ReadOnlyAdmin):
    pool_paths = ("fit__pool",)
    shows_outputs = True
    needs = {"restore": "quality.change_retiredquestion"}
    list_display = [
        "__str__",
        "pool",
        "polarity",
        "shown",
        "reason",
        "retired_at",
        "restored_at",
    ]
    list_filter = ["placement__polarity", "fit__pool"]
    list_select_related = ["placement__item", "fit"]
    actions = ["restore_selected"]

    @admin.display(description="task", ordering="fit__pool")
    def pool(self, question: RetiredQuestion) -> str:
        return question.fit.pool

    @admin.display(description="polarity", ordering="placement__polarity")
    def polarity(self, question: RetiredQuestion) -> str:
        return question.placement.polarity.lower()

    @admin.display(description="what it shows")
    def shown(self, question: RetiredQuestion) -> str:
        fields = shown_fields(question.placement.item.data)
        return " / ".join(f"{label}: {text}" for label, text in fields)

    def has_restore_permission(self, request: HttpRequest) -> bool:
        return self.may(request, "restore")

    @admin.action(
        description="Restore the selected test questions, with a reason",
        permissions=["restore"],
    )
    def restore_selected(
        self, request: HttpRequest, queryset: QuerySet[RetiredQuestion]
    ) -> HttpResponse | None:
        retired = list(queryset.filter(restored_at=None).select_related("placement"))
        if not retired:
            self.message_user(
                request, "All of these have already been restored.", messages.WARNING
            )
            return None
        lines = [Line(row.pk, str(row), row.reason) for row in retired]
        answer = confirmed_form(self, request, RESTORE, lines)
        if isinstance(answer, HttpResponse):
            return answer
        reason = answer.cleaned_data["reason"]
        by = cast("Account", request.user)

        def act(question: RetiredQuestion) -> tuple[RetiredQuestion, str]:
            return restore(question.pk, by=by, reason=reason), f"Restored: {reason}"

        n = act_on_each(self, request, retired, act)
        self.message_user(request, f"Restored: {n}.", messages.SUCCESS)
        return None
