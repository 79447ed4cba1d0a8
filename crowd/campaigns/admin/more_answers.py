from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse

from crowd.campaigns.services import more_answers
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
    @admin.action(
        description="Ask for more answers in the selected campaigns …",
        permissions=["act"],
    )
    def ask_for_more_selected(
        self, request: HttpRequest, queryset: QuerySet[Campaign]
    ) -> HttpResponse | None:
        campaigns = list(queryset.select_related("hit_type").order_by("pk"))
        lines = [Line(c.pk, str(c), _now(c)) for c in campaigns]
        form = confirmed_form(self, request, ASK, lines)
        if isinstance(form, HttpResponse):
            return form
        more, asked, cents = form.cleaned_data["more"], [], 0
        lines, hidden = [], [("agreed", "yes"), ("more", str(more))]
        for campaign in campaigns:
            try:
                price = more_answers.priced(campaign, more)
            except GenieError as error:
                self._say_why_not(request, campaign, error)
                continue
            cents += price.cents
            detail = f"{price.n_places:,} more assignments, {dollars(price.cents)}"
            lines.append(
                Line(campaign.pk, str(campaign), f"{_now(campaign)}; {detail}")
            )
            # The answer repeats what was shown, so staff agree to exactly that.
            seen = [
                _sent(request, f"shown-{campaign.pk}", campaign.answers_per_hit),
                _sent(request, f"cents-{campaign.pk}", price.cents),
            ]
            hidden += seen
            shown, agreed = (int(text) if text.isdecimal() else -1 for _, text in seen)
            asked.append((campaign, {"shown": shown, "agreed_cents": agreed}))
        if not lines:
            return None
        totals = [("More answers to each HIT", f"{more}"), ("Price", dollars(cents))]
        totals += [
            (f"Left in the budgets of {pool}", dollars(budgets.budget_left(pool)))
            for pool in sorted({campaign.pool for campaign in campaigns})
        ]
        if "agreed" not in request.POST:
            return asking(self, request, AGREE, ReasonForm(), lines, totals, hidden)
        form = confirmed_form(self, request, AGREE, lines, totals, hidden)
        if isinstance(form, HttpResponse):
            return form
        for campaign, seen_then in asked:
            self._ask(request, campaign, more, **seen_then, **form.cleaned_data)
        return None

    def _ask(
        self, request: HttpRequest, campaign: Campaign, more: int, **what: Any
    ) -> None:
        by = person(request)
        try:
            price = more_answers.ask_for_more(campaign.pk, more, by=by, **what)
        except GenieError as error:
            self._say_why_not(request, campaign, error)
            return
        sentence = f"{price.n_places:,} more assignments, {dollars(price.cents)} added."
        self.message_user(request, f"{campaign}: {sentence}", messages.SUCCESS)

    def _say_why_not(
        self, request: HttpRequest, campaign: Campaign, error: GenieError
    ) -> None:
        self.message_user(request, f"{campaign}: {error.message}", messages.ERROR)


def _sent(request: HttpRequest, name: str, now: int | None) -> tuple[str, str]:
    return name, request.POST.get(name, str(now))


def _now(campaign: Campaign) -> str:
    n = campaign.answers_per_hit
    return "" if n is None else f"{n} answer{'' if n == 1 else 's'} per HIT"
