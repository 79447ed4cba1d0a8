from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth import get_user_model
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from crowd.requester.models import AccessKey, Requester, RequesterEntry
from crowd.requester.services import access_keys
from crowd.templatetags.crowd_money import dollars, signed_dollars
from genie.lib.admin import (
    Line,
    Question,
    ReadOnlyAdmin,
    ReasonForm,
    confirmed_form,
    note,
    person,
)

if TYPE_CHECKING:
    from django.db.models import QuerySet


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


KEY = Question(
    title="Create an access key",
    sentence=(
        "Anyone with the key can post HITs and spend money in this requester's name. "
        "The secret is shown once, on the next page."
    ),
    button="Create key",
    action="make_key",
    form=NoteForm,
)
DEPOSIT = Question(
    title="Add money to the account",
    sentence="The requester can post HITs up to the account balance.",
    button="Add money",
    action="deposit",
    form=DepositForm,
)
REVOKE = Question(
    title="Revoke access keys",
    sentence=(
        "Requests signed with these keys are refused from now on. This cannot be "
        "undone."
    ),
    button="Revoke",
    action="revoke_selected",
    form=ReasonForm,
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


PEOPLE = Question(
    title="Choose who opens the requester's page",
    sentence=(
        "These accounts can make access keys, post HITs and spend this requester's "
        "money on the page /requester/."
    ),
    button="Save",
    action="set_people",
    form=PeopleForm,
)


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
    act_permission = "crowd.change_requester"
    list_display = ["name", "customer_id", "created_at", "accounts"]
    search_fields = ["name", "customer_id"]
    fields = ["name"]
    actions = ["make_key", "deposit", "set_people"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Requester]:
        rows: QuerySet[Requester] = super().get_queryset(request)
        return rows.prefetch_related("people")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("crowd.add_requester")

    def get_inlines(self, request: HttpRequest, obj: Model | None) -> Any:
        return [EntryInline] if obj is not None else []

    @admin.action(
        description="Create an access key for the selected requester …",
        permissions=["act"],
    )
    def make_key(
        self, request: HttpRequest, queryset: QuerySet[Requester]
    ) -> HttpResponse | None:
        requester = self._only_one(request, queryset)
        if requester is None:
            return None
        form = confirmed_form(self, request, KEY, [Line(requester.pk, requester.name)])
        if isinstance(form, HttpResponse):
            return form
        key, secret = access_keys.create_key(
            requester, person(request), form.cleaned_data["note"]
        )
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"Access key for {requester.name}",
            "key": key,
            "secret": secret,
            "media": self.media,
        }
        return TemplateResponse(request, "admin/crowd/requester/key.html", context)

    @admin.action(
        description="Add money to the account of the selected requester …",
        permissions=["act"],
    )
    def deposit(
        self, request: HttpRequest, queryset: QuerySet[Requester]
    ) -> HttpResponse | None:
        requester = self._only_one(request, queryset)
        if requester is None:
            return None
        form = confirmed_form(
            self, request, DEPOSIT, [Line(requester.pk, requester.name)]
        )
        if isinstance(form, HttpResponse):
            return form
        cents = int(form.cleaned_data["dollars"] * 100)
        entry = access_keys.deposit(
            requester, cents, key=form.cleaned_data["reference"], by=person(request)
        )
        sentence = f"Added {dollars(entry.amount_cents)} to the account."
        self.message_user(request, sentence, messages.SUCCESS)
        return None

    @admin.action(
        description="Choose who opens the page of the selected requester …",
        permissions=["act"],
    )
    def set_people(
        self, request: HttpRequest, queryset: QuerySet[Requester]
    ) -> HttpResponse | None:
        requester = self._only_one(request, queryset)
        if requester is None:
            return None
        line = Line(requester.pk, requester.name, f"now: {self.accounts(requester)}")
        form = confirmed_form(self, request, PEOPLE, [line])
        if isinstance(form, HttpResponse):
            return form
        requester.people.set(form.cleaned_data["accounts"])
        sentence = f"The page is open to: {self.accounts(requester)}."
        note(person(request), requester, sentence)
        self.message_user(request, sentence, messages.SUCCESS)
        return None

    @admin.display(description="accounts")
    def accounts(self, requester: Requester) -> str:
        names = sorted(user.get_username() for user in requester.people.all())
        return ", ".join(names) or "nobody"

    def _only_one(
        self, request: HttpRequest, queryset: QuerySet[Requester]
    ) -> Requester | None:
        chosen = list(queryset[:2])
        if len(chosen) == 1:
            return chosen[0]
        self.message_user(request, "Choose one requester.", messages.WARNING)
        return None


@admin.register(AccessKey)
class AccessKeyAdmin(ReadOnlyAdmin):
    act_permission = "crowd.change_accesskey"
    list_display = ["key_id", "requester", "note", "created_by", "created_at", "revoked_at"]  # fmt: skip
    list_filter = [("revoked_at", admin.EmptyFieldListFilter), "requester"]
    list_select_related = ["requester", "created_by"]
    search_fields = ["key_id", "note"]
    actions = ["revoke_selected"]

    @admin.action(description="Revoke the selected keys …", permissions=["act"])
    def revoke_selected(
        self, request: HttpRequest, queryset: QuerySet[AccessKey]
    ) -> HttpResponse | None:
        keys = list(queryset.filter(revoked_at=None).select_related("requester"))
        if not keys:
            self.message_user(
                request, "All of them are already revoked.", messages.WARNING
            )
            return None
        lines = [Line(key.pk, key.key_id, key.requester.name) for key in keys]
        form = confirmed_form(self, request, REVOKE, lines)
        if isinstance(form, HttpResponse):
            return form
        reason = form.cleaned_data["reason"]
        n = sum(access_keys.revoke_key(key, person(request), reason) for key in keys)
        self.message_user(request, f"Revoked {n}.", messages.SUCCESS)
        return None
