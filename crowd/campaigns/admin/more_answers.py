"""Ask for more answers to each HIT of campaigns that are under way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse

from crowd.campaigns.services import more_answers
from crowd.hits.models.campaign import Campaign
from crowd.money.services import budgets
from crowd.templatetags.crowd_money import dollars
from genie.lib.admin.questions import (
    Line,
    Question,
    ReasonForm,
    asking,
    confirmed_form,
)
from genie.lib.admin.rows import ReadOnlyAdmin, person
from genie.lib.errors import GenieError

if TYPE_CHECKING:
    from django.db.models import QuerySet


class MoreForm(forms.Form):
    more = forms.IntegerField(
        label="More answers to each HIT",
        min_value=1,
        max_value=more_answers.MOST,
        help_text="By workers who have not answered it; test questions are included.",
    )


ASK = Question(
    title="Ask for more answers",
    sentence=(
        "Every HIT of these campaigns is offered to that many more workers, hidden test "
        "questions as well. You see the price before anything changes."
    ),
    button="Show the price",
    action="ask_for_more_selected",
    form=MoreForm,
)
AGREE = Question(
    title="Ask for more answers",
    sentence=(
        "The money is added to the campaigns’ budgets out of the budgets of the task and "
        "the site."
    ),
    button="Ask for more answers",
    action="ask_for_more_selected",
    form=ReasonForm,
)


class MoreAnswersAction(ReadOnlyAdmin):
    """The action for the list of campaigns, in two steps."""

    @admin.action(
        description="Ask for more answers in the selected campaigns …",
        permissions=["act"],
    )
    def ask_for_more_selected(
        self, request: HttpRequest, queryset: QuerySet[Campaign]
    ) -> HttpResponse | None:
        """Ask how many, show what they cost, then open the places as agreed."""
        campaigns = list(queryset.select_related("hit_type").order_by("pk"))
        if "agreed" in request.POST:
            return self._open_places(request, campaigns)
        lines = [Line(c.pk, str(c), _now(c)) for c in campaigns]
        form = confirmed_form(self, request, ASK, lines)
        if isinstance(form, HttpResponse):
            return form
        more = form.cleaned_data["more"]
        lines, hidden, cents = [], [("agreed", "yes"), ("more", str(more))], 0
        for campaign in campaigns:
            try:
                price = more_answers.priced(campaign, more)
            except GenieError as error:
                self._say_why_not(request, campaign, error)
                continue
            cents += price.cents
            detail = f"{_now(campaign)}; {price.n_places:,} more assignments, {dollars(price.cents)}"
            lines.append(Line(campaign.pk, str(campaign), detail))
            # What was shown comes back with the answer: nothing else is agreed to.
            hidden += [
                (f"shown-{campaign.pk}", str(campaign.answers_per_hit)),
                (f"cents-{campaign.pk}", str(price.cents)),
            ]
        if not lines:
            return None
        totals = [("More answers to each HIT", f"{more}"), ("Price", dollars(cents))]
        totals += [
            (f"Left in the budgets of {pool}", dollars(budgets.budget_left(pool)))
            for pool in sorted({campaign.pool for campaign in campaigns})
        ]
        return asking(self, request, AGREE, ReasonForm(), lines, totals, hidden)

    def _open_places(
        self, request: HttpRequest, campaigns: list[Campaign]
    ) -> HttpResponse | None:
        names = ["agreed", "more"]
        names += [f"{n}-{c.pk}" for c in campaigns for n in ("shown", "cents")]
        sent = {name: request.POST.get(name, "") for name in names}
        number = {name: int(t) if t.isdecimal() else -1 for name, t in sent.items()}
        more = number["more"]
        lines = [
            Line(c.pk, str(c), f"{more} more, {dollars(number[f'cents-{c.pk}'])}")
            for c in campaigns
        ]
        form = confirmed_form(self, request, AGREE, lines, hidden=sent.items())
        if isinstance(form, HttpResponse):
            return form
        for campaign in campaigns:
            try:
                price = more_answers.ask_for_more(
                    campaign.pk,
                    more,
                    shown=number[f"shown-{campaign.pk}"],
                    agreed_cents=number[f"cents-{campaign.pk}"],
                    by=person(request),
                    reason=form.cleaned_data["reason"],
                )
            except GenieError as error:
                self._say_why_not(request, campaign, error)
                continue
            sentence = f"{campaign}: {price.n_places:,} more assignments, {dollars(price.cents)} added."
            self.message_user(request, sentence, messages.SUCCESS)
        return None

    def _say_why_not(
        self, request: HttpRequest, campaign: Campaign, error: GenieError
    ) -> None:
        self.message_user(request, f"{campaign}: {error.message}", messages.ERROR)


def _now(campaign: Campaign) -> str:
    n = campaign.answers_per_hit
    return "" if n is None else f"{n} answer{'' if n == 1 else 's'} per HIT"
