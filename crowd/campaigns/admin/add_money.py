from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse

from crowd.campaigns.services import add_money
from crowd.hits.models import Campaign
from crowd.hits.selectors import progress_of
from crowd.money.services import budgets
from crowd.templatetags.crowd_money import dollars
from genie.lib.admin import (
    Line,
    Question,
    ReadOnlyAdmin,
    ReasonForm,
    confirmed_form,
    person,
)
from genie.lib.errors import GenieError

if TYPE_CHECKING:
    from django.db.models import QuerySet


class MoneyForm(ReasonForm):
    dollars = forms.DecimalField(
        label="Dollars per campaign",
        min_value=Decimal("0.01"),
        max_digits=9,
        decimal_places=2,
        help_text="Added to the budget of each campaign above.",
    )
    field_order = ["dollars", "reason"]


QUESTION = Question(
    title="Add money to campaigns",
    sentence=(
        "The money is committed within the budgets of the task and the site. HITs "
        "whose answers do not count, and which there was no money to replace, are "
        "reassigned at once. A submission whose campaign is complete is reopened "
        "within minutes and then scored again; finished comparisons and joint "
        "evaluations stay as they are."
    ),
    button="Add the money",
    action="add_money_selected",
    form=MoneyForm,
)


class MoreMoneyAction(ReadOnlyAdmin):
    @admin.action(
        description="Add money to the selected campaigns …", permissions=["act"]
    )
    def add_money_selected(
        self, request: HttpRequest, queryset: QuerySet[Campaign]
    ) -> HttpResponse | None:
        campaigns = list(queryset.select_related("hit_type").order_by("pk"))
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
        budgets_shown = [
            (_name(c), request.POST.get(_name(c), str(c.budget_cents)))
            for c in campaigns
        ]
        form = confirmed_form(self, request, QUESTION, lines, room, budgets_shown)
        if isinstance(form, HttpResponse):
            return form
        cents = int(form.cleaned_data["dollars"] * 100)
        for campaign in campaigns:
            self._add(request, campaign, cents, form.cleaned_data["reason"])
        return None

    def _add(
        self, request: HttpRequest, campaign: Campaign, cents: int, reason: str
    ) -> None:
        budget_shown = request.POST.get(_name(campaign), "")
        try:
            n = add_money.add_money(
                campaign.pk,
                cents,
                budget_cents=int(budget_shown) if budget_shown.isdecimal() else -1,
                by=person(request),
                reason=reason,
            )
        except GenieError as error:
            self.message_user(request, f"{campaign}: {error.message}", messages.ERROR)
            return
        again = f" {n:,} HITs reassigned." if n else ""
        sentence = f"{campaign}: added {dollars(cents)}.{again}"
        self.message_user(request, sentence, messages.SUCCESS)


def _name(campaign: Campaign) -> str:
    return f"budget-{campaign.pk}"
