from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db.models import Model, Q
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from crowd.requester.models import AccessKey, Requester, RequesterEntry
from crowd.requester.services import access_keys
from crowd.templatetags.crowd_money import dollars as money
from crowd.templatetags.crowd_money import signed_dollars
from genie.lib.admin import ReadOnlyAdmin, note, person
from genie.lib.staff_actions import Action, Line

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from genie.lib.typing import Account

_CHOOSE_ONE = "Choose one requester."


class NoteForm(forms.Form):
    note = forms.CharField(
        max_length=200,
        required=False,
        help_text="Which program signs requests with this key.",
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
        help_text="User names, one a line. Whoever is not named loses access.",
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
    cents = int(dollars * 100)
    entry = access_keys.deposit(requester, cents, key=reference, by=by)
    return f"Added {money(entry.amount_cents)} to the account."


def _set_people(requester: Requester, by: Account, accounts: list[Any]) -> str:
    requester.people.set(accounts)
    sentence = f"The page is open to: {_names(requester)}."
    note(by, requester, sentence)
    return sentence


def _names(requester: Requester) -> str:
    names = sorted(user.get_username() for user in requester.people.all())
    return ", ".join(names) or "nobody"


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
            sentence=(
                "Anyone with the key can post HITs and spend money in this requester's "
                "name. The secret is shown once, on the next page."
            ),
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
            "Choose who opens the page of the selected requester …",
            title="Choose who opens the requester's page",
            sentence=(
                "These accounts can make access keys, post HITs and spend this "
                "requester's money on the page /requester/."
            ),
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
            sentence=(
                "Requests signed with these keys are refused from now on. This cannot "
                "be undone."
            ),
            button="Revoke",
            allowed=Q(revoked_at=None),
            otherwise="All of them are already revoked.",
            service=access_keys.revoke_key,
            done="Revoked {n}.",
        )
    ]

    def line_of(self, key: AccessKey) -> Line:
        return Line(key.pk, key.key_id, key.requester.name)
