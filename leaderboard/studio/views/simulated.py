"""Programs answer some pages of a draft before people are paid; priced, approved, read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, cast
from urllib.parse import urlsplit

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from genie.accounts.staff import staff_may
from genie.lib.errors import GenieError
from genie.lib.formats.csv_text import csv_text
from genie.lib.typing import Account
from leaderboard.judges.models import JudgeRun, JudgeSheet
from leaderboard.judges.selectors.report import (
    COLUMNS,
    item_texts,
    report,
    rows,
)
from leaderboard.judges.selectors.told import cents, leaving, progress
from leaderboard.judges.services import sheets
from leaderboard.studio.later_forms import SimulatedForm
from leaderboard.studio.models import Draft
from leaderboard.studio.services import keep
from leaderboard.studio.services import simulated as service
from leaderboard.studio.services.look import Drafted, draft_of
from leaderboard.studio.services.preview import compares
from leaderboard.studio.views.access import for_makers, own_draft, page
from leaderboard.tasks.drafts.bundle import Bundle
from leaderboard.tasks.intake.join import Material

_MAY_ASK, _MAY_DECIDE = "leaderboard.add_judgerun", "leaderboard.change_judgerun"
_MOST_NAMED = 10
_MOST_SHOWN = 60
State = JudgeRun.State


@for_makers
def simulated(request: HttpRequest, pk: int) -> HttpResponse:
    draft = own_draft(request, pk)
    if form := request.GET.get("as"):
        return _download(draft, form)
    material = keep.read(draft).material
    if material is None:
        return redirect("leaderboard:studio-files", pk=pk)
    drafted = draft_of(material, keep.ask_of(draft))
    if "price" in request.POST:
        return _price(request, draft, material, drafted)
    act = next((name for name in _ACTS if name in request.POST), "")
    sheet = service.sheet_of(draft)
    if act and sheet is not None:
        if not _may(request, _MAY_DECIDE):
            raise PermissionDenied
        try:
            _ACTS[act](request, draft, sheet)
        except GenieError as error:
            messages.error(request, error.message)
        return redirect("leaderboard:studio-simulated", pk=pk)
    return _page(request, draft, material, drafted)


def _price(
    request: HttpRequest, draft: Draft, material: Material, drafted: Drafted
) -> HttpResponse:
    if not _may(request, _MAY_ASK):
        raise PermissionDenied
    if drafted.bundle is None or drafted.problems:
        return _page(request, draft, material, drafted, status=400)
    form = _form(request.POST, drafted.bundle)
    if not form.is_valid():
        return _page(request, draft, material, drafted, form, status=400)
    try:
        service.begin(
            draft,
            drafted.bundle,
            material,
            form.chosen,
            n_items=form.cleaned_data["n_items"],
            wish=form.wish,
            by=cast("Account", request.user),
        )
    except GenieError as error:
        messages.error(request, error.message)
        return _page(request, draft, material, drafted, form, status=400)
    return redirect("leaderboard:studio-simulated", pk=draft.pk)


def _approve(request: HttpRequest, draft: Draft, sheet: JudgeSheet) -> None:
    """Approve what the page has shown, at the price that it has shown."""
    shown = request.POST.get("shown_cents", "")
    if request.POST.get("sheet") != str(sheet.pk) or not shown.isdecimal():
        raise GenieError("It was priced anew; look at it first.", code="not-agreed")
    n = sheets.approve(
        sheet,
        by=cast("Account", request.user),
        cents=int(shown),
        references="references" in request.POST,
        private="private" in request.POST,
        reason=f"In the studio, draft {draft.pk}.",
    )
    if n:
        messages.success(request, f"Approved up to {cents(int(shown))}.")


def _stop(request: HttpRequest, _: Draft, sheet: JudgeSheet) -> None:
    sheets.stop(sheet, by=cast("Account", request.user))


def _resume(request: HttpRequest, _: Draft, sheet: JudgeSheet) -> None:
    sheets.resume(sheet, by=cast("Account", request.user))


def _end(request: HttpRequest, draft: Draft, _: JudgeSheet) -> None:
    by = cast("Account", request.user)
    service.end(draft, by=by, reason="Ended in the studio.")


_ACTS: dict[str, Callable[[HttpRequest, Draft, JudgeSheet], None]] = {
    "approve": _approve,
    "stop": _stop,
    "resume": _resume,
    "end": _end,
}


def _page(
    request: HttpRequest,
    draft: Draft,
    material: Material,
    drafted: Drafted,
    form: SimulatedForm | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    context: dict[str, Any] = {
        "problems": drafted.problems,
        "may_ask": _may(request, _MAY_ASK),
        "may_decide": _may(request, _MAY_DECIDE),
        "n_all": len(material.items),
        "n_systems": len(material.systems),
    }
    sheet = service.sheet_of(draft)
    if sheet is not None and sheet.content:
        context |= _so_far(sheet, material)
        if drafted.bundle:
            changed = service.changed_since(sheet, draft, drafted.bundle, material)
            context["changed"] = changed
    if drafted.bundle and not drafted.problems and draft.task_id is None:
        context["pairs"] = compares(drafted.bundle)
        context["form"] = form or _form(None, drafted.bundle)
    return page(request, "simulated", draft, context, status=status)


def _form(data: Any, bundle: Bundle) -> SimulatedForm:
    release: Any = bundle.document["release"]
    return SimulatedForm(
        data,
        sheets.offered(pairs=compares(bundle)),
        hidden_references=release["hidden_references"],
    )


def _so_far(sheet: JudgeSheet, material: Material) -> dict[str, Any]:
    runs = list(sheet.runs.select_related("judge", "sheet").order_by("pk"))
    by_state = {state: [run for run in runs if run.state == state] for state in State}
    waiting = by_state[State.ASKED]
    lines: list[dict[str, Any]] = [
        {
            "run": run,
            "leaving": leaving(run),
            "expected": cents(run.expected_cents),
            "most": cents(run.most_cents),
            "told": progress(run),
        }
        for run in runs
    ]
    for line in lines:
        line["spent"] = cents(line["told"]["spent_cents"])
    context: dict[str, Any] = {
        "sheet": sheet,
        "lines": lines,
        "n_items": len(sheet.content["items"]),
        "waiting": waiting,
        "cents": sum(run.most_cents for run in waiting),
        "hosts": sorted({_host(run) for run in waiting if not run.judge.scripted}),
        "sends_references": any(run.with_references for run in waiting),
        "running": by_state[State.RUNNING],
        "stopped": by_state[State.STOPPED],
    }
    if len(waiting) < len(runs):
        context |= _found(sheet, material)
    return context


def _host(run: JudgeRun) -> str:
    return str(urlsplit(run.judge.definition["url"]).hostname)


def _found(sheet: JudgeSheet, material: Material) -> dict[str, Any]:
    """Put names and links where the report has numbers of items."""
    found = report(sheet)
    places = {item.id: at for at, item in enumerate(material.items)}
    named: dict[int, dict[str, Any]] = {}

    def names(numbers: Iterable[int]) -> dict[str, Any]:
        chosen = list(numbers)
        for number in chosen[:_MOST_NAMED]:
            if number not in named and len(named) < _MOST_SHOWN:
                about = item_texts(sheet, number)
                named[number] = {**about, "n": places.get(about["id"]), "answers": []}
        shown = [
            {"number": number, "id": found["items"][number], "told": number in named}
            for number in chosen[:_MOST_NAMED]
        ]
        return {"n": len(chosen), "shown": shown, "more": len(chosen) - len(shown)}

    for judge in found["judges"]:
        judge["broken"] = names(judge["unanswered"])
        for one in judge["criteria"]:
            one["findings"] = [
                (words, names(one[kind])) for kind, words in _KINDS if one[kind]
            ]
    for pair in found["between"]:
        pair["items"] = names(pair["apart"])
    for text in found["texts"]:
        text["items"] = names([text["item"]])
    for row in rows(sheet, set(named)):
        _add(named[row["number"]]["answers"], row)
    return {"found": found, "named": [named[number] for number in sorted(named)]}


def _add(answers: list[dict[str, Any]], row: dict[str, Any]) -> None:
    """Add an answer; repeats of a question are one line, with each reason once."""
    which = ("judge", "system", "other", "criterion")
    for one in reversed(answers):
        if all(one[name] == row[name] for name in which):
            break
    else:
        one = {**{name: row[name] for name in which}, "values": [], "reasons": []}
        one["problems"] = []
        answers.append(one)
    for name in ("value", "reason", "problem"):
        said = row[name]
        if said not in (None, "") and (name == "value" or said not in one[f"{name}s"]):
            one[f"{name}s"].append(said)


_KINDS = (
    ("lowest", "All systems got the lowest score: broken, or too hard"),
    ("silent", "All systems got the same score: tells none apart"),
    ("telling", "Tell systems apart as the other inputs do"),
)


def _download(draft: Draft, form: str) -> HttpResponse:
    sheet = service.sheet_of(draft)
    if sheet is None or not sheet.content or form not in {"csv", "json"}:
        raise Http404("There is no such file.")
    if form == "csv":
        body = csv_text(COLUMNS, rows(sheet))
    else:
        told = [{name: row[name] for name in COLUMNS} for row in rows(sheet)]
        body = json.dumps({**report(sheet), "answers": told}, ensure_ascii=False)
    kind = "text/csv" if form == "csv" else "application/json"
    response = HttpResponse(body, content_type=f"{kind}; charset=utf-8")
    name = f"{draft.slug}-simulated-pilot.{form}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _may(request: HttpRequest, permission: str) -> bool:
    return staff_may(request.user, permission)
