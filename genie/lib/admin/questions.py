from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin import ModelAdmin, helpers
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from genie.lib.errors import GenieError


class ReasonForm(forms.Form):
    reason = forms.CharField(
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 80}),
        help_text="Recorded in the history with the decision.",
    )


class OptionalReasonForm(forms.Form):
    reason = forms.CharField(
        required=False,
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 80}),
        help_text="Optional; shown to the people who requested it.",
    )


class PlainForm(forms.Form):
    """No fields: a confirmation is enough."""


@dataclass(frozen=True)
class Question:
    title: str
    sentence: str
    button: str
    # name of the admin action, so that the confirmed form returns there
    action: str
    form: type[forms.Form] = PlainForm
    danger: bool = False


@dataclass(frozen=True)
class Line:
    pk: object
    text: str
    detail: str = ""
    # more information, a sentence each
    notes: Sequence[str] = ()


def confirmed_form(
    model_admin: ModelAdmin[Any],
    request: HttpRequest,
    question: Question,
    lines: Iterable[Line],
    totals: Iterable[tuple[str, str]] = (),
    hidden: Iterable[tuple[str, str]] = (),
) -> forms.Form | HttpResponse:
    """Return the confirmed form, or the page that asks for it."""
    # Only the confirmation page sends this field, not the list of rows.
    confirmed = request.method == "POST" and "confirmed" in request.POST
    form = question.form(request.POST if confirmed else None)
    if confirmed and form.is_valid():
        return form
    return asking(model_admin, request, question, form, lines, totals, hidden)


def asking(
    model_admin: ModelAdmin[Any],
    request: HttpRequest,
    question: Question,
    form: forms.Form,
    lines: Iterable[Line],
    totals: Iterable[tuple[str, str]] = (),
    hidden: Iterable[tuple[str, str]] = (),
) -> HttpResponse:
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "title": question.title,
        "question": question,
        "form": form,
        "lines": list(lines),
        "totals": list(totals),
        "hidden": list(hidden),
        "checkbox_name": helpers.ACTION_CHECKBOX_NAME,
        "media": model_admin.media,
    }
    return TemplateResponse(request, "admin/confirm.html", context)


def after_asking(title: str, sentence: str, button: str) -> Callable[..., Any]:
    """Run an action only after a page that lists the rows and asks for a reason.

    The action is called with the confirmed rows and the reason. The page describes a
    row with its admin's `line_of`, if there is one.
    """

    def wrap(act: Callable[..., HttpResponse | None]) -> Callable[..., Any]:
        question = Question(title, sentence, button, act.__name__, ReasonForm)

        @wraps(act)
        def ask(
            model_admin: ModelAdmin[Any], request: HttpRequest, queryset: QuerySet[Any]
        ) -> HttpResponse | None:
            line_of = getattr(model_admin, "line_of", _named)
            lines = [line_of(row) for row in queryset]
            answer = confirmed_form(model_admin, request, question, lines)
            if isinstance(answer, HttpResponse):
                return answer
            return act(model_admin, request, queryset, answer.cleaned_data["reason"])

        return ask

    return wrap


def _named(row: Model) -> Line:
    return Line(row.pk, str(row))


def act_on_each(
    model_admin: ModelAdmin[Any],
    request: HttpRequest,
    rows: Iterable[Model],
    act: Callable[[Any], tuple[Model, str]],
    prepare: Callable[[Any], None] | None = None,
) -> int:
    """Act on each row, log it, and report failures; return the number of successes.

    `prepare` does the slow part, before the transaction. `act` returns the row for
    whose history the line is, and the line, or refuses with a GenieError.
    """
    n_done = 0
    for row in rows:
        try:
            if prepare is not None:
                prepare(row)
            with transaction.atomic():  # done and logged, or neither
                model_admin.log_change(request, *act(row))
        except GenieError as error:
            model_admin.message_user(request, f"{row}: {error}", messages.ERROR)
            continue
        n_done += 1
    return n_done
