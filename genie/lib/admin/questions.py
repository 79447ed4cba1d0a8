"""Pages of the admin on which a person decides: what it concerns, why, yes or no."""

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
    """Nothing to fill in: a yes is enough."""


@dataclass(frozen=True)
class Question:
    """What a person is asked before something is done to rows."""

    title: str
    sentence: str
    button: str
    # name of the admin action, so that the confirmed form arrives there again
    action: str
    form: type[forms.Form] = PlainForm
    danger: bool = False


@dataclass(frozen=True)
class Line:
    """One row that the decision concerns."""

    pk: object
    text: str
    detail: str = ""
    # what else there is to know of it, a sentence each
    notes: Sequence[str] = ()


def confirmed_form(
    model_admin: ModelAdmin[Any],
    request: HttpRequest,
    question: Question,
    lines: Iterable[Line],
    totals: Iterable[tuple[str, str]] = (),
    hidden: Iterable[tuple[str, str]] = (),
) -> forms.Form | HttpResponse:
    """Give the confirmed form, or the page that asks for it."""
    # The list of rows posts without this field; only the confirmation page sends it.
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
    """Give the page that asks the question with this form."""
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
    """Let an action be done only after a page that names the rows and wants a reason.

    The action is called with the rows that were confirmed, and the reason. The page
    names a row as its admin's `line_of` does, where it has one.
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
    """Do something to each row, log it, say what could not be done; count what was.

    `prepare` does what takes long, before the transaction.

    `act` returns whose history gets which line, or refuses with a GenieError.
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
