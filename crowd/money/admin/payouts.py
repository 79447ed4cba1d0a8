from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, Q, Sum
from django.http import Http404, HttpRequest, HttpResponse
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
from genie.lib.admin import (
    AsksWhy,
    Line,
    PlainForm,
    Question,
    ReadOnlyAdmin,
    adding,
    after_asking,
    confirmed_form,
    filled_in,
    note,
    person,
)
from genie.lib.errors import GenieError

if TYPE_CHECKING:
    from django.db.models import QuerySet

RunState = PayoutRun.State


class ReferenceForm(forms.Form):
    reference = forms.CharField(
        max_length=100,
        help_text=(
            "The reference of the transfer or receipt, so that the payment can be "
            "found again."
        ),
    )


PAID = Question(
    title="Mark as paid",
    sentence=(
        "All payouts of these runs that are on their way arrived. Mark those that "
        "failed first, under Payouts."
    ),
    button="Mark as paid",
    action="paid_selected",
    form=ReferenceForm,
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
    act_permission = "crowd.change_payoutrun"
    list_display = ["__str__", "state", "people", "total", "open_", "failed", "approved_by", "approved_at", "file"]  # fmt: skip
    list_filter = ["state", "method", "due_on"]
    list_select_related = ["approved_by"]
    readonly_fields = ["people", "total", "open_", "failed", "file"]
    actions = ["file_selected", "paid_selected", "take_back_selected"]
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

    @admin.action(description="Make the file …", permissions=["act"])
    def file_selected(
        self, request: HttpRequest, queryset: QuerySet[PayoutRun]
    ) -> HttpResponse | None:
        runs = list(queryset.filter(state=RunState.PLANNED)[:2])
        if len(runs) != 1:
            sentence = "Choose one run that is planned: each has a file of its own."
            self.message_user(request, sentence, messages.WARNING)
            return None
        [run] = runs
        ready, rest = payouts.in_file(run)
        total = sum(payout.amount_cents for payout in ready)
        lines = [Line(run.pk, str(run))]
        totals = [("People", f"{len(ready):,}"), ("Total", dollars(total))]
        if rest:
            totals.append(("Left out, as their details changed", f"{len(rest):,}"))
        hidden = [("agreed", str(total))]
        form = confirmed_form(self, request, _file_of(run), lines, totals, hidden)
        if isinstance(form, HttpResponse):
            return form
        agreed = request.POST.get("agreed", "")
        cents = int(agreed) if agreed.isdecimal() else -1
        try:
            payouts.file(run, person(request), form.cleaned_data["layout"], cents)
        except GenieError as error:
            self.message_user(request, error.message, messages.ERROR)
            return None
        url = reverse("admin:crowd_payoutrun_file", args=[run.pk])
        sentence = format_html('The file is made. <a href="{}">Download it</a>.', url)
        self.message_user(request, sentence, messages.SUCCESS)
        return None

    @admin.action(description="Mark as paid …", permissions=["act"])
    def paid_selected(
        self, request: HttpRequest, queryset: QuerySet[PayoutRun]
    ) -> HttpResponse | None:
        runs = list(queryset.filter(state=RunState.IN_FILE))
        if not runs:
            self.message_user(request, "Nothing is in a file.", messages.WARNING)
            return None
        rows = Payout.objects.filter(run__in=runs, state=Payout.State.IN_FILE)
        cents = rows.aggregate(n=Sum("amount_cents"))["n"] or 0
        lines = [Line(run.pk, str(run)) for run in runs]
        form = confirmed_form(self, request, PAID, lines, [("Total", dollars(cents))])
        if isinstance(form, HttpResponse):
            return form
        reference = form.cleaned_data["reference"]
        outcomes = [payouts.Outcome(one.pk, payouts.PAID, reference) for one in rows]
        _settled(self, request, outcomes)
        return None

    @admin.action(description="Take back …", permissions=["act"])
    @after_asking(
        "Take payouts back",
        "What is not paid of these runs is due again. If a file was made, it must not "
        "be uploaded anywhere.",
        "Take back",
    )
    def take_back_selected(
        self, request: HttpRequest, queryset: QuerySet[PayoutRun], reason: str
    ) -> None:
        n = sum(payouts.take_back(run, person(request), reason) for run in queryset)
        self.message_user(request, f"Took back {n} payouts.", messages.SUCCESS)

    def download(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        if not self.has_act_permission(request):
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
    act_permission = "crowd.change_payoutrun"
    list_display = ["reference", "worker", "amount", "state", "reason", "run", "ended_at"]  # fmt: skip
    list_filter = ["state", "run__method"]
    list_select_related = ["worker", "run"]
    search_fields = ["reference", "worker__pseudonym"]
    ordering = ["-pk"]
    exclude = ["sealed"]
    actions = ["failed_selected"]

    def lookup_allowed(self, lookup: str, value: str, request: Any = None) -> bool:
        return lookup == "run__id__exact" or super().lookup_allowed(
            lookup, value, request
        )

    @admin.display(description="amount", ordering="amount_cents")
    def amount(self, payout: Payout) -> str:
        return dollars(payout.amount_cents)

    @admin.action(description="Mark as failed or returned …", permissions=["act"])
    @after_asking(
        "Mark payouts as failed or returned",
        "The money is due again. The workers read your reason and are asked to correct "
        "their payment details.",
        "Mark as failed",
    )
    def failed_selected(
        self, request: HttpRequest, queryset: QuerySet[Payout], reason: str
    ) -> None:
        word = payouts.RETURNED
        _settled(self, request, [payouts.Outcome(one.pk, word, reason) for one in queryset])  # fmt: skip


def _settled(
    model_admin: admin.ModelAdmin[Any],
    request: HttpRequest,
    outcomes: list[payouts.Outcome],
) -> None:
    try:
        n = payouts.settle(outcomes, person(request))
    except GenieError as error:
        model_admin.message_user(request, error.message, messages.ERROR)
        return
    model_admin.message_user(request, f"{n} payouts changed.", messages.SUCCESS)


def _file_of(run: PayoutRun) -> Question:
    layouts = forms.ChoiceField(choices=layouts_of(run.method), label="Columns")
    return Question(
        title="Make the file",
        sentence=(
            "With your approval these payouts go into a file for your bank or payment "
            "service, and their money counts as on its way. The site itself sends none."
        ),
        button="Approve and make the file",
        action="file_selected",
        form=type("LayoutForm", (forms.Form,), {"layout": layouts}),
    )
