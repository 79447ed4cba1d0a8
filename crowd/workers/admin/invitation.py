"""Invitations: links by which people become workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db import transaction
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from crowd.workers.models.worker import Invitation
from crowd.workers.services import invitations
from genie.lib.admin.adding import adding, filled_in
from genie.lib.admin.rows import ReadOnlyAdmin, person

if TYPE_CHECKING:
    from django.db.models import QuerySet


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


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "created_by", "created_at", "expires_at", "places", "n_taken", "came"]  # fmt: skip
    list_select_related = ["created_by"]
    readonly_fields = ["came"]
    list_filter = [("used_at", admin.EmptyFieldListFilter)]
    search_fields = ["note"]
    exclude = ["token_sha256", "guests"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Invitation]:
        return super().get_queryset(request).prefetch_related("workers")

    @admin.display(description="workers")
    def came(self, invitation: Invitation) -> str:
        """Name those who came by it."""
        return ", ".join(map(str, invitation.workers.all())) or "–"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("crowd.add_invitation")

    def has_delete_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow to take back what nobody has used; what keeps a campaign closed stays."""
        unused = not isinstance(obj, Invitation) or (
            obj.n_taken == 0 and obj.campaign_id is None
        )
        return unused and request.user.has_perm("crowd.delete_invitation")

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Offer no deletion of many: used invitations say who came by them."""
        return {}

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Make invitations and show their links, this once."""
        form, right = filled_in(self, request, InvitationForm)
        links = []
        if right:
            n_links = form.cleaned_data.pop("n_links")
            with transaction.atomic():
                tokens = [
                    invitations.invite(person(request), **form.cleaned_data)
                    for _ in range(n_links)
                ]
            links = [
                request.build_absolute_uri(reverse("work:invitation", args=[token]))
                for token in tokens
            ]
        return adding(
            self,
            request,
            form,
            title="Invite workers",
            button="Create",
            page="admin/crowd/invitation/add.html",
            links=links,
        )
