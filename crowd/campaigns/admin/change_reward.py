from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse

from crowd.campaigns.admin.add_money import UNDER_WAY
from crowd.campaigns.selectors.new_reward import NewReward, priced
from crowd.campaigns.services import change_reward
from crowd.hits.models import Campaign
from crowd.money.services import budgets
from crowd.templatetags.crowd_money import dollars
from genie.lib.errors import GenieError
from genie.lib.staff_actions import Action, Line, ReasonForm

if TYPE_CHECKING:
    from genie.lib.typing import Account


class RewardForm(forms.Form):
    dollars = forms.DecimalField(
        label="New reward per assignment, in dollars",
        min_value=Decimal("0.01"),
        max_digits=7,
        decimal_places=2,
    )


def _ask(
    model_admin: Any, request: HttpRequest, campaigns: list[Campaign]
) -> HttpResponse | None:
    [campaign] = campaigns
    now = f"reward {dollars(campaign.hit_type.reward_cents)}"
    lines = [Line(campaign.pk, str(campaign), now)]
    try:
        if "agreed" in request.POST:
            return _agreed(model_admin, request, campaign, lines)
        form = CHANGE_REWARD.ask(model_admin, request, lines)
        if isinstance(form, HttpResponse):
            return form
        new = priced(campaign, int(form.cleaned_data["dollars"] * 100))
    except GenieError as error:
        sentence = f"{campaign}: {error.message}"
        model_admin.message_user(request, sentence, messages.ERROR)
        return None
    # The answer repeats what was shown, so staff agree to exactly that.
    hidden = {
        "cents": new.reward_cents,
        "agreed": new.added_cents,
        "shown": campaign.hit_type.reward_cents,
    }
    totals = _totals(campaign, new)
    page = _AGREE.ask(model_admin, request, lines, totals, hidden.items(), ReasonForm())
    return cast("HttpResponse", page)


def _agreed(
    model_admin: Any, request: HttpRequest, campaign: Campaign, lines: list[Line]
) -> HttpResponse | None:
    sent = {name: request.POST.get(name, "") for name in ("cents", "agreed", "shown")}
    number: dict[str, Any] = {
        name: int(text) if text.isdecimal() else -1 for name, text in sent.items()
    }
    totals = _totals(campaign, priced(campaign, number["cents"]))
    form = _AGREE.ask(model_admin, request, lines, totals, sent.items())
    if isinstance(form, HttpResponse):
        return form
    _AGREE.act(model_admin, request, [campaign], **number, **form.cleaned_data)
    return None


def _change(
    campaign: Campaign, by: Account, cents: int, agreed: int, shown: int, reason: str
) -> str:
    new = change_reward.change_reward(
        campaign.pk,
        cents,
        shown_cents=shown,
        agreed_cents=agreed,
        by=by,
        reason=reason,
    )
    return (
        f"{campaign}: {new.n_places:,} assignments now pay "
        f"{dollars(new.reward_cents)}; {dollars(new.added_cents)} added."
    )


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


CHANGE_REWARD = Action(
    "change_reward_selected",
    "Change the reward of the selected campaign …",
    title="Change the reward",
    sentence=(
        "The new reward is paid for assignments that are still to be taken. What "
        "workers have open or have submitted keeps its reward. You see the price "
        "before anything changes."
    ),
    button="Show the price",
    form=RewardForm,
    allowed=UNDER_WAY,
    single="Select one campaign: each has a price of its own.",
    run=_ask,
    on_page="Change the reward …",
)
_AGREE = replace(
    CHANGE_REWARD,
    sentence=(
        "What the campaign’s budget lacks for this is committed within the budgets of "
        "the task and the site."
    ),
    button="Change the reward",
    form=ReasonForm,
    service=_change,
)
