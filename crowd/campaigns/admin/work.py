from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import model_ngettext
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join

from crowd.campaigns.selectors.rejection_reversal import taking_back
from crowd.campaigns.services import review
from crowd.campaigns.services.overturn import overturn, pay_instead
from crowd.hits.models import HIT, Answer, Assignment
from crowd.templatetags.crowd_money import dollars
from genie.accounts.task_admin import OfTask
from genie.lib.admin import (
    Line,
    Question,
    ReadOnlyAdmin,
    ReadOnlyInline,
    ReasonForm,
    SearchedApart,
    after_asking,
    confirmed_form,
    person,
)
from genie.lib.errors import GenieError

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.utils.safestring import SafeString

REJECT = Question(
    title="Reject assignments",
    sentence=(
        "Rejected assignments are not paid, and their HITs are reassigned while the "
        "campaign runs. Workers read the reason. A rejection can be reversed for a "
        "while, except on platforms that do not allow it, such as Prolific."
    ),
    button="Reject",
    action="reject_selected",
    form=ReasonForm,
)


class TakeBackForm(ReasonForm):
    words = forms.CharField(
        required=False,
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 80}),
        label="Message to the worker",
        help_text="Shown to the worker on the platform or with the bonus.",
    )
    bonus = forms.BooleanField(
        required=False,
        label="Where a rejection cannot be reversed, pay the reward as a bonus",
    )


TAKE_BACK = Question(
    title="Reverse rejections",
    sentence="The platform's rule is shown beside each assignment.",
    button="Reverse rejections",
    action="take_back_selected",
    form=TakeBackForm,
)
SORRY = "Your work was reviewed again: it was rejected by mistake."


@admin.register(HIT)
class HITAdmin(OfTask, SearchedApart, ReadOnlyAdmin):
    pool_paths = ("campaign__pool",)
    shows_outputs = True
    list_display = ["pk", "campaign", "position", "n_available", "max_assignments", "n"]
    list_filter = ["campaign__state", "campaign__pool"]
    list_select_related = ["campaign"]
    search_fields = ["pk", "items__key__exact"]
    fields = ["campaign", "position", "n_available", "max_assignments", "shown", "work"]
    readonly_fields = ["shown", "work"]

    def look_up(self, rows: list[HIT]) -> None:
        counted = HIT.objects.filter(pk__in=[row.pk for row in rows]).order_by()
        counts = dict(counted.values_list("pk").annotate(n=Count("assignments")))
        for row in rows:
            row.n_assignments = counts[row.pk]  # type: ignore[attr-defined]

    @admin.display(description="assignments")
    def n(self, hit: HIT) -> int:
        count: int = hit.n_assignments  # type: ignore[attr-defined]
        return count

    @admin.display(description="what workers see")
    def shown(self, hit: HIT) -> SafeString:
        return _texts(hit)

    @admin.display(description="assignments")
    def work(self, hit: HIT) -> SafeString:
        rows = hit.assignments.select_related("worker")
        address = reverse("admin:crowd_assignment_changelist")
        return format_html_join(
            "",
            '<p><a href="{}{}/change/">{} · {}</a></p>',
            ((address, row.pk, row.worker, row.get_state_display()) for row in rows),
        )


class AnswerInline(ReadOnlyInline):
    model = Answer
    fields = readonly_fields = ("criterion", "slot", "value", "raw", "detail")


