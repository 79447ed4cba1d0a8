"""Decisions of staff on one or many evaluations, each confirmed on a second page.

Submissions, comparisons and joint evaluations share them: each decision needs a
permission, is carried out by `evaluation.decide` and is logged in the history.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse

from genie.accounts.task_admin import OfTask
from genie.lib.admin import (
    Line,
    OptionalReasonForm,
    Question,
    ReasonForm,
    act_on_each,
    confirmed_form,
)
from genie.lib.admin import PlainReadOnlyAdmin as ReadOnlyAdmin
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
    from django.urls import URLPattern

    from genie.lib.typing import Account

State = HumanEvaluation.State
AT_WORK = (State.APPROVED, State.ANNOTATING, State.ANNOTATED)
Act = Callable[[Any], tuple[Model, str]]


class ApproveForm(OptionalReasonForm):
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


APPROVE = Question(
    title="Approve the cost",
    sentence="The total is committed now, and human evaluation starts.",
    button="Approve all",
    action="approve_selected",
    form=ApproveForm,
)
DECLINE = Question(
    title="Decline",
    sentence=(
        "No human evaluation takes place; the reason is shown to those who requested it."
    ),
    button="Decline all",
    action="decline_selected",
    form=ReasonForm,
    danger=True,
)
STOP = Question(
    title="Stop",
    sentence=(
        "No more HITs are posted; completed work stays paid. No result is published."
    ),
    button="Stop all",
    action="stop_selected",
    form=ReasonForm,
    danger=True,
)
RETRY = Question(
    title="Retry failed steps",
    sentence="Each failed step is queued again, and its attempts are counted from zero.",
    button="Retry all",
    action="retry_selected",
    form=ReasonForm,
)


@admin.action(description="Approve the cost of the selected", permissions=["decide"])
def approve_selected(
    model_admin: DecisionAdmin, request: HttpRequest, queryset: QuerySet[Any]
) -> HttpResponse | None:
    """Show the total beside the budgets; exactly that amount is committed."""
    rows = model_admin.rows_in(queryset, State.REQUESTED, State.DECLINED)
    if not rows:
        say(model_admin, request, "None of them is waiting for a decision.")
        return None
    costs = {row.pk: cost_of(row) for row in rows}
    total = sum(costs.values())
    if request.POST.get("shown_cents") not in {None, str(total)}:
        say(
            model_admin,
            request,
            "The cost has changed in the meantime; please check it again.",
        )
        return None
    answer = confirmed_form(
        model_admin,
        request,
        APPROVE,
        [
            Line(
                row.pk,
                str(row),
                f"{row.task}, {_plan(row, costs)}{_warned(row)}",
                expected(row.evaluation, costs[row.pk]),
            )
            for row in rows
        ],
        totals=[
            *totals_by_task(rows, costs),
            *paid_elsewhere(rows, costs),
            ("Total", dollars(total)),
        ],
        hidden=[("shown_cents", str(total))],
    )
    if isinstance(answer, HttpResponse):
        return answer
    confirmed, by = answer.cleaned_data, cast("Account", request.user)

    def act(row: Any) -> tuple[Model, str]:
        decide.approve(
            row,
            by=by,
            reason=confirmed["reason"],
            start_now=confirmed["start_now"],
            despite=confirmed["despite"],
        )
        return (
            row,
            f"Approved up to {dollars(costs[row.pk])}. {confirmed['reason']}".strip(),
        )

    act_on_rows(model_admin, request, rows, act, "approved", decide.prepare)
    return None


@admin.action(description="Decline the selected", permissions=["decide"])
def decline_selected(
    model_admin: DecisionAdmin, request: HttpRequest, queryset: QuerySet[Any]
) -> HttpResponse | None:
    rows = model_admin.rows_in(queryset, State.REQUESTED)
    return decide_on_each(
        model_admin,
        request,
        rows,
        DECLINE,
        decide.decline,
        "declined",
        nothing="None of them is waiting for a decision.",
    )


@admin.action(description="Stop the selected", permissions=["decide"])
def stop_selected(
    model_admin: DecisionAdmin, request: HttpRequest, queryset: QuerySet[Any]
) -> HttpResponse | None:
    rows = model_admin.rows_in(queryset, *AT_WORK)
    return decide_on_each(
        model_admin,
        request,
        rows,
        STOP,
        decide.stop,
        "stopped",
        nothing="None of them is running.",
    )


@admin.action(
    description="Retry the failed steps of the selected", permissions=["decide"]
)
def retry_selected(
    model_admin: DecisionAdmin, request: HttpRequest, queryset: QuerySet[Any]
) -> HttpResponse | None:
    rows = model_admin.rows_that_failed(queryset)
    if not rows:
        say(model_admin, request, "None of them failed.")
        return None
    lines = [
        Line(row.pk, str(row), f"{row.failed_step}: {row.failure}") for row in rows
    ]
    answer = confirmed_form(model_admin, request, RETRY, lines)
    if isinstance(answer, HttpResponse):
        return answer
    reason, by = answer.cleaned_data["reason"], cast("Account", request.user)

    def act(row: Any) -> tuple[Model, str]:
        step = row.failed_step
        decide.retry(row, by=by)
        return row, f"Step {step!r} queued again. Reason: {reason}"

    act_on_rows(model_admin, request, rows, act, "queued again")
    return None


class Verb(NamedTuple):
    """A button on a row's page: an action of the list for this row alone."""

    label: str
    action: str
    # returns the rows for which the button is offered
    offered: Callable[[DecisionAdmin, QuerySet[Any]], Any]


