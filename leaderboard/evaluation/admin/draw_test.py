"""The button that draws a task's qualification test as a draft to be published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from genie.lib.admin.questions import Line, Question, confirmed_form
from genie.lib.errors import GenieError
from leaderboard.evaluation.services import qualification
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    from django.db.models import QuerySet


class DrawForm(forms.Form):
    n = forms.IntegerField(
        label="Questions", min_value=2, max_value=200, initial=qualification.N_QUESTIONS
    )
    n_asked = forms.IntegerField(
        label="Questions per attempt",
        min_value=0,
        initial=0,
        help_text="0: all of them. With fewer, the next attempt has new questions.",
    )
    pass_percent = forms.IntegerField(min_value=1, max_value=100, initial=80)
    n_tries = forms.IntegerField(label="Attempts", min_value=1, max_value=20, initial=2)
    wait_hours = forms.IntegerField(
        min_value=0, initial=24, help_text="Between a failed attempt and the next."
    )
    valid_days = forms.IntegerField(
        min_value=1, required=False, help_text="Leave empty for no expiry."
    )


DRAW = Question(
    title="Draw a qualification test",
    sentence=(
        "Half of the questions show the instance's reference, the other half "
        "another instance's reference. All use instances outside the sample for "
        "human evaluation. The test is a draft until you publish it, and no one "
        "has to take it until a requirement names it."
    ),
    button="Draw test",
    action="draw_test_selected",
    form=DrawForm,
)


def draw_for(
    model_admin: ModelAdmin[Any], request: HttpRequest, queryset: QuerySet[Task]
) -> HttpResponse | None:
    tasks = list(queryset)
    form = confirmed_form(
        model_admin, request, DRAW, [Line(task.pk, str(task)) for task in tasks]
    )
    if isinstance(form, HttpResponse):
        return form
    rules = dict(form.cleaned_data)
    n = rules.pop("n")
    n_drawn = 0
    for task in tasks:
        try:
            test = qualification.draw_test(task, n, rules=rules)
        except GenieError as error:
            model_admin.message_user(request, error.message, messages.ERROR)
            continue
        n_drawn += 1
        model_admin.message_user(request, f"Drawn: {test}.", messages.SUCCESS)
    return redirect("admin:crowd_qualificationtest_changelist") if n_drawn else None
