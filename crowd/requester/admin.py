from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Model, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from crowd.money.admin import ReferenceForm, mark_paid
from crowd.requester.batches import post as batches
from crowd.requester.batches.forms import BatchForm, ReviewForm
from crowd.requester.batches.post import apply_reviews, read_reviews
from crowd.requester.batches.results import results_csv
from crowd.requester.models import (
    AccessKey,
    Requester,
    RequesterAssignment,
    RequesterBatch,
    RequesterBonus,
    RequesterEntry,
    RequesterEvent,
    WorkerRecord,
)
from crowd.requester.protocol import clock
from crowd.requester.services import access_keys, money
from crowd.requester.services.deliver import RUNNER
from crowd.requester.services.settle import settle
from crowd.templatetags import crowd_money
from crowd.templatetags.crowd_money import dollars, signed_dollars
from genie.lib.admin import AsksWhy, ReadOnlyAdmin, note, person
from genie.lib.errors import GenieError
from genie.lib.serving.pages import file_named
from genie.lib.staff_actions import Action, Line

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from genie.lib.typing import Account


_CHOOSE_ONE = "Choose one requester."


class NoteForm(forms.Form):
    note = forms.CharField(
        max_length=200,
        required=False,
        help_text="The program that signs requests with this key.",
    )


class DepositForm(forms.Form):
    dollars = forms.DecimalField(
        min_value=Decimal("0.01"),
        max_value=Decimal(access_keys.MAX_DEPOSIT_CENTS) / 100,
        decimal_places=2,
    )
    reference = forms.CharField(
        max_length=100,
        help_text=(
            "The reference of the invoice or transfer. The same reference counts only "
            "once."
        ),
    )


class PeopleForm(forms.Form):
    accounts = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "cols": 40}),
        help_text="User names, one per line. Anyone you leave out loses access.",
    )

    def clean_accounts(self) -> list[Any]:
        names = {line.strip() for line in self.cleaned_data["accounts"].splitlines()}
        names.discard("")
        found = get_user_model().objects.filter(username__in=names, is_active=True)
        missing = sorted(names - {user.get_username() for user in found})
        if missing:
            raise forms.ValidationError(f"There is no account {missing[0]}.")
        return list(found)


def _make_key(
    model_admin: Any, request: HttpRequest, requesters: list[Requester], **said: str
) -> HttpResponse:
    [requester] = requesters
    key, secret = access_keys.create_key(requester, person(request), said["note"])
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "title": f"Access key for {requester.name}",
        "key": key,
        "secret": secret,
        "media": model_admin.media,
    }
    return TemplateResponse(request, "admin/crowd/requester/key.html", context)


def _deposit(
    requester: Requester, by: Account, dollars: Decimal, reference: str
) -> str:
    entry = access_keys.deposit(requester, int(dollars * 100), key=reference, by=by)
    return f"Added {crowd_money.dollars(entry.amount_cents)} to the account."


def _set_people(requester: Requester, by: Account, accounts: list[Any]) -> str:
    requester.people.set(accounts)
    sentence = f"The page is open to: {_names(requester)}."
    note(by, requester, sentence)
    return sentence


def _names(requester: Requester) -> str:
    names = sorted(user.get_username() for user in requester.people.all())
    return ", ".join(names) or "no users"


class EntryInline(admin.TabularInline):  # type: ignore[type-arg]
    model = RequesterEntry
    fields = readonly_fields = ("created_at", "kind", "amount", "key")
    extra = 0
    max_num = 0
    can_delete = False

    @admin.display(description="amount")
    def amount(self, entry: RequesterEntry) -> str:
        return signed_dollars(entry.amount_cents)


