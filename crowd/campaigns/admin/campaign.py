from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html

from crowd.campaigns.admin.add_money import ADD_MONEY, UNDER_WAY
from crowd.campaigns.admin.change_reward import CHANGE_REWARD
from crowd.campaigns.admin.more_answers import ASK_FOR_MORE
from crowd.campaigns.services import run, shares
from crowd.campaigns.services.staff_notices import is_too_fast
from crowd.elsewhere.models import ExternalCampaign
from crowd.hits.models import Campaign, HITType
from crowd.hits.selectors import CampaignProgress, progress_of, state_words
from crowd.money.admin.fair_pay import MAKE_UP
from crowd.templatetags.crowd_money import dollars
from genie.accounts.task_admin import OfTask
from genie.lib.admin import ReadOnlyAdmin
from genie.lib.staff_actions import Action, Line, ReasonForm

State = Campaign.State


class StopForm(ReasonForm):
    publish = forms.TypedChoiceField(
        label="Results so far",
        choices=[
            ("yes", "Publish them, marked as partial and without a rank"),
            ("no", "Do not publish them; keep the answers"),
        ],
        coerce=lambda choice: choice == "yes",
        widget=forms.RadioSelect,
        help_text="Results that are already published stay published.",
    )
    field_order = ("publish", "reason")


def _stop(
    model_admin: CampaignAdmin, request: HttpRequest, campaigns: list[Campaign]
) -> HttpResponse | None:
    model_admin.look_up(campaigns)
    lines = [Line(c.pk, c.title, model_admin.answered(c)) for c in campaigns]
    spent = sum(_of(c).spent_cents for c in campaigns)
    totals = [("Spent so far", dollars(spent))]
    form = STOP.ask(model_admin, request, lines, totals)
    if isinstance(form, HttpResponse):
        return form
    n = STOP.act(model_admin, request, campaigns, **form.cleaned_data)
    n_all = len(campaigns)
    STOP.report(model_admin, request, n, n_all, n_all - n)
    return None


CHANGED: dict[str, Any] = {
    "done": "{n} {rows} changed.",
    "left": "{n_left} not changed: their state does not allow it.",
}
STOP = Action(
    "stop_selected",
    "Stop the selected campaigns …",
    title="Stop campaigns",
    sentence=(
        "These campaigns offer no more HITs. HITs that workers have open can still be "
        "submitted; until then a campaign of this site can be resumed. Submitted work "
        "stays paid."
    ),
    button="Stop",
    form=StopForm,
    danger=True,
    allowed=UNDER_WAY,
    run=_stop,
    service=lambda campaign, by, reason, publish: run.stop(
        campaign.pk, by, reason, publish=publish
    ),
    on_page="Stop …",
    **CHANGED,
)


