from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join

from crowd.campaigns.admin.changes import (
    ADD_MONEY,
    ASK_FOR_MORE,
    CHANGE_REWARD,
    UNDER_WAY,
)
from crowd.campaigns.selectors.rejection_reversal import taking_back
from crowd.campaigns.services import review, run
from crowd.campaigns.services.overturn import overturn, pay_instead
from crowd.campaigns.services.run import is_too_fast, lift_share
from crowd.elsewhere.models import ExternalCampaign
from crowd.hits.models import ELSEWHERE, HIT, Assignment, Campaign, HITType, Rating
from crowd.hits.selectors import CampaignProgress, progress_of, state_words
from crowd.money.admin import MAKE_UP
from crowd.money.services import bonuses
from crowd.templatetags.crowd_money import dollars
from genie.accounts.task_admin import BY_TASK, OfTask
from genie.lib.admin import (
    Imported,
    ReadOnlyAdmin,
    ReadOnlyInline,
    SearchedApart,
    person,
)
from genie.lib.staff_actions import Action, Line, ReasonForm

if TYPE_CHECKING:
    from django.utils.safestring import SafeString

    from genie.lib.typing import Account


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
    lines = [Line(c.pk, c.title, model_admin.n_answered(c)) for c in campaigns]
    totals = [
        ("Spent so far", dollars(sum(_figures_of(c).spent_cents for c in campaigns)))
    ]
    form = STOP.ask(model_admin, request, lines, totals)
    if isinstance(form, HttpResponse):
        return form
    n = STOP.act(model_admin, request, campaigns, **form.cleaned_data)
    STOP.report(model_admin, request, n, len(campaigns))
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
        "n_answered",
        "at_work",
        "money",
        "hourly",
        "starts_at",
        "notice",
    ]
    list_filter = ["state", "platform", "simulated", BY_TASK, "starts_at", Imported.where(platform=ELSEWHERE)]  # fmt: skip
    list_select_related = ["hit_type"]
    # Each row's figures are summed from its answers.
    list_per_page = 25
    search_fields = ["title", "key", "pool__slug"]
    readonly_fields = [
        "n_answered",
        "at_work",
        "spent",
        "committed_dollars",
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
                "Scores then come from fewer people and generalize less."
            ),
            button="Lift the limit",
            allowed=UNDER_WAY & Q(worker_share__isnull=False),
            service=lambda campaign, by, reason: lift_share(campaign.pk, by, reason),
            on_page="Lift the limit per worker …",
            **CHANGED,
        ),
        STOP,
        MAKE_UP,
    ]

    def look_up(self, rows: list[Campaign]) -> None:
        for row, figures in zip(rows, _figures(rows), strict=True):
            row.figures = figures  # type: ignore[attr-defined]

    @admin.display(description="answered")
    def n_answered(self, campaign: Campaign) -> str:
        p = _figures_of(campaign)
        share = f" ({100 * p.n_answers // p.n_asked}%)" if p.n_asked else ""
        return f"{p.n_answers:,} of {p.n_asked:,}{share}"

    @admin.display(description="open / available")
    def at_work(self, campaign: Campaign) -> str:
        return f"{_figures_of(campaign).n_open:,} / {_figures_of(campaign).n_waiting:,}"

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
        return dollars(_figures_of(campaign).spent_cents)

    @admin.display(description="spent and committed")
    def committed_dollars(self, campaign: Campaign) -> str:
        return dollars(_figures_of(campaign).committed_cents)

    @admin.display(description="budget", ordering="budget_cents")
    def budget(self, campaign: Campaign) -> str:
        return dollars(campaign.budget_cents)

    @admin.display(description="median active time")
    def pace(self, campaign: Campaign) -> str:
        seconds = _figures_of(campaign).median_active_seconds
        return "not known yet" if seconds is None else f"{seconds:.1f} s"

    @admin.display(description="hourly pay")
    def hourly(self, campaign: Campaign) -> str:
        if campaign.hit_type.reward_cents == 0:
            return "unpaid"
        cents = _figures_of(campaign).hourly_cents
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
        planned = f"{100 * campaign.worker_share:.0f}%"
        small = ", more in a small crowd" if campaign.share_follows_crowd else ""
        if campaign.hits_per_worker is None:
            return f"{planned}{small}; no worker has started"
        n = campaign.hits_per_worker
        return f"{n:,} HIT{'' if n == 1 else 's'} ({planned}{small})"

    @admin.display(description="HITs")
    def hits(self, campaign: Campaign) -> str:
        return format_html(
            '<a href="{}?campaign__id__exact={}">all HITs of this campaign</a>',
            reverse("admin:crowd_hit_changelist"),
            campaign.pk,
        )

    @admin.display(description="platform status")
    def elsewhere(self, campaign: Campaign) -> str:
        place = ExternalCampaign.objects.filter(campaign=campaign).first()
        if place is None:
            return "–"
        return format_html(
            '<a href="{}">{}</a> {}',
            reverse("admin:crowd_externalcampaign_change", args=[place.pk]),
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


def _figures_of(campaign: Campaign) -> CampaignProgress:
    figures: CampaignProgress = campaign.figures  # type: ignore[attr-defined]
    return figures


class TakeBackForm(ReasonForm):
    words = forms.CharField(
        required=False,
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 80}),
        label="Message to the worker",
        help_text="Shown to the worker on the platform or with the bonus.",
    )
    bonus = forms.BooleanField(
        required=False,
        label="If a rejection cannot be reversed, pay the reward as a bonus",
    )