@admin.register(Requester)
class RequesterAdmin(ReadOnlyAdmin):
    list_display = ["name", "customer_id", "created_at", "accounts"]
    search_fields = ["name", "customer_id"]
    fields = ["name"]
    actions = [
        Action(
            "make_key",
            "Create an access key for the selected requester …",
            title="Create an access key",
            sentence="Anyone with the key can post HITs and spend this requester's money. "
            "The secret is shown only once, on the next page.",
            button="Create key",
            form=NoteForm,
            single=_CHOOSE_ONE,
            every=_make_key,
        ),
        Action(
            "deposit",
            "Add money to the account of the selected requester …",
            title="Add money to the account",
            sentence="The requester can post HITs up to the account balance.",
            button="Add money",
            form=DepositForm,
            single=_CHOOSE_ONE,
            service=_deposit,
        ),
        Action(
            "set_people",
            "Choose who can open the page of the selected requester …",
            title="Choose who can open the requester's page",
            sentence="These accounts can create access keys, post HITs and spend this "
            "requester's money on the page /requester/.",
            button="Save",
            form=PeopleForm,
            single=_CHOOSE_ONE,
            line=lambda row: Line(row.pk, row.name, f"now: {_names(row)}"),
            service=_set_people,
        ),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Requester]:
        rows: QuerySet[Requester] = super().get_queryset(request)
        return rows.prefetch_related("people")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("crowd.add_requester")

    def get_inlines(self, request: HttpRequest, obj: Model | None) -> Any:
        return [EntryInline] if obj is not None else []

    def line_of(self, requester: Requester) -> Line:
        return Line(requester.pk, requester.name)

    @admin.display(description="accounts")
    def accounts(self, requester: Requester) -> str:
        return _names(requester)


@admin.register(AccessKey)
class AccessKeyAdmin(ReadOnlyAdmin):
    list_display = ["key_id", "requester", "note", "created_by", "created_at", "revoked_at"]  # fmt: skip
    list_filter = [("revoked_at", admin.EmptyFieldListFilter), "requester"]
    list_select_related = ["requester", "created_by"]
    search_fields = ["key_id", "note"]
    actions = [
        Action(
            "revoke_selected",
            "Revoke the selected keys …",
            title="Revoke access keys",
            sentence="From now on, requests signed with these keys are refused. This "
            "cannot be undone.",
            button="Revoke",
            allowed=Q(revoked_at=None),
            otherwise="All of them are already revoked.",
            service=access_keys.revoke_key,
            done="Revoked {n}.",
        )
    ]

    def line_of(self, key: AccessKey) -> Line:
        return Line(key.pk, key.key_id, key.requester.name)


class AdminBatchForm(BatchForm):
    requester = forms.ModelChoiceField(Requester.objects.order_by("name"))
    field_order = ("requester",)


def _stop(batch: RequesterBatch, by: Account, reason: str) -> int:
    n = batches.stop(batch)
    note(by, batch, f"Stopped {n} HITs.", reason)
    return n


