from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join

from crowd.elsewhere.models import (
    ExternalCampaign,
    ExternalSession,
    OutwardCall,
    PanelSource,
)
from crowd.elsewhere.services import study_places, sync
from crowd.elsewhere.services.decisions import note_bonus
from crowd.elsewhere.services.visits import PANEL, options_of
from crowd.hits.models import Campaign
from crowd.hits.selectors import progress_of
from crowd.platforms.base import get
from crowd.templatetags.crowd_money import dollars
from genie.accounts.task_admin import OfTask
from genie.lib import jobs
from genie.lib.admin import AsksWhy, ReadOnlyAdmin, note
from genie.lib.errors import GenieError
from genie.lib.staff_actions import Action, Line

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser


OFFERED = (Campaign.State.SCHEDULED, Campaign.State.RUNNING, Campaign.State.PAUSED)


class PanelForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = PanelSource
        fields = "__all__"  # noqa: DJ007 - staff set all of it, and nothing else has it
        widgets = {"link_secret": forms.PasswordInput(render_value=True)}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors:
            names = [field.name for field in PanelSource._meta.concrete_fields]
            values = {name: cleaned[name] for name in names if name in cleaned}
            values["name"] = values.get("name", self.instance.name)
            try:
                get(PANEL, options_of(PanelSource(**values)))
            except GenieError as error:
                raise forms.ValidationError(error.message) from error
        return cleaned


@admin.register(PanelSource)
class PanelSourceAdmin(AsksWhy):
    form = PanelForm
    list_display = ["title", "name", "worker_parameter", "is_open", "is_signed"]
    readonly_fields = ["links"]
    # Panels are closed, not deleted, because visits refer to them.
    actions: Any = []

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        # Pseudonyms are derived from the name, so a new name would make everyone
        # unknown.
        return ["name", *self.readonly_fields] if obj is not None else []

    @admin.display(description="signed links only", boolean=True)
    def is_signed(self, panel: PanelSource) -> bool:
        return bool(panel.link_secret)

    @admin.display(description="links for the panel")
    def links(self, panel: PanelSource) -> str:
        campaigns = Campaign.objects.filter(platform=PANEL, state__in=OFFERED)
        rows = [
            (campaign.title, _link(panel, campaign))
            for campaign in campaigns.order_by("-pk")
        ]
        if not rows:
            return "No campaign uses panels at the moment."
        return format_html(
            "<ul>{}</ul>", format_html_join("", "<li>{}<br><code>{}</code></li>", rows)
        )


def _link(panel: PanelSource, campaign: Campaign) -> str:
    address = reverse("work:panel", args=[panel.name, campaign.pk])
    names = [panel.worker_parameter, panel.session_parameter, panel.study_parameter]
    marks = "&".join(f"{name}=…" for name in names if name)
    return f"{str(settings.GENIE['SITE_URL']).rstrip('/')}{address}?{marks}"


# Staff settle calls whose outcome the ledger cannot determine.
Kind = OutwardCall.Kind
State = OutwardCall.State


@transaction.atomic
def confirm_payment(pk: int, by: AbstractBaseUser, reference: str) -> bool:
    """Store that a bonus of unknown outcome was paid, as staff saw on the platform."""
    reference = reference.strip()
    if not reference:
        raise GenieError(
            "Enter the platform's reference, so that the payment can be found again.",
            code="reference-missing",
        )
    done = OutwardCall.objects.filter(
        pk=pk, kind=Kind.BONUS, state=State.SENDING
    ).update(
        state=State.DONE,
        platform_id=reference[:100],
        done_at=timezone.now(),
        trouble="",
    )
    return _record_change(pk, by, f"Confirmed as carried out: {reference}", done)


@transaction.atomic
def send_again(pk: int, by: AbstractBaseUser, reason: str) -> bool:
    """Send a call again that was refused or surely did not happen.

    The ledger itself looks up calls that may have happened and have a token.
    """
    reason = reason.strip()
    if not reason:
        raise GenieError(
            "Explain how you know that it was not carried out.", code="reason-missing"
        )
    again = (
        OutwardCall.objects.filter(pk=pk)
        .filter(Q(state=State.FAILED) | Q(kind=Kind.BONUS, state=State.SENDING))
        .update(
            state=State.PLANNED, first_sent_at=None, done_at=None, trouble="", code=""
        )
    )
    return _record_change(pk, by, f"Resent: {reason}", again)


def _record_change(pk: int, by: AbstractBaseUser, sentence: str, changed: int) -> bool:
    if changed:
        call = OutwardCall.objects.select_related("entry").get(pk=pk)
        if call.kind == Kind.BONUS:
            note_bonus(call)
        note(by, call, sentence[:300])
    return bool(changed)


class SeenForm(forms.Form):
    reference = forms.CharField(
        max_length=100,
        help_text="The platform's reference for the payment, so that it can be found again.",
    )


def _check_now(
    model_admin: Any, request: HttpRequest, rows: list[ExternalCampaign]
) -> None:
    for row in rows:
        jobs.enqueue(sync.JOB, campaign=row.campaign_id)
    model_admin.message_user(request, "The platform will be checked in a moment.")


