from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse

from crowd.money.admin.payouts import ReferenceForm
from crowd.money.services import payouts
from crowd.requester.models import (
    RequesterAssignment,
    RequesterBonus,
    RequesterEvent,
    WorkerRecord,
)
from crowd.requester.services.deliver import RUNNER
from crowd.templatetags.crowd_money import dollars
from genie.lib.admin import (
    AsksWhy,
    Line,
    Question,
    ReadOnlyAdmin,
    after_asking,
    confirmed_form,
    note,
    person,
)

if TYPE_CHECKING:
    from django.db.models import QuerySet


PAID = Question(
    title="Mark as paid",
    sentence=(
        "The workers received this money outside of any payout file. Only approved, "
        "unpaid work that is in no payout is listed."
    ),
    button="Mark as paid",
    action="mark_paid_selected",
    form=ReferenceForm,
)


class _PaidOut(ReadOnlyAdmin):
    actions = ["mark_paid_selected"]

    def payable(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(paid_at=None, payout=None)

    def line(self, row: Any) -> Line:
        return Line(row.pk, str(row))

    @admin.action(description="Mark the selected as paid …", permissions=["act"])
    def mark_paid_selected(
        self, request: HttpRequest, queryset: QuerySet[Any]
    ) -> HttpResponse | None:
        rows = list(self.payable(queryset))
        if not rows:
            self.message_user(request, "Nothing to pay.", messages.WARNING)
            return None
        form = confirmed_form(self, request, PAID, [self.line(row) for row in rows])
        if isinstance(form, HttpResponse):
            return form
        n = payouts.by_hand(rows, person(request), form.cleaned_data["reference"])
        self.message_user(request, f"Marked {n} as paid.", messages.SUCCESS)
        return None


@admin.register(RequesterAssignment)
class RequesterAssignmentAdmin(_PaidOut):
    act_permission = "crowd.change_requesterassignment"
    list_display = ["entity_id", "requester", "worker_name", "state", "reward", "submitted_at", "paid_at", "payment_reference"]  # fmt: skip
    list_filter = ["state", ("paid_at", admin.EmptyFieldListFilter), "hit__requester"]
    list_select_related = ["hit__requester", "worker__worker"]
    search_fields = ["entity_id", "hit__entity_id", "worker__worker__pseudonym"]
    ordering = ["-pk"]

    def payable(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        approved = queryset.filter(state=RequesterAssignment.State.APPROVED)
        return super().payable(approved)

    def line(self, row: Any) -> Line:
        return Line(row.pk, str(row.worker.worker), self.reward(row))

    @admin.display(description="requester")
    def requester(self, row: RequesterAssignment) -> str:
        return row.hit.requester.name

    @admin.display(description="worker")
    def worker_name(self, row: RequesterAssignment) -> str:
        return str(row.worker.worker)

    @admin.display(description="reward")
    def reward(self, row: RequesterAssignment) -> str:
        return dollars(row.hit.reward_cents)


@admin.register(RequesterBonus)
class RequesterBonusAdmin(_PaidOut):
    act_permission = "crowd.change_requesterbonus"
    list_display = ["pk", "worker_name", "amount", "reason", "granted_at", "paid_at", "payment_reference"]  # fmt: skip
    list_filter = [("paid_at", admin.EmptyFieldListFilter)]
    list_select_related = ["assignment__worker__worker"]
    ordering = ["-pk"]

    def line(self, row: Any) -> Line:
        return Line(row.pk, self.worker_name(row), self.amount(row))

    @admin.display(description="worker")
    def worker_name(self, row: RequesterBonus) -> str:
        return str(row.assignment.worker.worker)

    @admin.display(description="amount", ordering="amount_cents")
    def amount(self, row: RequesterBonus) -> str:
        return dollars(row.amount_cents)


@admin.register(RequesterEvent)
class RequesterEventAdmin(ReadOnlyAdmin):
    act_permission = "crowd.change_requesterevent"
    list_display = ["event_id", "requester", "transport", "created_at", "sent_at", "n_attempts", "next_at", "failure"]  # fmt: skip
    list_filter = [("sent_at", admin.EmptyFieldListFilter), "transport", "requester"]
    list_select_related = ["requester"]
    search_fields = ["event_id", "destination"]
    ordering = ["-pk"]
    actions = ["try_again_selected"]

    @admin.action(description="Redeliver the selected events …", permissions=["act"])
    @after_asking(
        "Redeliver",
        "Events that have not arrived are sent again within a minute.",
        "Redeliver",
    )
    def try_again_selected(
        self, request: HttpRequest, queryset: QuerySet[RequesterEvent], reason: str
    ) -> None:
        waiting = list(queryset.filter(sent_at=None))
        rows = queryset.filter(pk__in=[event.pk for event in waiting], sent_at=None)
        n = RUNNER.retry(rows)
        for event in waiting:
            note(person(request), event, "Marked for redelivery.", reason)
        self.message_user(
            request, f"{n} will be sent again within a minute.", messages.SUCCESS
        )


@admin.register(WorkerRecord)
class WorkerRecordAdmin(AsksWhy):
    list_display = ["worker", "country", "subdivision", "adult", "master"]
    list_filter = ["adult", "master", "country"]
    list_select_related = ["worker"]
    search_fields = ["worker__pseudonym", "worker__user__username"]
    autocomplete_fields = ["worker"]
