from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, QueryDict

from crowd.hits.models import Campaign
from crowd.money.selectors.fair_pay import Shortfall, shortfall
from crowd.money.services import fair_pay
from crowd.templatetags.crowd_money import dollars
from genie.lib.staff_actions import Action, Line, PlainForm

if TYPE_CHECKING:
    from genie.lib.typing import Account


def _make_up(
    model_admin: Any, request: HttpRequest, campaigns: list[Campaign]
) -> HttpResponse | None:
    underpaid = [
        (campaign, missing)
        for campaign in campaigns
        if (missing := shortfall(campaign)) is not None
    ]
    if not underpaid:
        sentence = (
            "Pay is not below the minimum, or too few times were measured to tell."
        )
        model_admin.message_user(request, sentence, messages.WARNING)
        return None
    lines = [Line(c.pk, c.title, _detail(missing)) for c, missing in underpaid]
    total = sum(missing.total_cents for _, missing in underpaid)
    # The agreed amount is the one shown, whatever is approved meanwhile.
    agreed = {f"agreed-{c.pk}": missing.total_cents for c, missing in underpaid}
    form = MAKE_UP.ask(
        model_admin, request, lines, [("Total", dollars(total))], agreed.items()
    )
    if isinstance(form, HttpResponse):
        return form
    MAKE_UP.act(model_admin, request, [c for c, _ in underpaid], sent=request.POST)
    return None


def _make_up_one(campaign: Campaign, by: Account, sent: QueryDict) -> str | bool:
    agreed = sent.get(f"agreed-{campaign.pk}", "")
    done = fair_pay.make_up(
        campaign.pk, by=by, agreed_cents=int(agreed) if agreed.isdecimal() else -1
    )
    return (
        done is not None and f"{campaign.title}: planned {dollars(done.total_cents)}."
    )


MAKE_UP = Action(
    "make_up_selected",
    "Top up low pay in the selected campaigns …",
    title="Top up low pay",
    sentence=(
        "At the median active time, this work paid less than the hourly minimum. "
        "Every worker with approved work in these campaigns would get a bonus, the "
        "same for each answer. It comes out of the budgets and is planned once. A "
        "platform that pays workers itself pays it and charges its fee; otherwise "
        "staff mark it as paid."
    ),
    button="Plan the bonus",
    form=PlainForm,
    allowed=Q(state__in=[Campaign.State.COMPLETE, Campaign.State.STOPPED]),
    run=_make_up,
    service=_make_up_one,
    on_page="Top up low pay …",
)


def _detail(missing: Shortfall) -> str:
    fee = (
        f", of which {dollars(missing.fee_cents)} is fees" if missing.fee_cents else ""
    )
    return (
        f"hourly pay {dollars(missing.hourly_cents)}, minimum "
        f"{dollars(missing.floor_cents)}; {'' if missing.is_even else 'up to '}"
        f"{dollars(missing.each_cents)} for each of "
        f"{missing.n_assignments:,} answers by {missing.n_workers:,} workers: "
        f"{dollars(missing.total_cents)}{fee}"
    )