@admin.register(RequesterBatch)
class RequesterBatchAdmin(ReadOnlyAdmin):
    list_display = ["name", "requester", "created_at", "created_by", "n_hits", "n_answers", "results"]  # fmt: skip
    list_filter = ["requester"]
    list_select_related = ["requester", "created_by"]
    search_fields = ["name"]
    actions = [
        Action(
            "stop_selected",
            "Stop the selected batches …",
            title="Stop batches",
            sentence="Workers can finish HITs that they have accepted, but cannot accept "
            "more.",
            button="Stop",
            service=_stop,
            done="Stopped {n} HITs.",
        )
    ]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("crowd.add_requesterbatch")

    def get_queryset(self, request: HttpRequest) -> QuerySet[RequesterBatch]:
        rows: QuerySet[RequesterBatch] = super().get_queryset(request)
        sent = Q(hits__assignments__submitted_at__isnull=False)
        return rows.annotate(
            n_rows=Count("hits", distinct=True),
            n_work=Count("hits__assignments", filter=sent, distinct=True),
        )

    def get_urls(self) -> list[URLPattern]:
        results = self.admin_site.admin_view(self.results_view)
        reviews = self.admin_site.admin_view(self.review_view)
        name = "crowd_requesterbatch"
        return [
            path("<int:pk>/results.csv", results, name=f"{name}_results"),
            path("<int:pk>/review/", reviews, name=f"{name}_review"),
            *super().get_urls(),
        ]

    @admin.display(description="HITs")
    def n_hits(self, batch: RequesterBatch) -> int:
        count: int = batch.n_rows  # type: ignore[attr-defined]
        return count

    @admin.display(description="answers")
    def n_answers(self, batch: RequesterBatch) -> int:
        count: int = batch.n_work  # type: ignore[attr-defined]
        return count

    @admin.display(description="results")
    def results(self, batch: RequesterBatch) -> SafeString:
        results, review_ = (
            reverse(f"admin:crowd_requesterbatch_{name}", args=[batch.pk])
            for name in ("results", "review")
        )
        links = '<a href="{}">CSV</a> · <a href="{}">Review</a>'
        return format_html(links, results, review_)

    def review_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        return review(self, request, pk)

    def results_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        batch = self.get_object(request, str(pk))
        if not self.has_view_permission(request, batch):
            raise PermissionDenied
        if batch is None:
            return redirect("admin:crowd_requesterbatch_changelist")
        text = results_csv(batch, clock.now())
        name = f"batch-{batch.pk}-results.csv"
        return file_named(name, text, "text/csv; charset=utf-8")

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        posted = request.method == "POST"
        form = (
            AdminBatchForm(request.POST, request.FILES) if posted else AdminBatchForm()
        )
        draft = None
        if form.is_bound and form.is_valid():
            try:
                draft = form.draft()
                if "confirmed" in request.POST:
                    return self._post(request, form, draft)
            except GenieError as error:
                form.add_error(None, error.message)
                draft = None
        return self._confirmation(request, form, draft)

    def _post(
        self, request: HttpRequest, form: AdminBatchForm, draft: batches.Draft
    ) -> HttpResponse:
        cleaned = form.cleaned_data
        batch = batches.post(
            cleaned["requester"], cleaned["name"], form.terms(), draft, person(request)
        )
        cost = dollars(draft.cost_cents)
        note(person(request), batch, f"Posted {len(draft.questions)} HITs for {cost}.")
        sentence = f"Posted {len(draft.questions)} HITs, which cost at most {cost}."
        self.message_user(request, sentence, messages.SUCCESS)
        return redirect("admin:crowd_requesterbatch_changelist")

    def _confirmation(
        self, request: HttpRequest, form: AdminBatchForm, draft: batches.Draft | None
    ) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "Post a table as HITs",
            "form": form,
            "made": draft,
            "media": self.media,
        }
        if draft is not None:
            requester = form.cleaned_data["requester"]
            settle(requester, clock.now())
            left = money.account(requester).available
            hidden = {name: form.cleaned_data[name] for name in ("page", "table")}
            context |= {
                "left": left,
                "hidden": hidden,
                "short": left < draft.cost_cents,
            }
        return TemplateResponse(request, "admin/crowd/requesterbatch/add.html", context)


def review(model_admin: Any, request: HttpRequest, pk: int) -> HttpResponse:
    batch = RequesterBatch.objects.filter(pk=pk).select_related("requester").first()
    if not model_admin.may(request, "change"):
        raise PermissionDenied
    if batch is None:
        raise Http404("There is no such batch.")
    form = ReviewForm(request.POST or None, request.FILES or None)
    if form.is_bound and form.is_valid():
        try:
            done = apply_reviews(batch, read_reviews(form.cleaned_data["table_file"]))
        except GenieError as error:
            form.add_error("table_file", error.message)
        else:
            sentence = (
                f"Approved {done.n_approved}, rejected {done.n_rejected}; "
                f"{done.n_before} already had the same decision."
            )
            note(person(request), batch, sentence)
            messages.success(request, sentence)
            return redirect("admin:crowd_requesterbatch_changelist")
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "title": f"Review {batch.name}",
        "form": form,
        "made": None,
        "button": "Submit decisions",
        "media": model_admin.media,
    }
    return TemplateResponse(request, "admin/crowd/requesterbatch/add.html", context)


PAID = Action(
    "mark_paid_selected",
    "Mark the selected as paid …",
    title="Mark as paid",
    sentence="Confirm that the workers received this money outside a payout file. Only "
    "approved, unpaid work that is not in a payout is listed.",
    button="Mark as paid",
    form=ReferenceForm,
    allowed=Q(paid_at=None, payout=None),
    otherwise="There is no work to pay.",
    every=mark_paid,
    done="Marked {n} as paid.",
)


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
            sentence="Undelivered events are sent again within a minute.",
            button="Redeliver",
            service=lambda event, by, reason: bool(
                RUNNER.retry(RequesterEvent.objects.filter(pk=event.pk, sent_at=None))
            ),
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
