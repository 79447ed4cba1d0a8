"""The public log as a page: its head, and its entries as everybody may read them."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from genie.history import log
from genie.history.models import LogEntry, LogHead
from genie.history.shown import opened
from genie.lib.serving.pages import page_of

_ON_PAGE = 50
_HEADS = 10


def public_log(request: HttpRequest) -> HttpResponse:
    """Show the newest head, those before it, and entries, the newest first."""
    entries = LogEntry.objects.exclude(number=None).order_by("-number")
    page = page_of(entries, _ON_PAGE, request.GET.get("page"))
    context = {
        "head": log.head(),
        "heads": LogHead.objects.order_by("-size")[1:_HEADS],
        "page": page,
        "lines": [_line(one) for one in opened(list(page))],
    }
    return render(request, "leaderboard/site/public_log.html", context)


def _line(entry: dict[str, Any]) -> dict[str, Any]:
    """Put what an entry says into pairs; what is nested or empty is for programs."""
    says = entry["says"] or {}
    plain = [
        (name, f"{value:.2f}" if isinstance(value, float) else value)
        for name, value in says.items()
        if value not in (None, "") and not isinstance(value, dict | list)
    ]
    kind = LogEntry.Kind(entry["kind"]).label
    return {**entry, "kind": kind, "pairs": plain}
