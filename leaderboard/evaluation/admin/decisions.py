"""Decisions of staff on one or many evaluations, each confirmed on a second page.

Submissions, comparisons and joint evaluations share them: each decision needs a
permission, is carried out by `evaluation.decide` and is logged in the history.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse

from genie.accounts.task_admin import OfTask
from genie.lib.admin import PlainReadOnlyAdmin as ReadOnlyAdmin
from genie.lib.staff_actions import Action, Line
from leaderboard.evaluation import decide
from leaderboard.evaluation.admin.money import (
    cost_of,
    dollars,
    paid_elsewhere,
    totals_by_task,
)
from leaderboard.evaluation.expected import expected
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.submissions.models import Submission
from leaderboard.submissions.services import lifecycle

if TYPE_CHECKING:
    from django.db.models import QuerySet

State = HumanEvaluation.State


class ApproveForm(forms.Form):
    reason = forms.CharField(
        required=False,
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 2, "cols": 80}),
        help_text="Optional; shown to the people who requested it.",
    )
    start_now = forms.BooleanField(
        required=False,
        label="Start now",
        help_text="Do not wait for the next scheduled start. Comparisons and joint "
        "evaluations always start at once.",
    )
    despite = forms.CharField(
        required=False,
        max_length=500,
        label="Start although test questions stand out, because",
        help_text="Kept with your name; shown to staff only.",
    )
    field_order = ("start_now", "despite", "reason")


def _approve(
    model_admin: Any, request: HttpRequest, rows: list[Any]
) -> HttpResponse | None:
    """Show the total beside the budgets; exactly that amount is committed."""
    costs = {row.pk: cost_of(row) for row in rows}
    total = sum(costs.values())
    if request.POST.get("shown_cents") not in {None, str(total)}:
        sentence = "The cost has changed in the meantime; please check it again."
        model_admin.message_user(request, sentence, messages.WARNING)
        return None
    lines = [
        Line(
            row.pk,
            str(row),
            f"{row.task}, {_plan(row, costs)}{_warned(row)}",
            expected(row.evaluation, costs[row.pk]),
        )
        for row in rows
    ]
    totals = [
        *totals_by_task(rows, costs),
        *paid_elsewhere(rows, costs),
        ("Total", dollars(total)),
    ]
    form = APPROVE.ask(model_admin, request, lines, totals, [("shown_cents", total)])
    if isinstance(form, HttpResponse):
        return form
    answers = form.cleaned_data
    n = APPROVE.act(model_admin, request, rows, decide.prepare, **answers)
    APPROVE.report(model_admin, request, n, len(rows), 0)
    return None


def _in(*states: str) -> Callable[[QuerySet[Any]], QuerySet[Any]]:
    def rows_in(rows: QuerySet[Any]) -> QuerySet[Any]:
        if rows.model is Submission:
            names = list(map(lifecycle.of_evaluation, states))
            return rows.filter(state__in=names).order_by("pk")
        return rows.filter(evaluation__state__in=states).order_by("pk")

    return rows_in


def _failures(rows: QuerySet[Any]) -> QuerySet[Any]:
    of = "" if rows.model is Submission else "evaluation__"
    return rows.exclude(**{f"{of}failure": ""}).order_by("pk")


APPROVE = Action(
    "approve_selected",
    "Approve the cost of the selected",
    title="Approve the cost",
    sentence="The total is committed now, and human evaluation starts.",
    button="Approve all",
    form=ApproveForm,
    permission="decide",
    allowed=_in(State.REQUESTED, State.DECLINED),
    otherwise="None of them is waiting for a decision.",
    run=_approve,
    service=lambda row, by, **said: decide.approve(row, by=by, **said),
    history=lambda row, reason, **_: (
        f"Approved up to {dollars(cost_of(row))}. {reason}"
    ),
    done="{Rows} approved: {n} of {n_all}.",
    path="approve",
    on_page="Approve",
)
DECLINE = Action(
    "decline_selected",
    "Decline the selected",
    title="Decline",
    sentence=(
        "No human evaluation takes place; the reason is shown to those who requested it."
    ),
    button="Decline all",
    permission="decide",
    danger=True,
    allowed=_in(State.REQUESTED),
    otherwise="None of them is waiting for a decision.",
    service=lambda row, by, reason: decide.decline(row, by=by, reason=reason),
    history="Declined: {reason}",
    done="{Rows} declined: {n} of {n_all}.",
    path="decline",
    on_page="Decline",
)
STOP = Action(
    "stop_selected",
    "Stop the selected",
    title="Stop",
    sentence=(
        "No more HITs are posted; completed work stays paid. No result is published."
    ),
    button="Stop all",
    permission="decide",
    danger=True,
    allowed=_in(State.APPROVED, State.ANNOTATING, State.ANNOTATED),
    otherwise="None of them is running.",
    service=lambda row, by, reason: decide.stop(row, by=by, reason=reason),
    history="Stopped: {reason}",
    done="{Rows} stopped: {n} of {n_all}.",
    path="stop",
    on_page="Stop",
)
RETRY = Action(
    "retry_selected",
    "Retry the failed steps of the selected",
    title="Retry failed steps",
    sentence="Each failed step is queued again, and its attempts are counted from zero.",
    button="Retry all",
    permission="decide",
    allowed=_failures,
    otherwise="None of them failed.",
    line=lambda row: Line(row.pk, str(row), f"{row.failed_step}: {row.failure}"),
    service=lambda row, by, reason: decide.retry(row, by=by),
    history="Step {row.failed_step!r} queued again. Reason: {reason}",
    done="{Rows} queued again: {n} of {n_all}.",
    path="retry",
    on_page="Retry the failed step",
)


class DecisionAdmin(OfTask, ReadOnlyAdmin):
    pool_paths = ("evaluation__task__slug",)
    needs: ClassVar[dict[str, str]] = {"decide": decide.MAY_DECIDE}
    ordering = ["-pk"]
    readonly_fields = ["campaigns"]
    change_form_template = "admin/leaderboard/decide.html"
    actions = [APPROVE, DECLINE, STOP, RETRY]

    def line_of(self, row: Any) -> Line:
        return Line(row.pk, str(row), f"{row.task}, {row.get_state_display()}")

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return self.may(request, "decide")


def _plan(row: Any, costs: dict[int, int]) -> str:
    n = decide.n_workers(row.evaluation)
    who = "1 worker" if n == 1 else f"at least {n:,} workers"
    return f"{dollars(costs[row.pk])}, {who}"


def _warned(row: Any) -> str:
    if not isinstance(row, Submission):
        return ""
    codes = ", ".join(warning["code"] for warning in row.warnings)
    return f", warnings: {codes}" if codes else ""
