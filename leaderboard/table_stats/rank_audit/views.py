"""The page on which anybody has a table of scores audited; nothing is kept."""

from __future__ import annotations

from http import HTTPStatus
from typing import IO, Any, cast

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import mark_safe

from genie.accounts.throttles import CheckThrottle
from genie.lib.errors import GenieError
from genie.lib.serving.one_at_a_time import one_at_a_time
from leaderboard.table_stats.rank_audit.report import lines, picture, sign
from leaderboard.table_stats.rank_audit.service import audit_file, refuse_too_large

_TEMPLATE = "leaderboard/site/rank_audit.html"


class AuditForm(forms.Form):
    file = forms.FileField(
        label="Scores",
        help_text="CSV, TSV or JSON: a column for each system and a row for each item, or "
        "columns named system, item and score; at most 8 MB.",
        allow_empty_file=True,
    )
    lower_is_better = forms.BooleanField(
        label="Lower is better", required=False, help_text="For error counts or losses."
    )


def rank_audit(request: HttpRequest) -> HttpResponse:
    """Show the form, and what a file's ranks are worth."""
    if request.method != "POST":
        return _page(request, AuditForm())
    try:
        refuse_too_large(request)
    except GenieError as error:
        return _page(request, AuditForm(), refused=str(error), status=413)
    _ = request.FILES  # a slow upload holds its own thread, and nobody's lock
    with one_at_a_time("rank-audit") as free:
        throttle = CheckThrottle()
        if not free:
            why = "Another file is being audited right now. Try again in a few seconds."
        elif not throttle.allow_request(cast("Any", request), cast("Any", None)):
            why = "You have reached the hourly limit of audits. Try again later."
        else:
            return _audited(request)
    return _page(request, AuditForm(), refused=why, status=429)


def _audited(request: HttpRequest) -> HttpResponse:
    form = AuditForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, form, status=400)
    file = form.cleaned_data["file"]
    try:
        found = audit_file(
            cast("IO[bytes]", file),
            lower_is_better=form.cleaned_data["lower_is_better"],
        )
    except GenieError as error:
        return _page(request, form, refused=str(error), status=400)
    shown = {
        "audit": found,
        "rows": lines(found),
        # escapes every name itself
        "picture": mark_safe(picture(found)),  # noqa: S308
        "badge": sign(found),
        "file_name": file.name,
    }
    return _page(request, form, **shown)


def _page(
    request: HttpRequest,
    form: AuditForm,
    *,
    status: int = HTTPStatus.OK,
    refused: str = "",
    **shown: Any,
) -> HttpResponse:
    context = {"form": form, "refused": refused, **shown}
    return render(request, _TEMPLATE, context, status=status)
