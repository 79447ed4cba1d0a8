"""Upload files, and check and correct the roles of their columns."""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from genie.accounts.staff import staff_may
from genie.lib.errors import GenieError
from genie.lib.serving.pages import post_or, status_of
from leaderboard.studio.forms import NewStudyForm
from leaderboard.studio.models import Draft
from leaderboard.studio.services import bring, keep, more
from leaderboard.studio.services.look import Files
from leaderboard.studio.views.access import for_makers, own_draft, page
from leaderboard.studio.views.begin import begun
from leaderboard.submissions.selectors import Staff
from leaderboard.submissions.views import refuse_oversize
from leaderboard.tasks.intake import roles
from leaderboard.tasks.intake.read import ENDINGS
from leaderboard.tasks.intake.roles import Use
from leaderboard.tasks.models import Task

ROLES = {
    roles.INPUT: "Input",
    roles.SYSTEM: "Output of a system",
    roles.REFERENCE: "Reference",
    roles.ID: "Id of the row",
    roles.OUTPUT: "Output (the file or a column names the system)",
    roles.NAMES: "Name of the system",
    roles.IGNORED: "Leave out",
}
FORMATS = {
    roles.TEXT: "plain text",
    roles.MARKDOWN: "Markdown",
    roles.CODE: "code",
    roles.CONVERSATION: "conversation",
}
N_ROWS, N_CHARACTERS, N_PROBLEMS = 3, 140, 50


@csrf_exempt  # only until the view has refused an oversize body without reading it
def new(request: HttpRequest) -> HttpResponse:
    return refuse_oversize(request) or _new(request)


@csrf_protect
@for_makers
def _new(request: HttpRequest) -> HttpResponse:
    form = NewStudyForm(request.POST if request.method == "POST" else None)
    adds = partial(keep.begin, adds=True)
    begin = adds if "adds" in request.POST else keep.begin
    draft, trouble = begun(request, form, begin)
    if draft is not None:
        keep.keep(draft, people={"who": form.cleaned_data["who"]})
        return redirect("leaderboard:studio-files", pk=draft.pk)
    context = {
        "form": form,
        "trouble": trouble,
        "drafts": [
            draft
            for draft in Draft.objects.filter(owner=request.user.pk).select_related(
                "task"
            )
            if not bring.is_import(draft)
        ],
        "tasks": Task.objects.all()
        if staff_may(request.user, Staff.SEE_REFERENCES)
        else [],
        "kept_days": keep.KEPT_DAYS,
        **_limits(),
    }
    return page(request, "new", None, context, status=status_of(trouble, form.errors))


@csrf_exempt  # as above
def files(request: HttpRequest, pk: int) -> HttpResponse:
    return refuse_oversize(request) or _files(request, pk)


@csrf_protect
@for_makers
def _files(request: HttpRequest, pk: int) -> HttpResponse:
    draft = own_draft(request, pk)
    if request.method != "POST":
        return _columns_page(request, draft, keep.read(draft))
    if "add" in request.POST:
        return _add(request, draft)
    if (row := request.POST.get("drop", "")).isdecimal():
        keep.drop_file(draft, int(row))
        return redirect("leaderboard:studio-files", pk=pk)
    found = keep.read(draft)
    keep.settle(draft, _as_said(found, request.POST))
    found = keep.read(draft)
    if "on" in request.POST and not found.problems:
        if "adds" in draft.state:
            shown = request.POST.get("shown", "")
            try:
                task = more.add(draft, found, by=request.user, shown=shown)
            except GenieError as error:
                messages.error(request, error.message)
                return _columns_page(request, draft, found)
            messages.success(request, "The inputs were added.")
            return redirect("admin:leaderboard_task_campaigns", task.pk)
        return redirect("leaderboard:studio-ask", pk=pk)
    return _columns_page(request, draft, found)


def _add(request: HttpRequest, draft: Draft) -> HttpResponse:
    try:
        keep.add(draft, request.FILES.getlist("files"))
    except GenieError as error:
        messages.error(request, error.message)
    return redirect("leaderboard:studio-files", pk=draft.pk)


@post_or("leaderboard:studio-files", "pk")
@for_makers
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    draft = own_draft(request, pk)
    keep.delete(draft)
    messages.success(request, f"{draft.title} was deleted with its files.")
    imported = bring.is_import(draft)
    return redirect(f"leaderboard:studio-{'import-new' if imported else 'new'}")


def _columns_page(request: HttpRequest, draft: Draft, found: Files) -> HttpResponse:
    material = found.material
    context = {
        "files": draft.files.all(),
        "problems": found.problems[:N_PROBLEMS],
        "n_more": max(0, len(found.problems) - N_PROBLEMS),
        "tables": _tables(found),
        "material": material,
        "n_referenced": sum(bool(item.references) for item in material.items)
        if material
        else 0,
        "roles": ROLES,
        "formats": FORMATS,
        "more": more.look(draft, found, request.user)
        if "adds" in draft.state
        else None,
        **_limits(),
    }
    return page(request, "files", draft, context)


def _tables(found: Files) -> list[dict[str, Any]]:
    numbers = {id(use): number for number, use in enumerate(found.uses)}
    return [
        {
            "file": table.file,
            "n_rows": len(table.numbers),
            "columns": [
                {
                    "n": numbers[id(use)],
                    "use": use,
                    "cells": [
                        _format_cell(cell) for cell in table.cells[use.column][:N_ROWS]
                    ],
                }
                for use in found.uses
                if use.file == table.file
            ],
        }
        for table in found.tables
    ]


def _format_cell(cell: object) -> str:
    if cell is None:
        return ""
    text = cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)
    return text if len(text) <= N_CHARACTERS else f"{text[:N_CHARACTERS]}…"


def _as_said(found: Files, posted: Mapping[str, str]) -> list[Use]:
    said = []
    for number, use in enumerate(found.uses):
        role = posted.get(f"role-{number}", use.role)
        form = posted.get(f"format-{number}", use.format)
        name = posted.get(f"name-{number}", use.name).strip()[:100]
        role = role if role in ROLES else use.role
        form = form if form in FORMATS else use.format
        said.append(Use(use.file, use.column, role, name or _name(use, role), form))
    return said


def _name(use: Use, role: str) -> str:
    named = {roles.INPUT, roles.SYSTEM, roles.OUTPUT}
    return (use.name or use.column) if role in named else ""


def _limits() -> dict[str, Any]:
    return {
        "most_megabytes": settings.GENIE["MAX_UPLOAD_BYTES"] >> 20,
        "endings": ",".join(ENDINGS),
    }
