from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html

from crowd.hits.models import Campaign
from crowd.money.admin.payouts import ReferenceForm
from crowd.money.models import Budget, Commitment, ExchangeRate, LedgerEntry
from crowd.money.selectors.payouts import payables
from crowd.money.selectors.rates import in_full
from crowd.money.services import budgets, payouts
from crowd.templatetags.crowd_money import dollars
from genie.accounts.task_admin import EditedOfTask, OfTask
from genie.lib.admin import (
    AsksWhy,
    Line,
    PageOfRows,
    Question,
    ReadOnlyAdmin,
    SearchedApart,
    confirmed_form,
    person,
)

if TYPE_CHECKING:
    from django.db.models import QuerySet


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


PAID = Question(
    title="Mark as paid",
    sentence=(
        "The workers received these rewards outside of any payout file. Only approved "
        "work that is in no payout is listed."
    ),
    button="Mark as paid",
    action="mark_paid_selected",
    form=ReferenceForm,
)


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
    act_permission = "crowd.change_ledgerentry"
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
    actions = ["mark_paid_selected"]

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

    @admin.action(description="Mark the selected as paid …", permissions=["act"])
    def mark_paid_selected(
        self, request: HttpRequest, queryset: QuerySet[LedgerEntry]
    ) -> HttpResponse | None:
        [of_ledger, *_] = payables(on_this_site=False)
        entries = list(
            queryset.filter(pk__in=of_ledger.rows.values("pk")).select_related(
                "assignment__worker"
            )
        )
        left_out = queryset.count() - len(entries)
        if left_out:
            sentence = f"{left_out} skipped: not approved, cancelled, in a payout, or already paid."
            self.message_user(request, sentence, messages.WARNING)
        if not entries:
            return None
        lines = [Line(e.pk, self.worker(e), self.amount(e)) for e in entries]
        total = sum(entry.amount_cents for entry in entries)
        form = confirmed_form(self, request, PAID, lines, [("Total", dollars(total))])
        if isinstance(form, HttpResponse):
            return form
        n = payouts.by_hand(entries, person(request), form.cleaned_data["reference"])
        self.message_user(request, f"Marked {n} as paid.", messages.SUCCESS)
        return None


def _committed(budget: Budget) -> int:
    cents: int = getattr(budget, "committed_cents", 0)
    return cents
