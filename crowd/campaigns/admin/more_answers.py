from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse

from crowd.campaigns.admin.add_money import UNDER_WAY
from crowd.campaigns.services import more_answers
from crowd.hits.models import Campaign
from crowd.money.services import budgets
from crowd.templatetags.crowd_money import dollars
from genie.lib.errors import GenieError
from genie.lib.staff_actions import Action, Line, ReasonForm

if TYPE_CHECKING:
    from genie.lib.typing import Account


class MoreForm(forms.Form):
    more = forms.IntegerField(
        label="More answers to each HIT",
        min_value=1,
        max_value=more_answers.MOST,
        help_text="By workers who have not answered it; test questions are included.",
    )


def _ask(
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
            price = more_answers.priced(campaign, more)
        except GenieError as error:
            sentence = f"{campaign}: {error.message}"
            model_admin.message_user(request, sentence, messages.ERROR)
            continue
        cents += price.cents
        detail = f"{price.n_places:,} more assignments, {dollars(price.cents)}"
        lines.append(Line(campaign.pk, str(campaign), f"{_now(campaign)}; {detail}"))
        # The answer repeats what was shown, so staff agree to exactly that.
        hidden += [
            _sent(request, f"shown-{campaign.pk}", campaign.answers_per_hit),
            _sent(request, f"cents-{campaign.pk}", price.cents),
        ]
        asked.append(campaign)
    if not lines:
        return None
    totals = [("More answers to each HIT", f"{more}"), ("Price", dollars(cents))]
    totals += [
        (f"Left in the budgets of {pool}", dollars(budgets.budget_left(pool)))
        for pool in sorted({campaign.pool for campaign in campaigns})
    ]
    again = None if "agreed" in request.POST else ReasonForm()
    form = _AGREE.ask(model_admin, request, lines, totals, hidden, again)
    if isinstance(form, HttpResponse):
        return form
    shown = dict(hidden)
    _AGREE.act(model_admin, request, asked, more=more, shown=shown, **form.cleaned_data)
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


def _sent(request: HttpRequest, name: str, now: int | None) -> tuple[str, str]:
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
    run=_ask,
    on_page="Ask for more answers …",
)
_AGREE = replace(
    ASK_FOR_MORE,
    sentence=(
        "The money is added to the campaigns’ budgets out of the budgets of the task and "
        "the site."
    ),
    button="Ask for more answers",
    form=ReasonForm,
    service=_ask_one,
)
