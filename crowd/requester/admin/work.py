from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from django.contrib import admin
from django.db.models import Q

from crowd.money.admin.payouts import ReferenceForm, mark_paid
from crowd.requester.models import (
    RequesterAssignment,
    RequesterBonus,
    RequesterEvent,
    WorkerRecord,
)
from crowd.requester.services.deliver import RUNNER
from crowd.templatetags.crowd_money import dollars
from genie.lib.admin import AsksWhy, ReadOnlyAdmin
from genie.lib.staff_actions import Action, Line

if TYPE_CHECKING:
    from genie.lib.typing import Account


PAID = Action(
    "mark_paid_selected",
    "Mark the selected as paid …",
    title="Mark as paid",
    sentence=(
        "The workers received this money outside of any payout file. Only approved, "
        "unpaid work that is in no payout is listed."
    ),
    button="Mark as paid",
    form=ReferenceForm,
    allowed=Q(paid_at=None, payout=None),
    otherwise="Nothing to pay.",
    every=mark_paid,
    done="Marked {n} as paid.",
)


def _redeliver(event: RequesterEvent, by: Account, reason: str) -> bool:
    waiting = RequesterEvent.objects.filter(pk=event.pk, sent_at=None)
    return bool(RUNNER.retry(waiting))


@admin.register(RequesterAssignment)
class RequesterAssignmentAdmin(ReadOnlyAdmin):
    list_display = ["entity_id", "requester", "worker_name", "state", "reward", "submitted_at", "paid_at", "payment_reference"]  # fmt: skip
    list_filter = ["state", ("paid_at", admin.EmptyFieldListFilter), "hit__requester"]
    list_select_related = ["hit__requester", "worker__worker"]
    search_fields = ["entity_id", "hit__entity_id", "worker__worker__pseudonym"]
    ordering = ["-pk"]
    actions = [
        replace(
            PAID,
            allowed=Q(
                state=RequesterAssignment.State.APPROVED, paid_at=None, payout=None
            ),
        )
    ]

    def line_of(self, row: RequesterAssignment) -> Line:
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
class RequesterBonusAdmin(ReadOnlyAdmin):
    list_display = ["pk", "worker_name", "amount", "reason", "granted_at", "paid_at", "payment_reference"]  # fmt: skip
    list_filter = [("paid_at", admin.EmptyFieldListFilter)]
    list_select_related = ["assignment__worker__worker"]
    ordering = ["-pk"]
    actions = [PAID]

    def line_of(self, row: RequesterBonus) -> Line:
        return Line(row.pk, self.worker_name(row), self.amount(row))

    @admin.display(description="worker")
    def worker_name(self, row: RequesterBonus) -> str:
        return str(row.assignment.worker.worker)

    @admin.display(description="amount", ordering="amount_cents")
    def amount(self, row: RequesterBonus) -> str:
        return dollars(row.amount_cents)


@admin.register(RequesterEvent)
class RequesterEventAdmin(ReadOnlyAdmin):
    list_display = ["event_id", "requester", "transport", "created_at", "sent_at", "n_attempts", "next_at", "failure"]  # fmt: skip
    list_filter = [("sent_at", admin.EmptyFieldListFilter), "transport", "requester"]
    list_select_related = ["requester"]
    search_fields = ["event_id", "destination"]
    ordering = ["-pk"]
    actions = [
        Action(
            "try_again_selected",
            "Redeliver the selected events …",
            title="Redeliver",
            sentence="Events that have not arrived are sent again within a minute.",
            button="Redeliver",
            service=_redeliver,
            history="Marked for redelivery. Reason: {reason}",
            done="{n} will be sent again within a minute.",
        )
    ]


@admin.register(WorkerRecord)
class WorkerRecordAdmin(AsksWhy):
    list_display = ["worker", "country", "subdivision", "adult", "master"]
    list_filter = ["adult", "master", "country"]
    list_select_related = ["worker"]
    search_fields = ["worker__pseudonym", "worker__user__username"]
    autocomplete_fields = ["worker"]
