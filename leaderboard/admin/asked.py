"""Comparisons and joint evaluations: what they cost, and staff's yes or no."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.db.models import Model
from django.http import HttpRequest, HttpResponse

from crowd.services.fund import budget_left
from genie.lib.admin_questions import (
    Line,
    OptionalReasonForm,
    Question,
    ReasonForm,
    act_on_each,
    asked,
)
from genie.lib.read_only_admin import ReadOnlyAdmin
from leaderboard.admin.campaign_links import links_to_campaigns
from leaderboard.admin.filters import YesNo
from leaderboard.admin.money import dollars
from leaderboard.models import Comparison, JointEvaluation
from leaderboard.services import compare, joint

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from genie.lib.typing import Account

Row = Comparison | JointEvaluation


APPROVE = Question(
    title="Approve the cost",
    sentence="The total is committed now, and human evaluation starts at once.",
    button="Approve all",
    action="approve_selected",
    form=OptionalReasonForm,
)
DECLINE = Question(
    title="Decline",
    sentence="No human evaluation takes place; the reason is shown to the people who "
    "requested it.",
    button="Decline all",
    action="decline_selected",
    form=ReasonForm,
    danger=True,
)
STOP = Question(
    title="Stop",
    sentence=(
        "No more HITs are posted; completed work stays paid. No result is "
        "published: to get a joint evaluation's partial result, stop its "
        "campaign instead."
    ),
    button="Stop all",
    action="stop_selected",
    form=ReasonForm,
    danger=True,
)


RETRY = Question(
    title="Try again",
    sentence="The failed step is run again.",
    button="Try all again",
    action="retry_selected",
    form=OptionalReasonForm,
)


class HasFailed(YesNo):
    title = "failed"
    parameter_name = "failed"
    field, nothing = "failure", ""


def _service(row: Row) -> Any:
    return compare if isinstance(row, Comparison) else joint


def _cost(row: Row) -> int:
    cents: int = _service(row).quote(row).total_cents
    return cents


def _totals(rows: list[Row]) -> list[tuple[str, str]]:
    found = []
    for slug in sorted({row.task.slug for row in rows}):
        cents = sum(_cost(row) for row in rows if row.task.slug == slug)
        left = budget_left(slug)
        short = "" if cents <= left else " — not enough: some will be refused"
        found.append((slug, f"{dollars(cents)} of {dollars(left)} left{short}"))
    return found


def _each(
    model_admin: Any,
    request: HttpRequest,
    rows: list[Row],
    question: Question,
    verb: str,
    **extra: Any,
) -> HttpResponse | None:
    """Ask for a yes, then do the same with each row."""
    lines = [
        Line(row.pk, str(row), f"{row.get_state_display()}, {dollars(_cost(row))}")
        for row in rows
    ]
    answer = asked(model_admin, request, question, lines, **extra)
    if isinstance(answer, HttpResponse):
        return answer
    reason, by = answer.cleaned_data["reason"], cast("Account", request.user)

    def act(row: Row) -> tuple[Model, str]:
        do: Callable[..., Model] = getattr(_service(row), verb)
        return do(row.pk, by=by, reason=reason), f"{question.title}. {reason}".strip()

    n = act_on_each(model_admin, request, rows, act)
    level = messages.SUCCESS if n else messages.WARNING
    model_admin.message_user(request, f"Done: {n} of {len(rows)}.", level)
    return None


@admin.action(description="Approve the cost of the selected", permissions=["decide"])
def approve_selected(
    model_admin: Any, request: HttpRequest, queryset: QuerySet[Any]
) -> HttpResponse | None:
    """Show the total beside the budgets; money is set aside for exactly that."""
    rows = _rows(queryset, "REQUESTED", "DECLINED")
    if not rows:
        model_admin.message_user(
            request, "None of them is waiting for a decision.", messages.WARNING
        )
        return None
    total = str(sum(_cost(row) for row in rows))
    if request.POST.get("shown_cents") not in {None, total}:
        model_admin.message_user(
            request,
            "The cost has changed in the meantime; please check it again.",
            messages.WARNING,
        )
        return None
    return _each(
        model_admin,
        request,
        rows,
        APPROVE,
        "approve",
        totals=[*_totals(rows), ("Total", dollars(int(total)))],
        hidden=[("shown_cents", total)],
    )


@admin.action(description="Decline the selected", permissions=["decide"])
def decline_selected(
    model_admin: Any, request: HttpRequest, queryset: QuerySet[Any]
) -> HttpResponse | None:
    rows = _rows(queryset, "REQUESTED")
    if not rows:
        model_admin.message_user(
            request, "None of them is waiting for a decision.", messages.WARNING
        )
        return None
    return _each(model_admin, request, rows, DECLINE, "decline")


@admin.action(description="Stop the selected", permissions=["decide"])
def stop_selected(
    model_admin: Any, request: HttpRequest, queryset: QuerySet[Any]
) -> HttpResponse | None:
    rows = _rows(queryset, "APPROVED", "RUNNING")
    if not rows:
        model_admin.message_user(request, "None of them is running.", messages.WARNING)
        return None
    return _each(model_admin, request, rows, STOP, "stop")


@admin.action(
    description="Try the failed steps of the selected again", permissions=["decide"]
)
def retry_selected(
    model_admin: Any, request: HttpRequest, queryset: QuerySet[Any]
) -> HttpResponse | None:
    rows = _rows(queryset.exclude(failure=""), "APPROVED", "RUNNING", "SCORED")
    if not rows:
        model_admin.message_user(request, "None of them failed.", messages.WARNING)
        return None
    return _each(model_admin, request, rows, RETRY, "retry")


def _rows(queryset: QuerySet[Any], *states: str) -> list[Row]:
    wanted = queryset.filter(state__in=states).select_related("task")
    return list(wanted.order_by("pk"))


class AskedAdmin(ReadOnlyAdmin):
    """What was asked is not edited; staff approve, decline and stop."""

    list_select_related = ["task", "requested_by"]
    ordering = ["-pk"]
    readonly_fields = ["campaigns"]
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

    def has_decide_permission(self, request: HttpRequest) -> bool:
        """Tell who may spend: the permission to change submissions."""
        return request.user.has_perm("leaderboard.change_submission")

    @admin.display(description="campaigns")
    def campaigns(self, row: Row) -> str:
        return links_to_campaigns(row.evaluation)

    @admin.display(description="cost")
    def cost(self, row: Row) -> str:
        if row.approved_cents is not None:
            return f"{dollars(row.approved_cents)} approved"
        return f"{dollars(_cost(row))} if approved"


@admin.register(Comparison)
class ComparisonAdmin(AskedAdmin):
    list_display = [
        "__str__",
        "task",
        "state",
        "better",
        "n_labels",
        "asked_how",
        "cost",
        "failure",
    ]
    list_filter = ["state", HasFailed, "rule", "strategy", "simulated", "task"]
    list_select_related = ["task", "a", "b"]
    search_fields = ["a__system_name", "b__system_name"]

    @admin.display(description="rule, error probability, strategy", ordering="rule")
    def asked_how(self, row: Comparison) -> str:
        return f"{row.rule}, {row.delta:g}, {row.get_strategy_display()}"


@admin.register(JointEvaluation)
class JointEvaluationAdmin(AskedAdmin):
    list_display = [
        "__str__",
        "task",
        "state",
        "n_instances",
        "n_workers",
        "cost",
        "failure",
    ]
    list_filter = ["state", HasFailed, "simulated", "task"]
    search_fields = ["systems__submission__system_name"]