@admin.register(ExternalCampaign)
class ExternalCampaignAdmin(OfTask, ReadOnlyAdmin):
    pool_paths = ("campaign__pool_id",)
    list_display = [
        "campaign",
        "campaign__platform",
        "environment",
        "is_open",
        "money",
        "balance_cents",
        "synced_at",
        "n_stuck",
        "trouble",
    ]
    list_filter = ["is_open", "campaign__platform", "environment", "campaign__pool"]
    list_select_related = ["campaign__hit_type"]
    # Each row's figures are summed from its answers.
    list_per_page = 50
    search_fields = ["campaign__title", "campaign__key", "platform_id"]
    readonly_fields = [
        "platform",
        "spent",
        "committed_dollars",
        "left_dollars",
        "places",
        "page",
        "sent_calls",
    ]
    exclude = ["busy_until", "url"]
    actions = [
        Action(
            "look_now",
            "Check the platform now",
            permission="crowd.change_campaign",
            run=_check_now,
        )
    ]

    def look_up(self, rows: list[ExternalCampaign]) -> None:
        figures = progress_of([row.campaign for row in rows])
        for row in rows:
            row.figures = figures[row.campaign_id]  # type: ignore[attr-defined]

    @admin.display(description="platform", ordering="campaign__platform")
    def platform(self, row: ExternalCampaign) -> str:
        return row.campaign.platform

    @admin.display(description="spent, committed, budget")
    def money(self, row: Any) -> str:
        budget = dollars(row.figures.budget_cents)
        return f"{self.spent(row)}, {self.committed_dollars(row)} of {budget}"

    @admin.display(description="spent")
    def spent(self, row: Any) -> str:
        return dollars(row.figures.spent_cents)

    @admin.display(description="spent and committed")
    def committed_dollars(self, row: Any) -> str:
        return dollars(row.figures.committed_cents)

    @admin.display(description="left in the budget")
    def left_dollars(self, row: Any) -> str:
        return dollars(row.figures.budget_cents - row.figures.committed_cents)

    @admin.display(description="problems")
    def n_stuck(self, row: ExternalCampaign) -> str:
        failed = OutwardCall.objects.filter(
            campaign=row.campaign_id, state=OutwardCall.State.FAILED
        )
        return str(failed.count() or "–")

    @admin.display(description="places")
    def places(self, row: ExternalCampaign) -> str:
        n = study_places.n_places_told(row.campaign)
        taken = row.campaign.sessions.filter(status__in=study_places.TAKEN).count()
        return f"{n:,} places of {row.place_size}, {taken:,} taken" if n else "–"

    @admin.display(description="platform page")
    def page(self, row: ExternalCampaign) -> str:
        if not row.url.startswith("https://"):
            return row.url or "–"
        return format_html('<a href="{0}">{0}</a>', row.url)

    @admin.display(description="calls and visits")
    def sent_calls(self, row: ExternalCampaign) -> str:
        return format_html(
            '<a href="{}?campaign__id__exact={}">all calls of this campaign</a>, '
            '<a href="{}?campaign__id__exact={}">all visits</a>',
            reverse("admin:crowd_outwardcall_changelist"),
            row.campaign_id,
            reverse("admin:crowd_externalsession_changelist"),
            row.campaign_id,
        )


@admin.register(OutwardCall)
class OutwardCallAdmin(OfTask, ReadOnlyAdmin):
    pool_paths = ("campaign__pool_id",)
    list_display = [
        "key",
        "kind",
        "state",
        "amount",
        "n",
        "platform_id",
        "first_sent_at",
        "done_at",
        "trouble",
    ]
    list_filter = [
        "state",
        "kind",
        "campaign__platform",
        "campaign__pool",
        "created_at",
    ]
    search_fields = ["key", "platform_id", "campaign__title"]
    ordering = ["-pk"]
    actions = [
        Action(
            "was_paid",
            "These bonuses were paid …",
            title="Confirm that bonuses were paid",
            sentence="These payments may or may not have gone through. Confirm only "
            "payments that you have seen on the platform. Other calls are checked "
            "automatically.",
            button="They were paid",
            form=SeenForm,
            permission="crowd.change_ledgerentry",
            service=lambda row, by, reference: confirm_payment(row.pk, by, reference),
            done="{n} {rows} changed.",
            left="{n_left} not changed: their state does not allow it.",
        ),
        Action(
            "send_again",
            "Resend the selected calls …",
            title="Resend",
            sentence="The platform refused these calls, or did not confirm them. Check on the platform that a bonus has not been "
            "paid. Otherwise it would be paid twice.",
            button="Resend them",
            permission="crowd.change_ledgerentry",
            service=lambda row, by, reason: send_again(row.pk, by, reason),
            done="{n} {rows} changed.",
            left="{n_left} not changed: their state does not allow it.",
        ),
    ]

    @admin.display(description="at most", ordering="amount_cents")
    def amount(self, call: OutwardCall) -> str:
        return dollars(call.amount_cents) if call.amount_cents else "–"

    def line_of(self, row: OutwardCall) -> Line:
        detail = f"{row.get_state_display()}, {dollars(row.amount_cents)}"
        return Line(row.pk, row.key, detail)


@admin.register(ExternalSession)
class ExternalSessionAdmin(OfTask, ReadOnlyAdmin):
    pool_paths = ("campaign__pool_id",)
    list_display = [
        "session_id",
        "campaign",
        "worker",
        "status",
        "is_vouched",
        "accepted_at",
        "submitted_at",
        "auto_approval_at",
        "problem",
    ]
    list_filter = [
        "status",
        "is_vouched",
        "campaign__platform",
        "campaign__pool",
        "submitted_at",
    ]
    list_select_related = ["campaign", "worker"]
    search_fields = ["session_id", "worker__pseudonym"]