class DecisionAdmin(OfTask, ReadOnlyAdmin):
    pool_paths = ("evaluation__task__slug",)
    needs: ClassVar[dict[str, str]] = {"decide": decide.MAY_DECIDE}
    # where a row's state and failure are stored: on itself, or on its evaluation
    state_of = "evaluation__"
    ordering = ["-pk"]
    readonly_fields = ["campaigns"]
    change_form_template = "admin/leaderboard/decide.html"
    verbs: ClassVar[dict[str, Verb]] = {
        "approve": Verb(
            "Approve",
            "approve_selected",
            lambda self, rows: self.rows_in(rows, State.REQUESTED, State.DECLINED),
        ),
        "decline": Verb(
            "Decline",
            "decline_selected",
            lambda self, rows: self.rows_in(rows, State.REQUESTED),
        ),
        "stop": Verb(
            "Stop", "stop_selected", lambda self, rows: self.rows_in(rows, *AT_WORK)
        ),
        "retry": Verb(
            "Retry the failed step",
            "retry_selected",
            lambda self, rows: self.rows_that_failed(rows),
        ),
    }
    actions = [
        "approve_selected",
        "decline_selected",
        "stop_selected",
        "retry_selected",
    ]
    approve_selected = approve_selected
    decline_selected = decline_selected
    stop_selected = stop_selected
    retry_selected = retry_selected

    def get_urls(self) -> list[URLPattern]:
        name = self.opts.model_name
        return [
            path(
                f"<int:pk>/{verb}/",
                self.admin_site.admin_view(self.do_view),
                {"verb": verb},
                name=f"leaderboard_{name}_{verb}",
            )
            for verb in self.verbs
        ] + super().get_urls()

    def do_view(self, request: HttpRequest, pk: int, verb: str) -> HttpResponse:
        if not self.has_decide_permission(request):
            raise PermissionDenied
        rows = self.get_queryset(request).filter(pk=pk)
        if (row := rows.first()) is None:
            raise Http404
        self.insist(request, "decide", row)
        act = getattr(self, self.verbs[verb].action)
        answer: HttpResponse | None = act(request, rows)
        change = f"admin:leaderboard_{self.opts.model_name}_change"
        return answer or redirect(reverse(change, args=[pk]))

    def buttons(self, row: Any) -> list[tuple[str, str]]:
        rows = self.model._default_manager.filter(pk=row.pk)
        stem = f"admin:leaderboard_{self.opts.model_name}"
        return [
            (reverse(f"{stem}_{name}", args=[row.pk]), verb.label)
            for name, verb in self.verbs.items()
            if verb.offered(self, rows)
        ]

    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        row = context.get("original")
        if row is not None and self.may(request, "decide", row):
            context["buttons"] = self.buttons(row)
        return super().render_change_form(request, context, *args, **kwargs)

    def rows_in(self, queryset: QuerySet[Any], *states: str) -> list[Any]:
        names = states if self.state_of else map(lifecycle.of_evaluation, states)
        matching = queryset.filter(**{f"{self.state_of}state__in": list(names)})
        return list(matching.order_by("pk"))

    def rows_that_failed(self, queryset: QuerySet[Any]) -> list[Any]:
        failed = queryset.exclude(**{f"{self.state_of}failure": ""})
        return list(failed.order_by("pk"))


def decide_on_each(
    model_admin: DecisionAdmin,
    request: HttpRequest,
    rows: list[Any],
    question: Question,
    service: Callable[..., object],
    done: str,
    *,
    nothing: str,
) -> HttpResponse | None:
    if not rows:
        say(model_admin, request, nothing)
        return None
    lines = [
        Line(row.pk, str(row), f"{row.task}, {row.get_state_display()}") for row in rows
    ]
    answer = confirmed_form(model_admin, request, question, lines)
    if isinstance(answer, HttpResponse):
        return answer
    reason, by = answer.cleaned_data["reason"], cast("Account", request.user)

    def act(row: Any) -> tuple[Model, str]:
        service(row, by=by, reason=reason)
        return row, f"{done.capitalize()}: {reason}"

    act_on_rows(model_admin, request, rows, act, done)
    return None


def act_on_rows(
    model_admin: DecisionAdmin,
    request: HttpRequest,
    rows: list[Any],
    act: Act,
    done: str,
    prepare: Callable[[Any], None] | None = None,
) -> None:
    n = act_on_each(model_admin, request, rows, act, prepare)
    many = str(model_admin.opts.verbose_name_plural).capitalize()
    level = messages.SUCCESS if n else messages.WARNING
    model_admin.message_user(request, f"{many} {done}: {n} of {len(rows)}.", level)


def say(model_admin: DecisionAdmin, request: HttpRequest, sentence: str) -> None:
    model_admin.message_user(request, sentence, messages.WARNING)


def _plan(row: Any, costs: dict[int, int]) -> str:
    n = decide.n_workers(row.evaluation)
    who = "1 worker" if n == 1 else f"at least {n:,} workers"
    return f"{dollars(costs[row.pk])}, {who}"


def _warned(row: Any) -> str:
    if not isinstance(row, Submission):
        return ""
    codes = ", ".join(warning["code"] for warning in row.warnings)
    return f", warnings: {codes}" if codes else ""