@admin.register(Campaign)
class CampaignAdmin(OfTask, ReadOnlyAdmin):
    change_form_template = "admin/crowd/campaign/change_form.html"
    list_display = [
        "title",
        "where",
        "state_now",
        "answered",
        "at_work",
        "money",
        "hourly",
        "starts_at",
        "notice",
    ]
    list_filter = ["state", "platform", "simulated", "pool", "starts_at"]
    list_select_related = ["hit_type"]
    # Each row's figures are summed from its answers.
    list_per_page = 25
    search_fields = ["title", "key", "pool"]
    readonly_fields = [
        "answered",
        "at_work",
        "spent",
        "committed",
        "budget",
        "pace",
        "hourly",
        "share",
        "hits",
        "elsewhere",
    ]
    # `share` and `budget` show these in words, and so does the page above the form.
    exclude = [
        "worker_share",
        "share_follows_crowd",
        "hits_per_worker",
        "budget_cents",
        "notice",
    ]
    actions = [
        Action(
            "start_selected",
            "Start the selected campaigns now …",
            title="Start campaigns now",
            sentence="Workers can take their HITs at once, whatever start was planned.",
            button="Start campaigns",
            allowed=Q(state=State.SCHEDULED),
            service=lambda campaign, by, reason: run.start(campaign, by, reason),
            on_page="Start now",
            **CHANGED,
        ),
        Action(
            "pause_selected",
            "Pause the selected campaigns …",
            title="Pause campaigns",
            sentence=(
                "These campaigns offer no new HITs until they are resumed; HITs that "
                "workers have open can be finished."
            ),
            button="Pause campaigns",
            allowed=Q(state__in=[State.SCHEDULED, State.RUNNING]),
            service=lambda campaign, by, reason: run.pause(campaign.pk, by, reason),
            on_page="Pause",
            **CHANGED,
        ),
        Action(
            "resume_selected",
            "Resume the selected campaigns …",
            title="Resume campaigns",
            sentence="These campaigns offer HITs again.",
            button="Resume campaigns",
            allowed=Q(state=State.PAUSED)
            | Q(state=State.STOPPED, completed_at=None, platform=run.HERE),
            service=lambda campaign, by, reason: run.resume(campaign.pk, by, reason),
            on_page="Resume",
            **CHANGED,
        ),
        ADD_MONEY,
        ASK_FOR_MORE,
        CHANGE_REWARD,
        Action(
            "lift_share_selected",
            "Lift the limit per worker of the selected campaigns …",
            title="Lift the limit per worker",
            sentence=(
                "Each worker may then do as many HITs of these campaigns as they like. "
                "Scores rest on fewer people and hold less for others."
            ),
            button="Lift the limit",
            allowed=UNDER_WAY & Q(worker_share__isnull=False),
            service=lambda campaign, by, reason: shares.lift(campaign.pk, by, reason),
            on_page="Lift the limit per worker …",
            **CHANGED,
        ),
        STOP,
        MAKE_UP,
    ]

    def look_up(self, rows: list[Campaign]) -> None:
        for row, figures in zip(rows, _figures(rows), strict=True):
            row.figures = figures  # type: ignore[attr-defined]

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        campaign = super().get_object(request, *args, **kwargs)
        if campaign is not None:
            self.look_up([campaign])
        return campaign

    @admin.display(description="answered")
    def answered(self, campaign: Campaign) -> str:
        p = _of(campaign)
        share = f" ({100 * p.n_answers // p.n_asked} %)" if p.n_asked else ""
        return f"{p.n_answers:,} of {p.n_asked:,}{share}"

    @admin.display(description="open / available")
    def at_work(self, campaign: Campaign) -> str:
        return f"{_of(campaign).n_open:,} / {_of(campaign).n_waiting:,}"

    @admin.display(description="state", ordering="state")
    def state_now(self, campaign: Campaign) -> str:
        return state_words(campaign)

    @admin.display(description="platform", ordering="platform")
    def where(self, campaign: Campaign) -> str:
        return f"{campaign.platform}{', simulated' if campaign.simulated else ''}"

    @admin.display(description="spent of budget", ordering="budget_cents")
    def money(self, campaign: Campaign) -> str:
        return f"{self.spent(campaign)} of {dollars(campaign.budget_cents)}"

    @admin.display(description="spent")
    def spent(self, campaign: Campaign) -> str:
        return dollars(_of(campaign).spent_cents)

    @admin.display(description="spent and committed")
    def committed(self, campaign: Campaign) -> str:
        return dollars(_of(campaign).committed_cents)

    @admin.display(description="budget", ordering="budget_cents")
    def budget(self, campaign: Campaign) -> str:
        return dollars(campaign.budget_cents)

    @admin.display(description="median active time")
    def pace(self, campaign: Campaign) -> str:
        seconds = _of(campaign).median_active_seconds
        return "not known yet" if seconds is None else f"{seconds:.1f} s"

    @admin.display(description="hourly pay")
    def hourly(self, campaign: Campaign) -> str:
        if campaign.hit_type.reward_cents == 0:
            return "unpaid"
        cents = _of(campaign).hourly_cents
        if cents is None:
            return "–"
        floor = int(settings.GENIE["MINIMUM_HOURLY_CENTS"])
        low = f", below {dollars(floor)}" if cents < floor else ""
        fast = ", faster than reading" if is_too_fast(campaign) else ""
        return f"{dollars(cents)}{low}{fast}"

    @admin.display(description="limit per worker")
    def share(self, campaign: Campaign) -> str:
        if campaign.worker_share is None:
            return "none"
        planned = f"{100 * campaign.worker_share:.0f} %"
        small = ", more in a small crowd" if campaign.share_follows_crowd else ""
        if campaign.hits_per_worker is None:
            return f"{planned}{small}; nobody is here yet"
        n = campaign.hits_per_worker
        return f"{n:,} HIT{'' if n == 1 else 's'} ({planned}{small})"

    @admin.display(description="HITs")
    def hits(self, campaign: Campaign) -> str:
        address = reverse("admin:crowd_hit_changelist")
        return format_html(
            '<a href="{}?campaign__id__exact={}">all HITs of this campaign</a>',
            address,
            campaign.pk,
        )

    @admin.display(description="platform status")
    def elsewhere(self, campaign: Campaign) -> str:
        place = ExternalCampaign.objects.filter(campaign=campaign).first()
        if place is None:
            return "–"
        address = reverse("admin:crowd_externalcampaign_change", args=[place.pk])
        return format_html(
            '<a href="{}">{}</a> {}',
            address,
            "open" if place.is_open else "closed",
            place.trouble,
        )


@admin.register(HITType)
class HITTypeAdmin(ReadOnlyAdmin):
    list_display = ["title", "template", "scale", "reward", "assignment_seconds"]
    list_filter = ["template", "scale"]
    search_fields = ["title"]

    @admin.display(description="reward", ordering="reward_cents")
    def reward(self, hit_type: HITType) -> str:
        return dollars(hit_type.reward_cents)


def _figures(campaigns: list[Campaign]) -> list[CampaignProgress]:
    figures_of = progress_of(campaigns, whole_hits=False)
    return [figures_of[campaign.pk] for campaign in campaigns]


def _of(campaign: Campaign) -> CampaignProgress:
    figures: CampaignProgress = campaign.figures  # type: ignore[attr-defined]
    return figures
