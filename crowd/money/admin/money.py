from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from crowd.hits.models import Campaign
from crowd.money.admin.payouts import ReferenceForm, mark_paid
from crowd.money.models import Budget, Commitment, ExchangeRate, LedgerEntry
from crowd.money.selectors.payouts import payables
from crowd.money.selectors.rates import in_full
from crowd.money.services import budgets
from crowd.templatetags.crowd_money import dollars
from genie.accounts.task_admin import EditedOfTask, OfTask
from genie.lib.admin import AsksWhy, PageOfRows, ReadOnlyAdmin, SearchedApart, person
from genie.lib.staff_actions import Action, Line

_SKIPPED = "{n_left} skipped: not approved, cancelled, in a payout, or already paid."


@admin.register(Budget)
class BudgetAdmin(EditedOfTask, AsksWhy):
    list_display = ["__str__", "limit", "set_aside", "left"]
    readonly_fields = ["set_aside", "left"]
    # Money was approved within them: a limit changes, a budget stays.
    actions: Any = []

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return PageOfRows

    def look_up(self, rows: list[Budget]) -> None:
        committed = budgets.committed()
        for row in rows:
            pool = None if row.pool == Budget.SITE else row.pool
            row.committed_cents = committed.get(pool, 0)  # type: ignore[attr-defined]

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        budget = super().get_object(request, *args, **kwargs)
        if budget is not None:
            self.look_up([budget])
        return budget

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        # Moving a budget to another pool would rewrite what was approved.
        return ["pool", *self.readonly_fields] if obj is not None else []

    @admin.display(description="limit", ordering="limit_cents")
    def limit(self, budget: Budget) -> str:
        return dollars(budget.limit_cents)

    @admin.display(description="committed or spent")
    def set_aside(self, budget: Budget) -> str:
        return dollars(_committed(budget))

    @admin.display(description="left")
    def left(self, budget: Budget) -> str:
        return dollars(budget.limit_cents - _committed(budget))


@admin.register(Commitment)
class CommitmentAdmin(OfTask, ReadOnlyAdmin):
    list_display = [
        "key",
        "campaign",
        "pool",
        "amount",
        "approved_by",
        "created_at",
        "settled_at",
    ]
    readonly_fields = ["campaign"]
    list_filter = [("settled_at", admin.EmptyFieldListFilter), "pool"]
    list_select_related = ["approved_by"]
    search_fields = ["key"]

    def look_up(self, rows: list[Commitment]) -> None:
        keys = [row.key for row in rows]
        found = {one.key: one for one in Campaign.objects.filter(key__in=keys)}
        for row in rows:
            row.spent_by = found.get(row.key)  # type: ignore[attr-defined]

    @admin.display(description="campaign")
    def campaign(self, commitment: Commitment) -> str:
        if not hasattr(commitment, "spent_by"):
            self.look_up([commitment])
        found: Campaign | None = commitment.spent_by  # type: ignore[attr-defined]
        if found is None:
            return "–"
        url = reverse("admin:crowd_campaign_change", args=[found.pk])
        return format_html('<a href="{}">{}</a>', url, found)

    @admin.display(description="amount", ordering="amount_cents")
    def amount(self, commitment: Commitment) -> str:
        return dollars(commitment.amount_cents)


@admin.register(ExchangeRate)
class ExchangeRateAdmin(AsksWhy):
    """The value of a currency, entered by staff; a new rate is a new row."""

    list_display = ["currency", "dollars", "stored_at", "stored_by"]
    list_select_related = ["stored_by"]
    fields = ["currency", "dollars"]
    actions: Any = []

    def save_model(
        self, request: HttpRequest, obj: ExchangeRate, form: Any, change: Any
    ) -> None:
        obj.stored_by_id = person(request).pk
        super().save_model(request, obj, form, change)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        # Payments refer to the rate at which they were computed.
        return obj is None and super().has_change_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(LedgerEntry)
class LedgerEntryAdmin(OfTask, SearchedApart, ReadOnlyAdmin):
    pool_paths = ("campaign__pool",)
    list_display = [
        "pk",
        "kind",
        "state",
        "amount",
        "elsewhere",
        "worker",
        "approved",
        "campaign",
        "created_at",
        "done_at",
        "payout",
        "platform_id",
    ]
    list_filter = ["state", "kind", "assignment__state", "campaign__pool", "created_at"]
    list_select_related = ["campaign", "assignment__worker", "rate", "payout"]
    search_fields = [
        "idempotency_key__exact",
        "platform_id",
        "assignment__worker__pseudonym",
    ]
    ordering = ["-pk"]
    actions = [
        Action(
            "mark_paid_selected",
            "Mark the selected as paid …",
            title="Mark as paid",
            sentence=(
                "The workers received these rewards outside of any payout file. Only "
                "approved work that is in no payout is listed."
            ),
            button="Mark as paid",
            form=ReferenceForm,
            allowed=lambda rows: rows.filter(
                pk__in=payables(on_this_site=False)[0].rows.values("pk")
            ),
            otherwise=_SKIPPED,
            left=_SKIPPED,
            totals=lambda rows: [("Total", dollars(sum(r.amount_cents for r in rows)))],
            every=mark_paid,
            done="Marked {n} as paid.",
        )
    ]

    def line_of(self, entry: LedgerEntry) -> Line:
        return Line(entry.pk, self.worker(entry), self.amount(entry))

    @admin.display(description="amount", ordering="amount_cents")
    def amount(self, entry: LedgerEntry) -> str:
        return dollars(entry.amount_cents)

    @admin.display(description="paid elsewhere", ordering="foreign_amount")
    def elsewhere(self, entry: LedgerEntry) -> str:
        if entry.rate is None:
            return "–"
        return f"{in_full(entry.foreign_amount or 0, entry.rate)} ({entry.rate})"

    @admin.display(description="worker", ordering="assignment__worker")
    def worker(self, entry: LedgerEntry) -> str:
        return str(entry.assignment.worker) if entry.assignment else "–"

    @admin.display(description="work", ordering="assignment__state")
    def approved(self, entry: LedgerEntry) -> str:
        return entry.assignment.get_state_display() if entry.assignment else "–"


def _committed(budget: Budget) -> int:
    cents: int = getattr(budget, "committed_cents", 0)
    return cents
