"""Changes of running campaigns by staff: money, reward, more answers."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, QueryDict

from crowd.campaigns.selectors.new_reward import NewReward, price_reward
from crowd.campaigns.services import add_money, change_reward, more_answers
from crowd.hits.models import Campaign
from crowd.hits.selectors import progress_of
from crowd.money.services import budgets
from crowd.templatetags.crowd_money import dollars
from genie.lib.errors import GenieError
from genie.lib.staff_actions import Action, Line, ReasonForm

if TYPE_CHECKING:
    from genie.lib.typing import Account


class MoneyForm(ReasonForm):
    dollars = forms.DecimalField(
        label="Dollars per campaign",
        min_value=Decimal("0.01"),
        max_digits=9,
        decimal_places=2,
        help_text="Added to the budget of each campaign above.",
    )
    field_order = ["dollars", "reason"]


State = Campaign.State
UNDER_WAY = Q(state__in=[State.SCHEDULED, State.RUNNING, State.PAUSED])


def _ask_for_money(
    model_admin: Any, request: HttpRequest, campaigns: list[Campaign]
) -> HttpResponse | None:
    progress = progress_of(campaigns)
    lines = []
    for campaign in campaigns:
        left = campaign.budget_cents - progress[campaign.pk].committed_cents
        detail = f"budget {dollars(campaign.budget_cents)}, {dollars(left)} left"
        lines.append(Line(campaign.pk, str(campaign), detail))
    room = [
        (f"Left in the budgets of {pool}", dollars(budgets.budget_left(pool)))
        for pool in sorted({campaign.pool_id for campaign in campaigns})
    ]
    # Money is added to the budgets that were shown, so a second click adds none.
    shown = [
        (_name(c), request.POST.get(_name(c), str(c.budget_cents))) for c in campaigns
    ]
    form = ADD_MONEY.ask(model_admin, request, lines, room, shown)
    if isinstance(form, HttpResponse):
        return form
    answers = form.cleaned_data
    ADD_MONEY.act(
        model_admin,
        request,
        campaigns,
        cents=int(answers["dollars"] * 100),
        sent=request.POST,
        reason=answers["reason"],
    )
    return None


def _add(
    campaign: Campaign, by: Account, cents: int, sent: QueryDict, reason: str
) -> str:
    budget_shown = sent.get(_name(campaign), "")
    n = add_money.add_money(
        campaign.pk,
        cents,
        budget_cents=int(budget_shown) if budget_shown.isdecimal() else -1,
        by=by,
        reason=reason,
    )
    again = f" {n:,} HITs reassigned." if n else ""
    return f"{campaign}: added {dollars(cents)}.{again}"


def _name(campaign: Campaign) -> str:
    return f"budget-{campaign.pk}"


ADD_MONEY = Action(
    "add_money_selected",
    "Add money to the selected campaigns …",
    title="Add money to campaigns",
    sentence=(
        "The money is committed within the budgets of the task and the site. HITs "
        "whose answers do not count, and which there was no money to replace, are "
        "reassigned at once. A submission whose campaign is complete is reopened "
        "within minutes and then scored again; finished comparisons and joint "
        "evaluations stay as they are."
    ),
    button="Add the money",
    form=MoneyForm,
    allowed=UNDER_WAY | Q(state=State.COMPLETE),
    run=_ask_for_money,
    service=_add,
    on_page="Add money …",
)


class RewardForm(forms.Form):
    dollars = forms.DecimalField(
        label="New reward per assignment, in dollars",
        min_value=Decimal("0.01"),
        max_digits=7,
        decimal_places=2,
    )


def _ask_for_reward(
    model_admin: Any, request: HttpRequest, campaigns: list[Campaign]
) -> HttpResponse | None:
    [campaign] = campaigns
    now = f"reward {dollars(campaign.hit_type.reward_cents)}"
    lines = [Line(campaign.pk, str(campaign), now)]
    try:
        if "agreed" in request.POST:
            return _confirm(model_admin, request, campaign, lines)
        form = CHANGE_REWARD.ask(model_admin, request, lines)
        if isinstance(form, HttpResponse):
            return form
        new = price_reward(campaign, int(form.cleaned_data["dollars"] * 100))
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
    page = _AGREE_TO_REWARD.ask(
        model_admin, request, lines, totals, hidden.items(), ReasonForm()
    )
    return cast("HttpResponse", page)


def _confirm(
    model_admin: Any, request: HttpRequest, campaign: Campaign, lines: list[Line]
) -> HttpResponse | None:
    sent = {name: request.POST.get(name, "") for name in ("cents", "agreed", "shown")}
    number: dict[str, Any] = {
        name: int(text) if text.isdecimal() else -1 for name, text in sent.items()
    }
    totals = _totals(campaign, price_reward(campaign, number["cents"]))
    form = _AGREE_TO_REWARD.ask(model_admin, request, lines, totals, sent.items())
    if isinstance(form, HttpResponse):
        return form
    _AGREE_TO_REWARD.act(
        model_admin, request, [campaign], **number, **form.cleaned_data
    )
    return None


def _change(
    campaign: Campaign, by: Account, cents: int, agreed: int, shown: int, reason: str
) -> str:
    new = change_reward.change_reward(
        campaign.pk, cents, shown_cents=shown, agreed_cents=agreed, by=by, reason=reason
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
            f"Left in the budgets of {campaign.pool_id}",
            dollars(budgets.budget_left(campaign.pool_id)),
        ),
    ]


CHANGE_REWARD = Action(
    "change_reward_selected",
    "Change the reward of the selected campaign …",
    title="Change the reward",
    sentence=(
        "The new reward is paid for assignments that are still to be taken. Open and "
        "submitted HITs keep their reward. You see the price "
        "before anything changes."
    ),
    button="Show the price",
    form=RewardForm,
    allowed=UNDER_WAY,
    single="Select one campaign: each has its own price.",
    run=_ask_for_reward,
    on_page="Change the reward …",
)
_AGREE_TO_REWARD = replace(
    CHANGE_REWARD,
    sentence=(
        "Any missing amount is committed within the budgets of the task and the site."
    ),
    button="Change the reward",
    form=ReasonForm,
    service=_change,
)


class MoreForm(forms.Form):
    more = forms.IntegerField(
        label="More answers to each HIT",
        min_value=1,
        max_value=more_answers.MOST,
        help_text="By workers who have not answered it; test questions are included.",
    )


def _ask_for_answers(
    model_admin: Any, request: HttpRequest, campaigns: list[Campaign]
) -> HttpResponse | None:
    lines = [Line(c.pk, str(c), _now(c)) for c in campaigns]
    form = ASK_FOR_MORE.ask(model_admin, request, lines)
    if isinstance(form, HttpResponse):
        return form
    more, asked, cents = form.cleaned_data["more"], [], 0
    lines, hidden = [], [("agreed", "yes"), ("more", str(more))]
    for campaign in campaigns:
        try:
            price = more_answers.price_answers(campaign, more)
        except GenieError as error:
            sentence = f"{campaign}: {error.message}"
            model_admin.message_user(request, sentence, messages.ERROR)
            continue
        cents += price.cents
        detail = f"{price.n_places:,} more assignments, {dollars(price.cents)}"
        lines.append(Line(campaign.pk, str(campaign), f"{_now(campaign)}; {detail}"))
        # The answer repeats what was shown, so staff agree to exactly that.
        hidden += [
            _posted_value(request, f"shown-{campaign.pk}", campaign.answers_per_hit),
            _posted_value(request, f"cents-{campaign.pk}", price.cents),
        ]
        asked.append(campaign)
    if not lines:
        return None
    totals = [("More answers to each HIT", f"{more}"), ("Price", dollars(cents))]
    totals += [
        (f"Left in the budgets of {pool}", dollars(budgets.budget_left(pool)))
        for pool in sorted({campaign.pool_id for campaign in campaigns})
    ]
    again = None if "agreed" in request.POST else ReasonForm()
    form = _AGREE_TO_ANSWERS.ask(model_admin, request, lines, totals, hidden, again)
    if isinstance(form, HttpResponse):
        return form
    _AGREE_TO_ANSWERS.act(
        model_admin, request, asked, more=more, shown=dict(hidden), **form.cleaned_data
    )
    return None


def _ask_one(
    campaign: Campaign, by: Account, more: int, shown: dict[str, str], reason: str
) -> str:
    price = more_answers.ask_for_more(
        campaign.pk,
        more,
        shown=_number(shown[f"shown-{campaign.pk}"]),
        agreed_cents=_number(shown[f"cents-{campaign.pk}"]),
        by=by,
        reason=reason,
    )
    return f"{campaign}: {price.n_places:,} more assignments, {dollars(price.cents)} added."


def _posted_value(request: HttpRequest, name: str, now: int | None) -> tuple[str, str]:
    return name, request.POST.get(name, str(now))


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else -1


def _now(campaign: Campaign) -> str:
    n = campaign.answers_per_hit
    return "" if n is None else f"{n} answer{'' if n == 1 else 's'} per HIT"


ASK_FOR_MORE = Action(
    "ask_for_more_selected",
    "Ask for more answers in the selected campaigns …",
    title="Ask for more answers",
    sentence=(
        "Every HIT of these campaigns is offered to that many more workers, hidden test "
        "questions as well. You see the price before anything changes."
    ),
    button="Show the price",
    form=MoreForm,
    allowed=UNDER_WAY & Q(answers_per_hit__gt=0),
    run=_ask_for_answers,
    on_page="Ask for more answers …",
)
_AGREE_TO_ANSWERS = replace(
    ASK_FOR_MORE,
    sentence=(
        "The money is added to the campaigns’ budgets out of the budgets of the task and "
        "the site."
    ),
    button="Ask for more answers",
    form=ReasonForm,
    service=_ask_one,
)
