from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest
from django.template.response import TemplateResponse

from crowd.hits.models import Campaign
from crowd.money.selectors.fair_pay import Shortfall, shortfall
from crowd.money.services import fair_pay
from crowd.templatetags.crowd_money import dollars
from genie.lib.admin import Line, Question, ReadOnlyAdmin, confirmed_form, person
from genie.lib.errors import GenieError

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpResponse

QUESTION = Question(
    title="Top up low pay",
    sentence=(
        "At the median active time, this work paid less than the hourly minimum. "
        "Every worker with approved work in these campaigns would get a bonus, the "
        "same for each answer. It comes out of the budgets and is planned once. A "
        "platform that pays workers itself pays it and charges its fee; otherwise "
        "staff mark it as paid."
    ),
    button="Plan the bonus",
    action="make_up_selected",
    form=forms.Form,
)


class FairPayAction(ReadOnlyAdmin):
    @admin.action(
        description="Top up low pay in the selected campaigns …",
        permissions=["act"],
    )
    def make_up_selected(
        self, request: HttpRequest, queryset: QuerySet[Campaign]
    ) -> HttpResponse | None:
        underpaid = [
            (campaign, missing)
            for campaign in queryset.select_related("hit_type")
            if (missing := shortfall(campaign)) is not None
        ]
        if not underpaid:
            sentence = (
                "Pay is not below the minimum, or too few times were measured to tell."
            )
            self.message_user(request, sentence, messages.WARNING)
            return None
        lines = [Line(c.pk, c.title, _detail(missing)) for c, missing in underpaid]
        total = sum(missing.total_cents for _, missing in underpaid)
        form = confirmed_form(
            self, request, QUESTION, lines, [("Total", dollars(total))]
        )
        if isinstance(form, TemplateResponse):
            # The agreed amount is the one shown, whatever is approved meanwhile.
            agreed = [(f"agreed-{c.pk}", m.total_cents) for c, m in underpaid]
            form.context_data = {**(form.context_data or {}), "hidden": agreed}
            return form
        for campaign, _ in underpaid:
            self._make_up(request, campaign)
        return None

    def _make_up(self, request: HttpRequest, campaign: Campaign) -> None:
        agreed = request.POST.get(f"agreed-{campaign.pk}", "")
        try:
            made_up = fair_pay.make_up(
                campaign.pk,
                by=person(request),
                agreed_cents=int(agreed) if agreed.isdecimal() else -1,
            )
        except GenieError as error:
            sentence = f"{campaign.title}: {error.message}"
            self.message_user(request, sentence, messages.ERROR)
            return
        if made_up is not None:
            sentence = f"{campaign.title}: planned {dollars(made_up.total_cents)}."
            self.message_user(request, sentence, messages.SUCCESS)


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
