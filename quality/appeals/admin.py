"""Staff pages for appeals: the worker's words, the evidence, and one answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone
from django.utils.html import format_html

from crowd.campaigns.selectors.rejection_reversal import taking_back
from crowd.hits.models import Assignment, Item, Rating
from crowd.requester.batches.results import answers_of
from crowd.scales.base import all_scales
from crowd.templatetags.crowd_money import dollars
from genie.accounts.task_admin import BY_TASK, OfTask
from genie.lib.admin import ReadOnlyAdmin
from genie.lib.errors import GenieError
from quality.appeals import services as service
from quality.appeals.models import Appeal
from quality.detection.admin import records
from quality.test_questions.models import TestQuestion
from quality.test_questions.selectors import (
    MOST,
    given_answers,
    graded_answers,
    right_answer,
    shown_fields,
)

if TYPE_CHECKING:
    from django.urls import URLPattern
    from django.utils.safestring import SafeString

    from genie.lib.typing import Account


def marked_items(assignment: Assignment) -> list[dict[str, object]]:
    """Return work item by item, for staff: the texts, edits, answers and keys."""
    items = list(assignment.hit.items.all())
    test_questions = {
        row.item_id: row for row in TestQuestion.objects.filter(item__in=items)
    }
    answers: dict[int, list[Rating]] = {}
    for answer in assignment.ratings.order_by("pk"):
        answers.setdefault(answer.item_id, []).append(answer)
    return [
        _mark_item(
            assignment, item, answers.get(item.pk, []), test_questions.get(item.pk)
        )
        for item in items
    ]


def _mark_item(
    assignment: Assignment,
    item: Item,
    answers: list[Rating],
    test_question: TestQuestion | None,
) -> dict[str, object]:
    scale = all_scales()[assignment.hit.campaign.hit_type.scale]
    keys = key_of(test_question) if test_question else {}
    lines = []
    for answer in answers:
        [said] = given_answers([answer], scale)
        name, _, value = said.partition(": ")
        lines.append((name, value, keys.get(answer.criterion, "")))
    return {
        "shown": shown_fields(item.data),
        "is_test": test_question is not None,
        "edit": edit_of(test_question) if test_question else "",
        "lines": lines,
    }


def key_of(test_question: TestQuestion) -> dict[str, str]:
    """Return the right answer for each criterion that the question is marked on."""
    hit_type, expected = test_question.campaign.hit_type, test_question.expected
    marked = list(expected.get("criteria") or hit_type.criteria)
    keys = {}
    for criterion in marked:
        alone = {**expected, "criteria": [criterion]}
        right = right_answer(test_question.polarity, alone, hit_type)
        keys[criterion] = right.removeprefix(f"{criterion}: ")
    return keys


def edit_of(test_question: TestQuestion) -> str:
    """Return the change to the text; empty if the question's maker stored none."""
    record = getattr(test_question, "made_from", None) or {}
    edit = record.get("edit") if isinstance(record, dict) else None
    return str(edit.get("sentence", "")) if isinstance(edit, dict) else ""


ANSWERS = {
    "grant": service.grant,
    "bonus": service.grant_by_bonus,
    "uphold": service.uphold,
}


class AnswerForm(forms.Form):
    sentence = forms.CharField(
        max_length=1000,
        label="Message to the worker",
        widget=forms.Textarea(attrs={"rows": 4, "cols": 80}),
        help_text="Shown to the worker.",
    )


@admin.register(Appeal)
class AppealAdmin(OfTask, ReadOnlyAdmin):
    shows_outputs = True
    needs = {"answer": "quality.change_appeal"}
    list_display = ["open_it", "worker", "pool", "against", "state", "created_at"]
    list_display_links = None
    list_filter = ["state", BY_TASK]
    list_select_related = ["worker", "pool", "requester_assignment__hit__requester"]
    search_fields = ["worker__pseudonym", "words"]
    # Open appeals come first, the oldest on top.
    ordering = [F("answered_at").asc(nulls_first=True), "pk"]

    @admin.display(description="appeal")
    def open_it(self, appeal: Appeal) -> SafeString:
        return format_html(
            '<a href="{}">{}</a>',
            reverse("admin:quality_appeal_answer", args=[appeal.pk]),
            appeal.words[:80],
        )

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        answer_address = path(
            "<int:pk>/answer/", view(self.answer_page), name="quality_appeal_answer"
        )
        return [answer_address, *super().get_urls()]

    def answer_page(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show an appeal with its evidence; accept one answer."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        appeals = self.get_queryset(request).select_related(
            "worker",
            "requester_assignment__hit__hit_type__requester",
            "assignment__hit__campaign__hit_type",
            "ban__created_by",
            "answered_by",
        )
        appeal = get_object_or_404(appeals, pk=pk)
        may_answer = self.may(request, "answer", appeal)
        self.note_read(request, appeal)
        form = AnswerForm(request.POST or None)
        if request.method == "POST":
            if not may_answer:
                raise PermissionDenied
            if form.is_valid():
                return self._answer(request, appeal, form.cleaned_data["sentence"])
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": str(appeal),
            "appeal": appeal,
            "form": form,
            "may_answer": may_answer,
            **_evidence(appeal),
        }
        status = 422 if form.errors else None
        return TemplateResponse(
            request, "admin/quality/appeal/answer.html", context, status=status
        )

    def _answer(
        self, request: HttpRequest, appeal: Appeal, sentence: str
    ) -> HttpResponse:
        # A form that names no button changes no decision.
        chosen = next((name for name in ANSWERS if name in request.POST), "uphold")
        answer = ANSWERS[chosen]
        try:
            first = answer(
                appeal.pk, by=cast("Account", request.user), sentence=sentence
            )
        except GenieError as error:
            self.message_user(request, error.message, messages.ERROR)
            return redirect("admin:quality_appeal_answer", appeal.pk)
        if first:
            self.message_user(request, f"Answered: {appeal}.", messages.SUCCESS)
        else:
            sentence = "This appeal has already been answered; nothing was changed."
            self.message_user(request, sentence, messages.WARNING)
        return redirect("admin:quality_appeal_changelist")


def _evidence(appeal: Appeal) -> dict[str, Any]:
    assignment = appeal.assignment
    for_requester = appeal.requester_assignment
    return {
        "fields": answers_of(for_requester.answer) if for_requester else {},
        "way": taking_back(assignment, timezone.now()) if assignment else None,
        "reward": dollars(assignment.reward_cents) if assignment else "",
        "items": marked_items(assignment) if assignment else [],
        "records": records([(appeal.worker_id, appeal.pool_id or "")]),
        "answers": graded_answers(appeal.worker, [appeal.pool_id or ""]),
        "n_answers": MOST,
    }