class BonusForm(forms.Form):
    amount = forms.IntegerField(
        label="Bonus in ¢",
        min_value=1,
        max_value=10_000,
        help_text="For each assignment, excluding the fee.",
    )
    reason = forms.CharField(
        max_length=300,
        help_text="Shown to workers. The same amount with the same reason is paid only once.",
    )


_LEFT = "{n_left} not changed: they were not pending."
SORRY = "Your work was reviewed again: it was rejected by mistake."


def _take_back(
    row: Assignment, by: Account, reason: str, words: str, bonus: bool
) -> bool:
    instead = bonus and not taking_back(row, timezone.now()).possible
    act = pay_instead if instead else overturn
    return bool(act(row.pk, by=by, reason=reason, message=words or SORRY))


def _way_back(row: Assignment) -> Line:
    way = taking_back(row, timezone.now())
    return _line(row, f"{dollars(row.reward_cents)}: {way.sentence}")


def _line(row: Assignment, detail: str) -> Line:
    return Line(row.pk, f"{row.worker} · HIT {row.hit_id}", detail)


def _approve(
    model_admin: Any, request: HttpRequest, rows: list[Assignment], reason: str
) -> int:
    return review.approve([row.pk for row in rows], person(request), reason)


@admin.register(HIT)
class HITAdmin(OfTask, SearchedApart, ReadOnlyAdmin):
    pool_paths = ("campaign__pool_id",)
    shows_outputs = True
    list_display = ["pk", "campaign", "position", "n_available", "max_assignments", "n"]
    list_filter = ["campaign__state", "campaign__pool"]
    list_select_related = ["campaign"]
    search_fields = ["pk", "items__key__exact"]
    fields = [
        "campaign",
        "position",
        "n_available",
        "max_assignments",
        "texts_shown",
        "work",
    ]
    readonly_fields = ["texts_shown", "work"]

    def look_up(self, rows: list[HIT]) -> None:
        counted = HIT.objects.filter(pk__in=[row.pk for row in rows]).order_by()
        counts = dict(counted.values_list("pk").annotate(n=Count("assignments")))
        for row in rows:
            row.n_assignments = counts[row.pk]  # type: ignore[attr-defined]

    @admin.display(description="assignments")
    def n(self, hit: HIT) -> int:
        count: int = hit.n_assignments  # type: ignore[attr-defined]
        return count

    @admin.display(description="what workers see")
    def texts_shown(self, hit: HIT) -> SafeString:
        return _texts(hit)

    @admin.display(description="assignments")
    def work(self, hit: HIT) -> SafeString:
        rows = hit.assignments.select_related("worker")
        address = reverse("admin:crowd_assignment_changelist")
        return format_html_join(
            "",
            '<p><a href="{}{}/change/">{} · {}</a></p>',
            ((address, row.pk, row.worker, row.get_state_display()) for row in rows),
        )


