from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db.models import Model, Q
from django.http import HttpRequest

from crowd.money.admin import ReferenceForm, mark_paid
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
from crowd.requester.services import access_keys
from crowd.requester.services.deliver import RUNNER
from crowd.templatetags import crowd_money
from crowd.templatetags.crowd_money import dollars, signed_dollars
from genie.lib.admin import AsksWhy, ReadOnlyAdmin, note
from genie.lib.staff_actions import Action, Line

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from genie.lib.typing import Account


_CHOOSE_ONE = "Choose one requester."


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


@admin.register(RequesterBatch)
class RequesterBatchAdmin(ReadOnlyAdmin):
    list_display = ["name", "requester", "created_at", "created_by"]
    list_filter = ["requester"]
    list_select_related = ["requester", "created_by"]
    search_fields = ["name"]


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
    list_display = ["entity_id", "hit__requester", "worker__worker", "state", "hit__reward_cents", "submitted_at", "paid_at", "payment_reference"]  # fmt: skip
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
        return Line(row.pk, str(row.worker.worker), dollars(row.hit.reward_cents))


@admin.register(RequesterBonus)
class RequesterBonusAdmin(ReadOnlyAdmin):
    list_display = ["pk", "assignment__worker__worker", "amount_cents", "reason", "granted_at", "paid_at", "payment_reference"]  # fmt: skip
    list_filter = [("paid_at", admin.EmptyFieldListFilter)]
    list_select_related = ["assignment__worker__worker"]
    ordering = ["-pk"]
    actions = [PAID]

    def line_of(self, row: RequesterBonus) -> Line:
        return Line(
            row.pk, str(row.assignment.worker.worker), dollars(row.amount_cents)
        )


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
