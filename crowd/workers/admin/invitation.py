from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db import transaction
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from crowd.hits.models import Campaign
from crowd.workers.admin.groups import names_or_none
from crowd.workers.models.worker import Invitation
from crowd.workers.services import invitations
from genie.lib.admin import ReadOnlyAdmin, adding, filled_in, person
from genie.lib.errors import GenieError

if TYPE_CHECKING:
    from django.db.models import QuerySet


MAX_FILE_BYTES = 1 << 20


def _tasks() -> list[tuple[str, str]]:
    pools = Campaign.objects.order_by("pool").values_list("pool", flat=True)
    return [(pool, pool) for pool in pools.distinct()]


class InvitationForm(forms.Form):
    note = forms.CharField(
        max_length=200, required=False, help_text="Who it is for; only staff see this."
    )
    places = forms.IntegerField(
        min_value=1,
        max_value=10_000,
        initial=1,
        label="People for each link",
        help_text="With more than one, everybody uses the same link.",
    )
    n_links = forms.IntegerField(
        min_value=1, max_value=500, initial=1, label="Number of links"
    )
    code = forms.CharField(
        max_length=40,
        required=False,
        help_text="Optional: newcomers must type it in, where strangers could see the link.",
    )
    days = forms.IntegerField(
        min_value=1, max_value=365, initial=14, label="Days until it expires"
    )

    limited_to = forms.MultipleChoiceField(
        choices=_tasks,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Only for the work of",
        help_text="Leave empty for all work, requesters' work included.",
    )
    group = forms.ChoiceField(
        choices=names_or_none,
        required=False,
        label="Qualification or group",
        help_text="Newcomers have it from the start.",
    )
    people = forms.FileField(
        required=False,
        label="Invite by e-mail",
        help_text=(
            "CSV, a line for each person: e-mail address, and if you like a note and the "
            "language of the letter (de, fr, …). Each gets a link of their own, instead of "
            "the links above."
        ),
    )

    def clean_people(self) -> list[tuple[str, str, str]]:
        file = self.cleaned_data["people"]
        if not file:
            return []
        if file.size > MAX_FILE_BYTES:
            raise forms.ValidationError("The file is larger than 1 MB.")
        try:
            return invitations.addresses(file.read().decode("utf-8"))
        except UnicodeDecodeError:
            raise forms.ValidationError("The file is not UTF-8 text.") from None
        except GenieError as error:
            raise forms.ValidationError(error.message) from error


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "created_by", "created_at", "expires_at", "places", "n_taken", "group", "limited_to", "came"]  # fmt: skip
    list_select_related = ["created_by"]
    readonly_fields = ["came"]
    list_filter = [("used_at", admin.EmptyFieldListFilter)]
    search_fields = ["note"]
    exclude = ["token_sha256", "guests"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Invitation]:
        return super().get_queryset(request).prefetch_related("workers")

    @admin.display(description="workers")
    def came(self, invitation: Invitation) -> str:
        return ", ".join(map(str, invitation.workers.all())) or "–"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("crowd.add_invitation")

    def has_delete_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow deleting unused ones, except the last that keeps work closed."""
        unused = not isinstance(obj, Invitation) or (
            obj.n_taken == 0
            and obj.campaign_id is None
            and (
                not obj.pool
                or Invitation.objects.filter(pool=obj.pool).exclude(pk=obj.pk).exists()
            )
        )
        return unused and request.user.has_perm("crowd.delete_invitation")

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {}

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        form, right = filled_in(self, request, InvitationForm)
        links: list[str] = []
        n_mails = 0
        if right:
            links, n_mails = self._made(request, form.cleaned_data)
        return adding(
            self,
            request,
            form,
            title="Invite workers",
            button="Create",
            page="admin/crowd/invitation/add.html",
            links=links,
            n_mails=n_mails,
        )

    def _made(
        self, request: HttpRequest, wanted: dict[str, Any]
    ) -> tuple[list[str], int]:
        by, people, n_links = person(request), wanted.pop("people"), wanted.pop("n_links")  # fmt: skip
        with transaction.atomic():
            for mail, note, language in people:
                one = {"places": 1, "mail": mail, "note": note or mail}
                one["language"] = language
                invitations.invite(by, **{**wanted, **one})
            if people:
                return [], len(people)
            tokens = [invitations.invite(by, **wanted) for _ in range(n_links)]
        address = request.build_absolute_uri
        return [address(reverse("work:invitation", args=[one])) for one in tokens], 0