@admin.register(Assignment)
class AssignmentAdmin(OfTask, SearchedApart, ReadOnlyAdmin):
    pool_paths = ("hit__campaign__pool",)
    shows_outputs = True
    act_permission = "crowd.change_assignment"
    list_display = [
        "pk",
        "worker",
        "campaign",
        "state",
        "reward",
        "submitted_at",
        "active_seconds",
        "remark",
    ]
    list_filter = [
        "state",
        ("remark", admin.EmptyFieldListFilter),
        "hit__campaign__pool",
        "accepted_at",
    ]
    list_select_related = ["worker", "hit__campaign"]
    search_fields = ["pk", "worker__pseudonym", "remark"]
    ordering = ["-pk"]
    readonly_fields = ["shown", "campaign", "reward"]
    inlines = [AnswerInline]
    actions = ["approve_selected", "reject_selected", "take_back_selected"]

    @admin.display(description="campaign", ordering="hit__campaign")
    def campaign(self, assignment: Assignment) -> str:
        return assignment.hit.campaign.title

    @admin.display(description="reward", ordering="reward_cents")
    def reward(self, assignment: Assignment) -> str:
        return dollars(assignment.reward_cents)

    @admin.display(description="what the worker saw")
    def shown(self, assignment: Assignment) -> SafeString:
        return _texts(assignment.hit)

    def line_of(self, row: Assignment) -> Line:
        return Line(row.pk, f"{row.worker} · HIT {row.hit_id}", self.reward(row))

    @admin.action(description="Approve the selected assignments …", permissions=["act"])
    @after_asking("Approve assignments", "Approved assignments are paid.", "Approve")
    def approve_selected(
        self, request: HttpRequest, queryset: QuerySet[Assignment], reason: str
    ) -> None:
        pks = queryset.values_list("pk", flat=True)
        n_approved = review.approve(pks, by=person(request), why=reason)
        self._say(request, "Approved", n_approved, queryset.count())

    @admin.action(description="Reject the selected assignments …", permissions=["act"])
    def reject_selected(
        self, request: HttpRequest, queryset: QuerySet[Assignment]
    ) -> HttpResponse | None:
        rows = list(
            queryset.filter(state=Assignment.State.SUBMITTED).select_related("worker")
        )
        if not rows:
            self._say(request, "Rejected", 0, queryset.count())
            return None
        lines = [self.line_of(row) for row in rows]
        form = confirmed_form(self, request, REJECT, lines)
        if isinstance(form, HttpResponse):
            return form
        reason = form.cleaned_data["reason"]
        n = sum(review.reject(row.pk, person(request), reason) for row in rows)
        self._say(request, "Rejected", n, queryset.count())
        return None

    @admin.action(description="Reverse rejections …", permissions=["act"])
    def take_back_selected(
        self, request: HttpRequest, queryset: QuerySet[Assignment]
    ) -> HttpResponse | None:
        rows = queryset.filter(state=Assignment.State.REJECTED).select_related(
            "worker", "hit__campaign"
        )
        ways = [(row, taking_back(row, timezone.now())) for row in rows.order_by("pk")]
        if not ways:
            self.message_user(request, "None of these is rejected.", messages.WARNING)
            return None
        lines = [
            replace(self.line_of(row), detail=f"{self.reward(row)}: {way.sentence}")
            for row, way in ways
        ]
        form = confirmed_form(self, request, TAKE_BACK, lines)
        if isinstance(form, HttpResponse):
            return form
        answers = form.cleaned_data
        n = sum(
            self._take_back(request, row, answers, instead=not way.possible)
            for row, way in ways
        )
        if n:
            self.message_user(
                request,
                f"{n} {model_ngettext(self.opts, n)} changed.",
                messages.SUCCESS,
            )
        return None

    def _take_back(
        self,
        request: HttpRequest,
        row: Assignment,
        answers: dict[str, Any],
        *,
        instead: bool,
    ) -> bool:
        act = pay_instead if instead and answers["bonus"] else overturn
        try:
            done = act(
                row.pk,
                by=person(request),
                reason=answers["reason"],
                message=answers["words"] or SORRY,
            )
        except GenieError as error:
            message = f"{row.worker}: {error.message}"
            self.message_user(request, message, messages.ERROR)
            return False
        return bool(done)

    def _say(self, request: HttpRequest, done: str, n: int, n_all: int) -> None:
        if n:
            self.message_user(request, f"{done} {n}.", messages.SUCCESS)
        if n < n_all:
            sentence = f"{n_all - n} not changed: they were not pending."
            self.message_user(request, sentence, messages.WARNING)


def _texts(hit: HIT) -> SafeString:
    rows = []
    for item in hit.items.all():
        for field in item.data.get("fields", []):
            rows.append((field.get("label", ""), field.get("text", "")))
        for name in ("reference", "standard", "prediction"):
            if item.data.get(name) is not None:
                rows.append((name, item.data[name]))
        for output in item.data.get("outputs") or []:
            rows.append((f"output {output['slot']}", output["text"]))
    return format_html_join("", "<p><strong>{}</strong><br>{}</p>", rows) or (
        format_html("<p>{}</p>", "no texts")
    )
