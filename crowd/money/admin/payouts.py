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

from crowd.money.models import Payout, PayoutRun, PayoutTerms
from crowd.money.payout_files import LAYOUTS, layouts_of, payout_file
from crowd.money.selectors.payouts import TERMS, UNDER_WAY
from crowd.money.services import payouts
from crowd.templatetags.crowd_money import dollars
from genie.lib.admin import AsksWhy, ReadOnlyAdmin, adding, filled_in, note, person
from genie.lib.errors import GenieError
from genie.lib.staff_actions import Action, Line, PlainForm

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser
    from django.db.models import QuerySet

RunState = PayoutRun.State
_ONE_RUN = "Choose one run that is planned: each has a file of its own."


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
    layouts = forms.ChoiceField(choices=layouts_of(run.method), label="Columns")
    form_of_run = type("LayoutForm", (forms.Form,), {"layout": layouts})
    ready, rest = payouts.in_file(run)
    total = sum(payout.amount_cents for payout in ready)
    totals = [("People", f"{len(ready):,}"), ("Total", dollars(total))]
    if rest:
        totals.append(("Left out, as their details changed", f"{len(rest):,}"))
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
    return format_html('The file is made. <a href="{}">Download it</a>.', url)


FILE = Action(
    "file_selected",
    "Make the file …",
    title="Make the file",
    sentence=(
        "With your approval these payouts go into a file for your bank or payment "
        "service, and their money counts as on its way. The site itself sends none."
    ),
    button="Approve and make the file",
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
    sentence=(
        "All payouts of these runs that are on their way arrived. Mark those that "
        "failed first, under Payouts."
    ),
    button="Mark as paid",
    form=ReferenceForm,
    allowed=Q(state=RunState.IN_FILE),
    otherwise="Nothing is in a file.",
    totals=_total,
    every=_settle_runs,
    done="{n} payouts changed.",
)
TAKE_BACK = Action(
    "take_back_selected",
    "Take back …",
    title="Take payouts back",
    sentence=(
        "What is not paid of these runs is due again. If a file was made, it must not "
        "be uploaded anywhere."
    ),
    button="Take back",
    service=payouts.take_back,
    done="Took back {n} payouts.",
)
FAILED = Action(
    "failed_selected",
    "Mark as failed or returned …",
    title="Mark payouts as failed or returned",
    sentence=(
        "The money is due again. The workers read your reason and are asked to correct "
        "their payment details."
    ),
    button="Mark as failed",
    permission="crowd.change_payoutrun",
    every=_settle_failed,
    done="{n} payouts changed.",
)


@admin.register(PayoutTerms)
class PayoutTermsAdmin(AsksWhy):
    list_display = ["__str__", "minimum", "planned_on"]
    readonly_fields = ["planned_on"]
    actions: Any = []

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        with transaction.atomic():
            payouts.lock()
        return super().changelist_view(request, extra_context)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.display(description="minimum")
    def minimum(self, terms: PayoutTerms) -> str:
        return dollars(terms.minimum_cents)


@admin.register(PayoutRun)
class PayoutRunAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "state", "people", "total", "open_", "failed", "approved_by", "approved_at", "file"]  # fmt: skip
    list_filter = ["state", "method", "due_on"]
    list_select_related = ["approved_by"]
    readonly_fields = ["people", "total", "open_", "failed", "file"]
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
    def failed(self, run: PayoutRun) -> int:
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
        return adding(
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
        response = HttpResponse(text, content_type="text/csv")
        name = f"payouts-{run.due_on:%Y-%m-%d}-{run.layout}-{run.pk}.csv"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        return response


@admin.register(Payout)
class PayoutAdmin(ReadOnlyAdmin):
    list_display = ["reference", "worker", "amount", "state", "reason", "run", "ended_at"]  # fmt: skip
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

    @admin.display(description="amount", ordering="amount_cents")
    def amount(self, payout: Payout) -> str:
        return dollars(payout.amount_cents)
