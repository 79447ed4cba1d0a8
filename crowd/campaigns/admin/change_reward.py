from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse

from crowd.campaigns.selectors.new_reward import NewReward, priced
from crowd.campaigns.services import change_reward
from crowd.hits.models import Campaign
from crowd.money.services import budgets
from crowd.templatetags.crowd_money import dollars
from genie.lib.admin import (
    Line,
    Question,
    ReadOnlyAdmin,
    ReasonForm,
    asking,
    confirmed_form,
    person,
)
from genie.lib.errors import GenieError

if TYPE_CHECKING:
    from django.db.models import QuerySet


class RewardForm(forms.Form):
    dollars = forms.DecimalField(
        label="New reward per assignment, in dollars",
        min_value=Decimal("0.01"),
        max_digits=7,
        decimal_places=2,
    )


ASK = Question(
    title="Change the reward",
    sentence=(
        "The new reward is paid for assignments that are still to be taken. What "
        "workers have open or have submitted keeps its reward. You see the price "
        "before anything changes."
    ),
    button="Show the price",
    action="change_reward_selected",
    form=RewardForm,
)
AGREE = Question(
    title="Change the reward",
    sentence=(
        "What the campaign’s budget lacks for this is committed within the budgets of "
        "the task and the site."
    ),
    button="Change the reward",
    action="change_reward_selected",
    form=ReasonForm,
)


class RewardAction(ReadOnlyAdmin):
    @admin.action(
        description="Change the reward of the selected campaign …", permissions=["act"]
    )
    def change_reward_selected(
        self, request: HttpRequest, queryset: QuerySet[Campaign]
    ) -> HttpResponse | None:
        campaigns = list(queryset.select_related("hit_type")[:2])
        if len(campaigns) != 1:
            sentence = "Select one campaign: each has a price of its own."
            self.message_user(request, sentence, messages.WARNING)
            return None
        campaign = campaigns[0]
        now = f"reward {dollars(campaign.hit_type.reward_cents)}"
        lines = [Line(campaign.pk, str(campaign), now)]
        try:
            if "agreed" in request.POST:
                return self._agreed(request, campaign, lines)
            form = confirmed_form(self, request, ASK, lines)
            if isinstance(form, HttpResponse):
                return form
            new = priced(campaign, int(form.cleaned_data["dollars"] * 100))
        except GenieError as error:
            self.message_user(request, f"{campaign}: {error.message}", messages.ERROR)
            return None
        # The answer repeats what was shown, so staff agree to exactly that.
        hidden = [
            ("cents", str(new.reward_cents)),
            ("agreed", str(new.added_cents)),
            ("shown", str(campaign.hit_type.reward_cents)),
        ]
        totals = _totals(campaign, new)
        return asking(self, request, AGREE, ReasonForm(), lines, totals, hidden)

    def _agreed(
        self, request: HttpRequest, campaign: Campaign, lines: list[Line]
    ) -> HttpResponse | None:
        sent = {
            name: request.POST.get(name, "") for name in ("cents", "agreed", "shown")
        }
        number = {
            name: int(text) if text.isdecimal() else -1 for name, text in sent.items()
        }
        totals = _totals(campaign, priced(campaign, number["cents"]))
        form = confirmed_form(self, request, AGREE, lines, totals, sent.items())
        if isinstance(form, HttpResponse):
            return form
        new = change_reward.change_reward(
            campaign.pk,
            number["cents"],
            shown_cents=number["shown"],
            agreed_cents=number["agreed"],
            by=person(request),
            reason=form.cleaned_data["reason"],
        )
        sentence = (
            f"{campaign}: {new.n_places:,} assignments now pay "
            f"{dollars(new.reward_cents)}; {dollars(new.added_cents)} added."
        )
        self.message_user(request, sentence, messages.SUCCESS)
        return None


def _totals(campaign: Campaign, new: NewReward) -> list[tuple[str, str]]:
    return [
        ("New reward", f"{dollars(new.reward_cents)}, fee {dollars(new.fee_cents)}"),
        ("An hour at the median time", dollars(new.hourly_cents)),
        ("Assignments still to be taken", f"{new.n_places:,}"),
        (
            "They cost",
            f"{dollars(new.after_cents)}, before {dollars(new.before_cents)}",
        ),
        ("Added to the campaign’s budget", dollars(new.added_cents)),
        (
            f"Left in the budgets of {campaign.pool}",
            dollars(budgets.budget_left(campaign.pool)),
        ),
    ]
