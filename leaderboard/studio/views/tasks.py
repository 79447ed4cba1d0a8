"""Change a loaded task, or begin a new version of it."""

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from crowd.hit_templates.consent import consent_for, consent_markdown
from crowd.hit_templates.formats import to_html
from crowd.money.models import Budget
from genie.accounts.staff import staff_may
from genie.lib.errors import GenieError
from genie.lib.serving.pages import status_of
from genie.lib.typing import Account
from leaderboard.studio.forms import EditForm
from leaderboard.studio.services import edit as service
from leaderboard.submissions.selectors import Staff
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.load import versions_of

MAY_BUDGET = "crowd.change_budget"
N_REVISIONS = 50


@login_required
def task(request: HttpRequest, slug: str) -> HttpResponse:
    if not staff_may(request.user, Staff.SEE_REFERENCES, slug):
        raise Http404("There is no such page.")
    row = get_object_or_404(Task, slug=slug)
    # imported tasks have no versions to begin
    may_make = staff_may(request.user, Staff.IMPORT_TASKS) and not row.imported
    if "version" in request.POST and may_make:
        draft = service.new_version(row, by=cast("Account", request.user))
        messages.success(
            request, "This is a draft of the new version. Change anything you like."
        )
        return redirect("leaderboard:studio-files", pk=draft.pk)
    may_delete = may_make and service.may_delete(row)
    if may_delete and {"delete", "agreed"} <= request.POST.keys():
        service.delete(row, by=cast("Account", request.user))
        messages.success(request, f"{row} was deleted.")
        return redirect("leaderboard:studio-new")
    form = _form(request, row)
    if "save" in request.POST and form.is_valid():
        try:
            _change(request, row, form)
        except GenieError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, "Saved.")
            return redirect("leaderboard:studio-task", slug=slug)
    context = {**_context(row, form), "may_make": may_make, "may_delete": may_delete}
    return render(
        request, "leaderboard/studio/task.html", context, status=status_of(form.errors)
    )


def _form(request: HttpRequest, row: Task) -> EditForm:
    said = service.said_by(row)
    # The consent text can be edited even if the task uses the default.
    said["consent"] = said["consent"] or _usual(row)
    return EditForm(
        request.POST if "save" in request.POST or "show" in request.POST else None,
        said,
        budget_cents=Budget.objects.filter(pool=row.slug)
        .values_list("limit_cents", flat=True)
        .first(),
        may_budget=staff_may(request.user, MAY_BUDGET, row.slug),
        only=service.OF_IMPORTED
        if row.imported
        else service.OF_COLLEAGUES
        if row.by_colleagues
        else (),
    )


def _change(request: HttpRequest, row: Task, form: EditForm) -> None:
    said = dict(form.cleaned_data)
    because, budget_cents = said.pop("because"), said.pop("budget_cents")
    if "consent" in said and said["consent"].strip() == _usual(row).strip():
        said["consent"] = ""
    service.change(
        row,
        said,
        by=cast("Account", request.user),
        because=because,
        budget_cents=budget_cents,
        reworded=said.pop("reworded", False),
    )


def _usual(row: Task) -> str:
    return consent_markdown(row.human.hit_template)


def _context(row: Task, form: EditForm) -> dict[str, Any]:
    typed, instructions = (
        (form[name].value() if name in form.fields else "") or ""
        for name in ("consent", "instructions")
    )
    revisions = row.revisions.select_related("by").order_by("-number")
    return {
        "here": "studio",
        "task": row,
        "form": form,
        "versions": versions_of(row),
        "consent": consent_for(row.human.hit_template, {"consent": typed}).html,
        "instructions": to_html(instructions),
        "revisions": [
            (one, [(key, *change) for key, change in one.changes.items()])
            for one in revisions[:N_REVISIONS]
        ],
    }