class AnswerInline(ReadOnlyInline):
    model = Rating
    fields = readonly_fields = ("criterion", "slot", "value", "raw", "detail")


@admin.register(Assignment)
class AssignmentAdmin(OfTask, SearchedApart, ReadOnlyAdmin):
    pool_paths = ("hit__campaign__pool_id",)
    shows_outputs = True
    list_display = [
        "pk",
        "worker",
        "campaign",
        "state",
        "reward",
        "submitted_at",
        "active_seconds",
        "remark",
    ]
    list_filter = [
        "state",
        ("remark", admin.EmptyFieldListFilter),
        "hit__campaign__pool",
        "accepted_at",
    ]
    list_select_related = ["worker", "hit__campaign"]
    search_fields = ["pk", "worker__pseudonym", "remark"]
    ordering = ["-pk"]
    readonly_fields = ["texts_shown", "campaign", "reward"]
    inlines = [AnswerInline]
    actions = [
        Action(
            "approve_selected",
            "Approve the selected assignments …",
            title="Approve assignments",
            sentence="Approved assignments are paid.",
            button="Approve",
            every=_approve,
            done="Approved {n}.",
            left=_LEFT,
        ),
        Action(
            "reject_selected",
            "Reject the selected assignments …",
            title="Reject assignments",
            sentence=(
                "Rejected assignments are not paid, and their HITs are reassigned while "
                "the campaign runs. Workers read the reason. A rejection can be "
                "reversed for a while, except on platforms that do not allow it, such "
                "as Prolific."
            ),
            button="Reject",
            allowed=Q(state=Assignment.State.SUBMITTED),
            otherwise=_LEFT,
            service=lambda row, by, reason: review.reject(row.pk, by, reason),
            done="Rejected {n}.",
            left=_LEFT,
        ),
        Action(
            "take_back_selected",
            "Reverse rejections …",
            title="Reverse rejections",
            sentence="The platform's rule is shown beside each assignment.",
            button="Reverse rejections",
            form=TakeBackForm,
            allowed=Q(state=Assignment.State.REJECTED),
            otherwise="None of these is rejected.",
            line=_way_back,
            service=_take_back,
            done="{n} {rows} changed.",
        ),
        Action(
            "give_bonus",
            "Pay a bonus …",
            title="Pay a bonus",
            sentence=(
                "Each of these assignments gets the bonus; a platform charges its fee "
                "for it. The money is committed within the budgets of the site and the "
                "task."
            ),
            button="Pay the bonus",
            form=BonusForm,
            permission="crowd.change_ledgerentry",
            service=lambda row, by, amount, reason: bonuses.give_once(
                row.pk, amount, reason, by=by
            ),
            done="Planned for {n}.",
        ),
    ]

    @admin.display(description="campaign", ordering="hit__campaign")
    def campaign(self, assignment: Assignment) -> str:
        return assignment.hit.campaign.title

    @admin.display(description="reward", ordering="reward_cents")
    def reward(self, assignment: Assignment) -> str:
        return dollars(assignment.reward_cents)

    @admin.display(description="what the worker saw")
    def texts_shown(self, assignment: Assignment) -> SafeString:
        return _texts(assignment.hit)

    def line_of(self, row: Assignment) -> Line:
        return _line(row, self.reward(row))


def _texts(hit: HIT) -> SafeString:
    rows = []
    for item in hit.items.all():
        for field in item.data.get("fields", []):
            rows.append((field.get("label", ""), field.get("text", "")))
        for name in ("reference", "standard", "prediction"):
            if item.data.get(name) is not None:
                rows.append((name, item.data[name]))
        for output in item.data.get("outputs") or []:
            rows.append((f"output {output['slot']}", output["text"]))
    return format_html_join("", "<p><strong>{}</strong><br>{}</p>", rows) or (
        format_html("<p>{}</p>", "no texts")
    )
