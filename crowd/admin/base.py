"""What the crowd's admin pages share: rows to read, decisions to confirm."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from django import forms
from django.contrib.admin import helpers
from django.contrib.admin.views.main import ChangeList
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from genie.lib.read_only_admin import ReadOnly

if TYPE_CHECKING:
    from genie.lib.typing import Account


@dataclass(frozen=True)
class Question:
    """What a person is asked before something is done to rows."""

    title: str
    sentence: str
    button: str
    # name of the admin action, so that the confirmed form arrives there again
    action: str
    form: type[forms.Form]


@dataclass(frozen=True)
class Line:
    """One row that the decision concerns."""

    pk: object
    text: str
    detail: str = ""


class PageOfRows(ChangeList):
    """A list page that looks up figures for its rows all at once."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = list(self.result_list)
        self.model_admin.look_up(self.result_list)  # type: ignore[attr-defined]


class ReadOnlyAdmin(ReadOnly):
    """Lists and shows; changes happen only through actions, which call services."""

    # who may act: Django's own permission to change the rows
    act_permission: ClassVar[str] = ""

    def has_act_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(self.act_permission)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return PageOfRows

    def look_up(self, rows: list[Any]) -> None:
        """Find figures for the rows of one page; nothing unless overridden."""


class ReasonForm(forms.Form):
    reason = forms.CharField(
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 80}),
        help_text="Kept with the decision, in the history.",
    )


def asked(
    model_admin: ReadOnlyAdmin,
    request: HttpRequest,
    question: Question,
    lines: Iterable[Line],
    totals: Iterable[tuple[str, str]] = (),
) -> forms.Form | HttpResponse:
    """Give the confirmed form, or the page that asks for it."""
    confirmed = "confirmed" in request.POST
    form = question.form(request.POST if confirmed else None)
    if confirmed and form.is_valid():
        return form
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "title": question.title,
        "question": question,
        "form": form,
        "lines": list(lines),
        "totals": list(totals),
        "checkbox_name": helpers.ACTION_CHECKBOX_NAME,
        "media": model_admin.media,
    }
    return TemplateResponse(request, "admin/confirm.html", context)


def person(request: HttpRequest) -> Account:
    """Give who is signed in; the admin lets nobody else in."""
    return cast("Account", request.user)
