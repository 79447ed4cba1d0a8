from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, Q, Sum
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.cache import never_cache

from crowd.hits.models import Campaign
from crowd.money.models import (
    Budget,
    Commitment,
    ExchangeRate,
    LedgerEntry,
    Payout,
    PayoutRun,
    PayoutTerms,
)
from crowd.money.selectors.fair_pay import Shortfall, shortfall
from crowd.money.selectors.payouts import TERMS, UNDER_WAY, payables
from crowd.money.selectors.rates import in_full
from crowd.money.services import budgets, fair_pay, payouts
from crowd.money.services.payouts import LAYOUTS, payout_file
from crowd.templatetags.crowd_money import dollars
from genie.accounts.task_admin import BY_TASK, EditedOfTask, OfTask
from genie.lib.admin import (
    AsksWhy,
    ReadOnlyAdmin,
    SearchedApart,
    add_page,
    filled_in,
    note,
    person,
)
from genie.lib.errors import GenieError
from genie.lib.serving.pages import file_named
from genie.lib.staff_actions import Action, Line, PlainForm

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser
    from django.db.models import QuerySet

    from genie.lib.typing import Account


RunState = PayoutRun.State
_ONE_RUN = "Choose one planned run. Each run has its own file."


class ReferenceForm(forms.Form):
    reference = forms.CharField(
        max_length=100,
        help_text=(
            "The reference of the transfer or receipt, so that the payment can be "
            "found again."
        ),
    )


def mark_paid(
    model_admin: Any, request: HttpRequest, rows: list[Any], reference: str
) -> int:
    return payouts.by_hand(rows, person(request), reference)


def _settle_runs(
    model_admin: Any, request: HttpRequest, runs: list[PayoutRun], reference: str
) -> int:
    outcomes = [
        payouts.Outcome(row.pk, payouts.PAID, reference) for row in _on_their_way(runs)
    ]
    return payouts.settle(outcomes, person(request))


def _settle_failed(
    model_admin: Any, request: HttpRequest, rows: list[Payout], reason: str
) -> int:
    outcomes = [payouts.Outcome(row.pk, payouts.RETURNED, reason) for row in rows]
    return payouts.settle(outcomes, person(request))


def _on_their_way(runs: list[PayoutRun]) -> QuerySet[Payout]:
    return Payout.objects.filter(run__in=runs, state=Payout.State.IN_FILE)


def _total(runs: list[PayoutRun]) -> list[tuple[str, str]]:
    cents = _on_their_way(runs).aggregate(n=Sum("amount_cents"))["n"] or 0
    return [("Total", dollars(cents))]


def _make_file(
    model_admin: Any, request: HttpRequest, runs: list[PayoutRun]
) -> HttpResponse | None:
    [run] = runs
    layouts = forms.ChoiceField(
        choices=[
            (key, one.title) for key, one in LAYOUTS.items() if one.method == run.method
        ],
        label="Columns",
    )
    form_of_run = type("LayoutForm", (forms.Form,), {"layout": layouts})
    ready, rest = payouts.in_file(run)
    total = sum(payout.amount_cents for payout in ready)
    totals = [("People", f"{len(ready):,}"), ("Total", dollars(total))]
    if rest:
        totals.append(("Left out because their details changed", f"{len(rest):,}"))
    form = replace(FILE, form=form_of_run).ask(
        model_admin, request, [Line(run.pk, str(run))], totals, [("agreed", total)]
    )
    if isinstance(form, HttpResponse):
        return form
    FILE.act(model_admin, request, runs, sent=request.POST, **form.cleaned_data)
    return None


def _make_one_file(
    run: PayoutRun, by: AbstractBaseUser, sent: QueryDict, layout: str
) -> str:
    agreed = sent.get("agreed", "")
    payouts.file(run, by, layout, int(agreed) if agreed.isdecimal() else -1)
    url = reverse("admin:crowd_payoutrun_file", args=[run.pk])
    return format_html('The file is ready. <a href="{}">Download it</a>.', url)


