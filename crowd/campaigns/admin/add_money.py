from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django import forms
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, QueryDict

from crowd.campaigns.services import add_money
from crowd.hits.models import Campaign
from crowd.hits.selectors import progress_of
from crowd.money.services import budgets
from crowd.templatetags.crowd_money import dollars
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


def _ask(
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
        for pool in sorted({campaign.pool for campaign in campaigns})
    ]
    # Money is added to the budgets that were shown, so a second click adds none.
    shown = [
        (_name(c), request.POST.get(_name(c), str(c.budget_cents))) for c in campaigns
    ]
    form = ADD_MONEY.ask(model_admin, request, lines, room, shown)
    if isinstance(form, HttpResponse):
        return form
    answers = form.cleaned_data
    cents = int(answers["dollars"] * 100)
    ADD_MONEY.act(
        model_admin,
        request,
        campaigns,
        cents=cents,
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
    run=_ask,
    service=_add,
    on_page="Add money …",
)
