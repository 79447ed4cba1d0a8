from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from genie.history import log
from genie.history.models import LogEntry, LogHead
from genie.history.shown import opened
from genie.lib.serving.pages import page_of
from leaderboard.submissions.models.submission import Submission

_ON_PAGE = 50
_HEADS = 10


def public_log(request: HttpRequest) -> HttpResponse:
    entries = LogEntry.objects.exclude(number=None).order_by("-number")
    page = page_of(entries, _ON_PAGE, request.GET.get("page"))
    lines = [_line(one) for one in opened(list(page))]
    context = {
        "head": log.head(),
        "heads": LogHead.objects.order_by("-size")[1:_HEADS],
        "page": page,
        "lines": lines,
        "imported": _imported(
            {one["submission"] for one in lines if one["submission"]}
        ),
    }
    return render(request, "leaderboard/site/public_log.html", context)


def _imported(submissions: set[int]) -> set[int]:
    rows = Submission.objects.filter(pk__in=submissions, task__imported=True)
    return set(rows.values_list("pk", flat=True))


def _line(entry: dict[str, Any]) -> dict[str, Any]:
    says, kind = entry["says"] or {}, LogEntry.Kind(entry["kind"])
    told = _IN_WORDS.get(kind, _pairs)(says) if says else ""
    return {
        **entry,
        "kind": kind.label,
        "submission": says.get("submission"),
        "told": told,
    }


def _score(says: dict[str, Any]) -> str:
    mean, low, high = (_number(says[name]) for name in ("mean", "low", "high"))
    first, last = says["rank_first"], says["rank_last"]
    place = f"{first}" if first == last else f"{first} to {last}"
    return (
        f"{says['criterion']} {mean} [{low}, {high}], "
        + (f"rank {place}, " if first else "")
        + f"{says['n']:,} instances; {says['n_workers']:,} workers counted, "
        f"{says['n_excluded_workers']:,} excluded"
    )


def _ban(says: dict[str, Any]) -> str:
    return f"{says['is']} on {says['task']} by {says['by']}; worker {says['worker']}"


def _release(says: dict[str, Any]) -> str:
    return (
        f"{says['task']}, with the first {says['log_size']:,} entries of this log; "
        f"SHA-256 of its SHA256SUMS {says['checksums_sha256']}"
    )


def _pairs(says: dict[str, Any]) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {_number(value) if isinstance(value, float) else value}"
        for name, value in says.items()
        if value not in (None, "") and not isinstance(value, dict | list)
    )


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"


_IN_WORDS = {
    LogEntry.Kind.SCORE: _score,
    LogEntry.Kind.BAN: _ban,
    LogEntry.Kind.RELEASE: _release,
}