FILE = Action(
    "file_selected",
    "Create the file …",
    title="Create the file",
    sentence="When you approve, these payouts are written to a file for your bank or "
    "payment service, and the money counts as on its way. The site itself sends "
    "no money.",
    button="Approve and create the file",
    allowed=Q(state=RunState.PLANNED),
    otherwise=_ONE_RUN,
    single=_ONE_RUN,
    run=_make_file,
    service=_make_one_file,
)
PAID = Action(
    "paid_selected",
    "Mark as paid …",
    title="Mark as paid",
    sentence="Confirm that all payouts of these runs have arrived. If some failed, mark "
    "them first, under Payouts.",
    button="Mark as paid",
    form=ReferenceForm,
    allowed=Q(state=RunState.IN_FILE),
    otherwise="No payouts are in a file.",
    totals=_total,
    every=_settle_runs,
    done="{n} payouts changed.",
)
TAKE_BACK = Action(
    "take_back_selected",
    "Take back …",
    title="Take payouts back",
    sentence="Unpaid payouts of these runs are due again. If a file was made, do not "
    "upload it.",
    button="Take back",
    service=payouts.take_back,
    done="Took back {n} payouts.",
)
FAILED = Action(
    "failed_selected",
    "Mark as failed or returned …",
    title="Mark payouts as failed or returned",
    sentence="The money is due again. The workers see your reason and are asked to correct "
    "their payment details.",
    button="Mark as failed",
    permission="crowd.change_payoutrun",
    every=_settle_failed,
    done="{n} payouts changed.",
)


@admin.register(PayoutTerms)
class PayoutTermsAdmin(AsksWhy):
    list_display = ["__str__", "minimum_cents", "planned_on"]
    readonly_fields = ["planned_on"]
    actions: Any = []

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        with transaction.atomic():
            payouts.lock()
        return super().changelist_view(request, extra_context)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(PayoutRun)
class PayoutRunAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "state", "people", "total", "open_", "n_failed_payouts", "approved_by", "approved_at", "file"]  # fmt: skip
    list_filter = ["state", "method", "due_on"]
    list_select_related = ["approved_by"]
    readonly_fields = ["people", "total", "open_", "n_failed_payouts", "file"]
    actions = [FILE, PAID, TAKE_BACK]
    change_list_template = "admin/crowd/payoutrun/change_list.html"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("crowd.add_payoutrun")

    def get_queryset(self, request: HttpRequest) -> QuerySet[PayoutRun]:
        under_way = Q(payouts__state__in=UNDER_WAY)
        failed = Q(payouts__state=Payout.State.FAILED)
        rows: QuerySet[PayoutRun] = super().get_queryset(request)
        return rows.annotate(
            n=Count("payouts"),
            cents=Sum("payouts__amount_cents"),
            n_open=Count("payouts", filter=under_way),
            n_failed=Count("payouts", filter=failed),
        )

    @admin.display(description="people")
    def people(self, run: PayoutRun) -> str:
        url = reverse("admin:crowd_payout_changelist")
        return format_html('<a href="{}?run__id__exact={}">{}</a>', url, run.pk, run.n)  # type: ignore[attr-defined]

    @admin.display(description="total")
    def total(self, run: PayoutRun) -> str:
        return dollars(run.cents or 0)  # type: ignore[attr-defined]

    @admin.display(description="open")
    def open_(self, run: PayoutRun) -> int:
        return int(run.n_open)  # type: ignore[attr-defined]

    @admin.display(description="failed")
    def n_failed_payouts(self, run: PayoutRun) -> int:
        return int(run.n_failed)  # type: ignore[attr-defined]

    @admin.display(description="file")
    def file(self, run: PayoutRun) -> str:
        if run.state != RunState.IN_FILE or run.layout not in LAYOUTS:
            return "–"
        url = reverse("admin:crowd_payoutrun_file", args=[run.pk])
        return format_html('<a href="{}">Download</a>', url)

    def get_urls(self) -> list[Any]:
        wrap = self.admin_site.admin_view
        return [
            path(
                "<int:pk>/file/",
                never_cache(wrap(self.download)),
                name="crowd_payoutrun_file",
            ),
            *super().get_urls(),
        ]

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        form, right = filled_in(self, request, PlainForm)
        if right:
            runs = payouts.plan(timezone.localdate(), person(request))
            self.message_user(request, f"Planned {len(runs)} runs.", messages.SUCCESS)
            return redirect("admin:crowd_payoutrun_changelist")
        terms = PayoutTerms.objects.filter(pk=TERMS).first() or PayoutTerms()
        found = payouts.prospect(terms.minimum_cents)
        names = dict(PayoutRun.METHODS)
        totals = [
            (names[method], len(cents), dollars(sum(cents.values())))
            for method, cents in sorted(found.by_method.items())
        ]
        return add_page(
            self,
            request,
            form,
            title="Plan payouts",
            button="Plan",
            page="admin/crowd/payoutrun/add.html",
            totals=totals,
            # Planning tells workers without payment details.
            nothing_to_do=not totals and not found.lacking,
            n_lacking=len(found.lacking),
            lacking=dollars(sum(found.lacking.values())),
            n_carried=found.n_carried,
            minimum=dollars(terms.minimum_cents),
        )

    def download(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        if not self.may(request, "change"):
            raise PermissionDenied
        run = PayoutRun.objects.filter(pk=pk, state=RunState.IN_FILE).first()
        if run is None or run.layout not in LAYOUTS:
            raise Http404("There is no such file.")
        try:
            text = payout_file(run)
        except GenieError as error:
            self.message_user(request, error.message, messages.ERROR)
            return redirect("admin:crowd_payoutrun_changelist")
        note(person(request), run, "Downloaded the file.")
        name = f"payouts-{run.due_on:%Y-%m-%d}-{run.layout}-{run.pk}.csv"
        return file_named(name, text, "text/csv")


@admin.register(Payout)
class PayoutAdmin(ReadOnlyAdmin):
    list_display = ["reference", "worker", "amount_cents", "state", "reason", "run", "ended_at"]  # fmt: skip
    list_filter = ["state", "run__method"]
    list_select_related = ["worker", "run"]
    search_fields = ["reference", "worker__pseudonym"]
    ordering = ["-pk"]
    exclude = ["sealed"]
    actions = [FAILED]

    def lookup_allowed(self, lookup: str, value: str, request: Any = None) -> bool:
        return lookup == "run__id__exact" or super().lookup_allowed(
            lookup, value, request
        )


_SKIPPED = "{n_left} skipped: not approved, cancelled, in a payout, or already paid."


@admin.register(Budget)
class BudgetAdmin(EditedOfTask, AsksWhy):
    list_display = ["pool", "limit_cents", "set_aside", "left_dollars"]
    empty_value_display = "the whole site"
    readonly_fields = ["set_aside", "left_dollars"]
    # Money was approved within them: a limit changes, a budget stays.
    actions: Any = []

    def look_up(self, rows: list[Budget]) -> None:
        committed = budgets.committed_by_pool()
        for row in rows:
            row.committed_cents = committed.get(row.pool_id, 0)  # type: ignore[attr-defined]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        # Moving a budget to another pool would rewrite what was approved.
        return ["pool", *self.readonly_fields] if obj is not None else []

    @admin.display(description="committed or spent")
    def set_aside(self, budget: Budget) -> str:
        return dollars(_committed_cents(budget))

    @admin.display(description="left")
    def left_dollars(self, budget: Budget) -> str:
        return dollars(budget.limit_cents - _committed_cents(budget))


@admin.register(Commitment)
class CommitmentAdmin(OfTask, ReadOnlyAdmin):
    list_display = [
        "key",
        "campaign",
        "pool",
        "amount_cents",
        "approved_by",
        "created_at",
        "settled_at",
    ]
    readonly_fields = ["campaign"]
    list_filter = [("settled_at", admin.EmptyFieldListFilter), BY_TASK]
    list_select_related = ["approved_by", "pool"]
    search_fields = ["key"]

    def look_up(self, rows: list[Commitment]) -> None:
        keys = [row.key for row in rows]
        found = {one.key: one for one in Campaign.objects.filter(key__in=keys)}
        for row in rows:
            row.spent_by = found.get(row.key)  # type: ignore[attr-defined]

    @admin.display(description="campaign")
    def campaign(self, commitment: Commitment) -> str:
        found: Campaign | None = commitment.spent_by  # type: ignore[attr-defined]
        if found is None:
            return "–"
        url = reverse("admin:crowd_campaign_change", args=[found.pk])
        return format_html('<a href="{}">{}</a>', url, found)


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


@admin.register(LedgerEntry)
class LedgerEntryAdmin(OfTask, SearchedApart, ReadOnlyAdmin):
    pool_paths = ("campaign__pool_id",)
    list_display = [
        "pk",
        "kind",
        "state",
        "amount_cents",
        "elsewhere",
        "assignment__worker",
        "work_state",
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
            sentence="Confirm that the workers received these rewards outside a payout "
            "file. Only approved work that is not in a payout is listed.",
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
        worker = entry.assignment.worker if entry.assignment else "–"
        return Line(entry.pk, str(worker), dollars(entry.amount_cents))

    @admin.display(description="paid elsewhere", ordering="foreign_amount")
    def elsewhere(self, entry: LedgerEntry) -> str:
        if entry.rate is None:
            return "–"
        return f"{in_full(entry.foreign_amount or 0, entry.rate)} ({entry.rate})"

    @admin.display(description="work", ordering="assignment__state")
    def work_state(self, entry: LedgerEntry) -> str:
        return entry.assignment.get_state_display() if entry.assignment else "–"


def _committed_cents(budget: Budget) -> int:
    return int(getattr(budget, "committed_cents", 0))


def _make_up(
    model_admin: Any, request: HttpRequest, campaigns: list[Campaign]
) -> HttpResponse | None:
    underpaid = [
        (campaign, missing)
        for campaign in campaigns
        if (missing := shortfall(campaign)) is not None
    ]
    if not underpaid:
        sentence = (
            "Pay is not below the minimum, or there are too few measured times to tell."
        )
        model_admin.message_user(request, sentence, messages.WARNING)
        return None
    lines = [Line(c.pk, c.title, _detail(missing)) for c, missing in underpaid]
    total = sum(missing.total_cents for _, missing in underpaid)
    # The agreed amount is the one shown, whatever is approved meanwhile.
    agreed = {f"agreed-{c.pk}": missing.total_cents for c, missing in underpaid}
    form = MAKE_UP.ask(
        model_admin, request, lines, [("Total", dollars(total))], agreed.items()
    )
    if isinstance(form, HttpResponse):
        return form
    MAKE_UP.act(model_admin, request, [c for c, _ in underpaid], sent=request.POST)
    return None


def _make_up_one(campaign: Campaign, by: Account, sent: QueryDict) -> str | bool:
    agreed = sent.get(f"agreed-{campaign.pk}", "")
    done = fair_pay.make_up(
        campaign.pk, by=by, agreed_cents=int(agreed) if agreed.isdecimal() else -1
    )
    return (
        done is not None and f"{campaign.title}: planned {dollars(done.total_cents)}."
    )


MAKE_UP = Action(
    "make_up_selected",
    "Top up low pay in the selected campaigns …",
    title="Top up low pay",
    sentence="At the median active time, this work paid less than the hourly minimum. "
    "Every worker with approved work in these campaigns gets the same bonus for "
    "each answer. The bonus is charged to the budgets and planned only once. A "
    "platform that pays workers itself pays it and charges its fee. Otherwise "
    "staff mark it as paid.",
    button="Plan the bonus",
    form=PlainForm,
    allowed=Q(state__in=[Campaign.State.COMPLETE, Campaign.State.STOPPED]),
    run=_make_up,
    service=_make_up_one,
    on_page="Top up low pay …",
)


def _detail(missing: Shortfall) -> str:
    fee = (
        f", including {dollars(missing.fee_cents)} in fees" if missing.fee_cents else ""
    )
    return (
        f"hourly pay {dollars(missing.hourly_cents)}, minimum "
        f"{dollars(missing.floor_cents)}; {'' if missing.is_even else 'up to '}"
        f"{dollars(missing.each_cents)} for each of "
        f"{missing.n_assignments:,} answers by {missing.n_workers:,} workers: "
        f"{dollars(missing.total_cents)}{fee}"
    )
