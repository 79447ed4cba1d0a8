"""The page of a task's published numbers and ours, and its files."""

import json
from collections import Counter
from typing import cast

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import (
    conditional_page,
    require_http_methods,
    require_safe,
)

from genie.accounts.staff import staff_may
from genie.lib.admin import note
from genie.lib.errors import GenieError
from genie.lib.formats import csv_text
from genie.lib.serving.pages import file_named
from genie.lib.typing import Account
from leaderboard.papers.figures import (
    Verdict,
    all_figures,
    expected_of,
    format_value,
    print_value,
)
from leaderboard.papers.task_figures.beside import COLUMNS, Beside, beside
from leaderboard.papers.task_figures.computed import BOARD, known_figures
from leaderboard.papers.task_figures.keep import forget_published, keep_published
from leaderboard.submissions.selectors import Staff
from leaderboard.tasks.models import Task


# The form for published numbers.
class PublishedForm(forms.Form):
    cells = forms.CharField(
        max_length=500_000,
        label="Numbers",
        help_text="CSV or JSON with the columns id (SYSTEM/FIGURE, such as Kite/score) and "
        "value, and optionally tolerance, table and why.",
        widget=forms.Textarea(
            attrs={"rows": 8, "class": "code", "spellcheck": "false"}
        ),
    )
    table = forms.CharField(
        max_length=100,
        required=False,
        label="Table",
        help_text="Table that prints the numbers, if the list does not name one. Earlier numbers of "
        "this table are replaced.",
    )
    figures = forms.ChoiceField(
        required=False,
        label="Compared with",
        help_text="Meaning of names such as z or score.",
    )
    part = forms.CharField(
        max_length=100,
        required=False,
        label="Part",
        help_text="If the list covers several tasks, the prefix of this task's ids.",
    )
    why = forms.CharField(
        max_length=500, required=False, label="Why some cannot be reproduced"
    )

    def __init__(self, data: object = None) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        self.fields["figures"].choices = [  # type: ignore[attr-defined]
            ("", "The set that fits these judgments"),
            *((slug, slug) for slug in [BOARD, *all_figures()]),
        ]


_MOST_SAID = 50  # problems of a list that the page shows
# The style of a verdict, and its name for readers.
_SHOWN = {
    Verdict.HOLDS: ("good", "holds"),
    Verdict.NOT_MET: ("warn", "explained"),
    Verdict.FAILS: ("bad", "differs"),
    Verdict.NO_DATA: ("", "not computed"),
}


@require_http_methods(["GET", "HEAD", "POST"])
def published_figures(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a task's published numbers and ours; staff may add and delete them."""
    task = get_object_or_404(Task, slug=slug)
    may = staff_may(request.user, Staff.SEE_REFERENCES, task.slug)
    if request.method != "POST":
        return _page(request, task, PublishedForm() if may else None)
    if not may:
        raise PermissionDenied
    by, table = cast("Account", request.user), request.POST.get("forget")
    if table is not None:
        n = forget_published(task, table)
        note(by, task, f"Deleted {n} published numbers of {table}.")
        messages.success(request, f"{n:,} numbers of {table} were deleted.")
        return redirect("leaderboard:published", slug=slug)
    form = PublishedForm(request.POST)
    if form.is_valid():
        said = dict(form.cleaned_data)
        try:
            kept = keep_published(task, expected_of(said.pop("cells")), **said)
        except GenieError as error:
            for problem in error.details.get("problems", [error.message])[:_MOST_SAID]:
                form.add_error("cells", f"{problem[:1].upper()}{problem[1:]}")
        else:
            note(by, task, f"Added {len(kept)} published numbers.")
            messages.success(request, f"{len(kept):,} numbers are stored.")
            return redirect("leaderboard:published", slug=slug)
    return _page(request, task, form, status=400)


def _page(
    request: HttpRequest, task: Task, form: PublishedForm | None, status: int = 200
) -> HttpResponse:
    rows = beside(task)
    reasons = list(dict.fromkeys(row.cell.why for row in rows if row.cell.why))
    words = known_figures()
    tables: dict[str, list[dict[str, object]]] = {}
    for row in rows:
        tables.setdefault(row.table, []).append(_line(row, words, reasons))
    counts = Counter(row.cell.verdict for row in rows)
    context = {
        "here": "tasks",
        "task": task,
        "form": form,
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
    return render(request, "leaderboard/papers/published.html", context, status=status)


def _line(row: Beside, words: dict[str, str], reasons: list[str]) -> dict[str, object]:
    cell = row.cell
    look, verdict = _SHOWN[cell.verdict]
    return {
        "row": cell.row,
        "column": cell.column,
        "words": words.get(row.figure, ""),
        "published": "" if cell.paper is None else print_value(cell.paper),
        "ours": "" if cell.ours is None else format_value(cell.ours, cell.digits),
        "tolerance": f"± {cell.tolerance:g}" if cell.tolerance else "equal",
        "look": look,
        "verdict": verdict,
        "reason": reasons.index(cell.why) + 1 if cell.why else 0,
    }


@require_safe
@conditional_page
def published_file(request: HttpRequest, slug: str, form: str) -> HttpResponse:
    task = get_object_or_404(Task, slug=slug)
    records = [row.record() for row in beside(task)]
    if form == "csv":
        text, kind = csv_text(COLUMNS, records), "text/csv"
    elif form == "json":
        text = json.dumps(records, ensure_ascii=False, allow_nan=False) + "\n"
        kind = "application/json"
    else:
        raise Http404
    return file_named(f"{task.slug}.published.{form}", text, f"{kind}; charset=utf-8")
