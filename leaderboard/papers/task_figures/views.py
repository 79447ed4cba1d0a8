"""The page of a task's published numbers beside ours, and its files."""

from __future__ import annotations

import json
from collections import Counter

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from genie.lib.formats.csv_text import csv_text
from leaderboard.papers.cell import Verdict
from leaderboard.papers.report import printed, shown
from leaderboard.papers.task_figures.beside import COLUMNS, Beside, beside
from leaderboard.papers.task_figures.computed import known
from leaderboard.tasks.models import Task

# How a verdict looks, and what it is called for readers.
_SHOWN = {
    Verdict.HOLDS: ("good", "holds"),
    Verdict.NOT_MET: ("warn", "explained"),
    Verdict.FAILS: ("bad", "differs"),
    Verdict.NO_DATA: ("", "not computed"),
}


@require_safe
def published(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what was published of a task beside what comes out here, cell by cell."""
    task = get_object_or_404(Task, slug=slug)
    rows = beside(task)
    reasons = list(dict.fromkeys(row.cell.why for row in rows if row.cell.why))
    words = known()
    tables: dict[str, list[dict[str, object]]] = {}
    for row in rows:
        tables.setdefault(row.table, []).append(_line(row, words, reasons))
    counts = Counter(row.cell.verdict for row in rows)
    context = {
        "here": "tasks",
        "task": task,
        "tables": tables,
        "reasons": reasons,
        "n_rows": len(rows),
        "n_holding": counts[Verdict.HOLDS],
        "others": [
            (counts[verdict], word)
            for verdict, (_, word) in _SHOWN.items()
            if counts[verdict] and verdict is not Verdict.HOLDS
        ],
    }
    return render(request, "leaderboard/papers/published.html", context)


def _line(row: Beside, words: dict[str, str], reasons: list[str]) -> dict[str, object]:
    cell = row.cell
    look, verdict = _SHOWN[cell.verdict]
    return {
        "row": cell.row,
        "column": cell.column,
        "words": words.get(row.figure, ""),
        "published": "" if cell.paper is None else printed(cell.paper),
        "ours": "" if cell.ours is None else shown(cell.ours, cell.digits),
        "tolerance": f"± {cell.tolerance:g}" if cell.tolerance else "equal",
        "look": look,
        "verdict": verdict,
        "reason": reasons.index(cell.why) + 1 if cell.why else 0,
    }


@require_safe
def published_file(request: HttpRequest, slug: str, form: str) -> HttpResponse:
    """Give the same as a table or as JSON."""
    task = get_object_or_404(Task, slug=slug)
    records = [row.record() for row in beside(task)]
    if form == "csv":
        text, kind = csv_text(COLUMNS, records), "text/csv"
    elif form == "json":
        text = json.dumps(records, ensure_ascii=False, allow_nan=False) + "\n"
        kind = "application/json"
    else:
        raise Http404
    response = HttpResponse(text, content_type=f"{kind}; charset=utf-8")
    name = f"{task.slug}.published.{form}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
