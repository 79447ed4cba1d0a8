from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db.models import Count, Q
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join

from crowd.campaigns.selectors.rejection_reversal import taking_back
from crowd.campaigns.services import review
from crowd.campaigns.services.overturn import overturn, pay_instead
from crowd.hits.models import HIT, Answer, Assignment
from crowd.templatetags.crowd_money import dollars
from genie.accounts.task_admin import OfTask
from genie.lib.admin import ReadOnlyAdmin, ReadOnlyInline, SearchedApart, person
from genie.lib.staff_actions import Action, Line, ReasonForm

if TYPE_CHECKING:
    from django.utils.safestring import SafeString

    from genie.lib.typing import Account


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


_LEFT = "{n_left} not changed: they were not pending."
SORRY = "Your work was reviewed again: it was rejected by mistake."


def _take_back(
    row: Assignment, by: Account, reason: str, words: str, bonus: bool
) -> bool:
    instead = bonus and not taking_back(row, timezone.now()).possible
    act = pay_instead if instead else overturn
    return bool(act(row.pk, by=by, reason=reason, message=words or SORRY))


def _way_back(row: Assignment) -> Line:
    way = taking_back(row, timezone.now())
    return _line(row, f"{dollars(row.reward_cents)}: {way.sentence}")


def _line(row: Assignment, detail: str) -> Line:
    return Line(row.pk, f"{row.worker} · HIT {row.hit_id}", detail)


def _approve(
    model_admin: Any, request: HttpRequest, rows: list[Assignment], reason: str
) -> int:
    return review.approve([row.pk for row in rows], person(request), reason)


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
    actions = [
        Action(
            "approve_selected",
            "Approve the selected assignments …",
            title="Approve assignments",
            sentence="Approved assignments are paid.",
            button="Approve",
            every=_approve,
            done="Approved {n}.",
            left=_LEFT,
        ),
        Action(
            "reject_selected",
            "Reject the selected assignments …",
            title="Reject assignments",
            sentence=(
                "Rejected assignments are not paid, and their HITs are reassigned while "
                "the campaign runs. Workers read the reason. A rejection can be "
                "reversed for a while, except on platforms that do not allow it, such "
                "as Prolific."
            ),
            button="Reject",
            allowed=Q(state=Assignment.State.SUBMITTED),
            otherwise=_LEFT,
            service=lambda row, by, reason: review.reject(row.pk, by, reason),
            done="Rejected {n}.",
            left=_LEFT,
        ),
        Action(
            "take_back_selected",
            "Reverse rejections …",
            title="Reverse rejections",
            sentence="The platform's rule is shown beside each assignment.",
            button="Reverse rejections",
            form=TakeBackForm,
            allowed=Q(state=Assignment.State.REJECTED),
            otherwise="None of these is rejected.",
            line=_way_back,
            service=_take_back,
            done="{n} {rows} changed.",
        ),
    ]

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
        return _line(row, self.reward(row))


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
