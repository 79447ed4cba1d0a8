"""What staff do with several submissions at once, each after one more look."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin, messages
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
from leaderboard.admin.money import dollars
from leaderboard.models import Submission
from leaderboard.services import approve, evaluate, retry, withdraw

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from genie.lib.typing import Account

State = Submission.State


class ApproveForm(OptionalReasonForm):
    start_now = forms.BooleanField(
        required=False,
        label="Start now",
        help_text="Do not wait for the next scheduled start.",
    )
    field_order = ("start_now", "reason")


APPROVE = Question(
    title="Approve submissions",
    sentence="The total is committed now, and human evaluation of these submissions "
    "starts.",
    button="Approve all",
    action="approve_selected",
    form=ApproveForm,
)
DECLINE = Question(
    title="Decline submissions",
    sentence="These are not evaluated by people; the reason is shown to each submitter.",
    button="Decline all",
    action="decline_selected",
    form=ReasonForm,
    danger=True,
)
RETRY = Question(
    title="Run failed steps again",
    sentence="Each failed step is queued again, and its attempts are counted from zero.",
    button="Run them again",
    action="retry_selected",
    form=ReasonForm,
)
PUBLISH_PARTIAL = Question(
    title="Publish partial results",
    sentence=(
        "Answers collected before these were stopped are scored and published, "
        "marked as partial. Without enough instances they have no rank."
    ),
    button="Publish all",
    action="publish_partial_selected",
    form=ReasonForm,
)
WITHDRAW = Question(
    title="Withdraw submissions",
    sentence=(
        "They are removed from the board and their campaigns stop; completed "
        "work stays paid. This cannot be undone."
    ),
    button="Withdraw all",
    action="withdraw_selected",
    form=ReasonForm,
    danger=True,
)


@admin.action(description="Approve the selected submissions", permissions=["decide"])
def approve_selected(
    model_admin: Any, request: HttpRequest, queryset: QuerySet[Submission]
) -> HttpResponse | None:
    """Show the total beside the budgets; approve what can be approved."""
    rows = _rows(queryset, State.MEASURED)
    if not rows:
        _warn(model_admin, request, "None of them is waiting for a decision.")
        return None
    costs = {row.pk: approve.quote(row).total_cents for row in rows}
    total = sum(costs.values())
    # staff approve the sum that they saw; pay or platform may have changed between
    if request.POST.get("shown_cents") not in {None, str(total)}:
        _warn(
            model_admin,
            request,
            "The cost has changed in the meantime; please check it again.",
        )
        return None
    lines = [
        Line(
            row.pk,
            row.system_name,
            f"{row.task}, {dollars(costs[row.pk])}{_warned(row)}",
        )
        for row in rows
    ]
    answer = asked(
        model_admin,
        request,
        APPROVE,
        lines,
        totals=[*_by_task(rows, costs), ("Total", dollars(total))],
        hidden=[("shown_cents", str(total))],
    )
    if isinstance(answer, HttpResponse):
        return answer
    fields = answer.cleaned_data
    by = cast("Account", request.user)

    def act(row: Submission) -> tuple[Submission, str]:
        done = approve.approve(
            row.pk, by=by, reason=fields["reason"], start_now=fields["start_now"]
        )
        return (
            done,
            f"Approved up to {dollars(costs[row.pk])}. {fields['reason']}".strip(),
        )

    n = act_on_each(model_admin, request, rows, act)
    _tell(model_admin, request, f"Submissions approved: {n} of {len(rows)}.", n)
    return None


@admin.action(
    description="Decline the selected submissions, with a reason",
    permissions=["decide"],
)
def decline_selected(
    model_admin: Any, request: HttpRequest, queryset: QuerySet[Submission]
) -> HttpResponse | None:
    rows = _rows(queryset, State.MEASURED)
    if not rows:
        _warn(model_admin, request, "None of them is waiting for a decision.")
        return None
    answer = asked(model_admin, request, DECLINE, _lines(rows))
    if isinstance(answer, HttpResponse):
        return answer
    reason, by = answer.cleaned_data["reason"], cast("Account", request.user)

    def act(row: Submission) -> tuple[Submission, str]:
        return approve.decline(row.pk, by=by, reason=reason), f"Declined: {reason}"

    n = act_on_each(model_admin, request, rows, act)
    _tell(model_admin, request, f"Submissions declined: {n} of {len(rows)}.", n)
    return None


@admin.action(
    description="Run the failed step of the selected submissions again",
    permissions=["decide"],
)
def retry_selected(
    model_admin: Any, request: HttpRequest, queryset: QuerySet[Submission]
) -> HttpResponse | None:
    rows = list(queryset.exclude(failed_step=""))
    if not rows:
        _warn(model_admin, request, "None of them failed.")
        return None
    lines = [
        Line(row.pk, row.system_name, f"{row.failed_step}: {row.failure}")
        for row in rows
    ]
    answer = asked(model_admin, request, RETRY, lines)
    if isinstance(answer, HttpResponse):
        return answer
    reason, by = answer.cleaned_data["reason"], cast("Account", request.user)

    def act(row: Submission) -> tuple[Submission, str]:
        retry.retry(row.pk, by=by)
        return row, f"Step {row.failed_step!r} queued again. Reason: {reason}"

    n = act_on_each(model_admin, request, rows, act)
    _tell(model_admin, request, f"Steps queued again: {n} of {len(rows)}.", n)
    return None


@admin.action(
    description="Publish partial results of the selected stopped submissions",
    permissions=["decide"],
)
def publish_partial_selected(
    model_admin: Any, request: HttpRequest, queryset: QuerySet[Submission]
) -> HttpResponse | None:
    rows = _rows(queryset, State.STOPPED)
    if not rows:
        _warn(model_admin, request, "None of them was stopped without publishing.")
        return None
    answer = asked(model_admin, request, PUBLISH_PARTIAL, _lines(rows))
    if isinstance(answer, HttpResponse):
        return answer
    reason, by = answer.cleaned_data["reason"], cast("Account", request.user)

    def act(row: Submission) -> tuple[Submission, str]:
        evaluate.publish_partial(row.pk, by=by, reason=reason)
        return row, f"Published the partial result: {reason}"

    n = act_on_each(model_admin, request, rows, act)
    _tell(model_admin, request, f"Being published: {n} of {len(rows)}.", n)
    return None


@admin.action(
    description="Withdraw the selected submissions, with a reason",
    permissions=["decide"],
)
def withdraw_selected(
    model_admin: Any, request: HttpRequest, queryset: QuerySet[Submission]
) -> HttpResponse | None:
    rows = list(queryset.select_related("task").order_by("pk"))
    answer = asked(model_admin, request, WITHDRAW, _lines(rows))
    if isinstance(answer, HttpResponse):
        return answer
    reason, by = answer.cleaned_data["reason"], cast("Account", request.user)

    def act(row: Submission) -> tuple[Submission, str]:
        withdraw.withdraw(row.pk, by=by, reason=reason)
        return row, f"Withdrawn: {reason}"

    n = act_on_each(model_admin, request, rows, act)
    _tell(model_admin, request, f"Submissions withdrawn: {n} of {len(rows)}.", n)
    return None


def _rows(queryset: QuerySet[Submission], *states: str) -> list[Submission]:
    chosen = queryset.filter(state__in=states).select_related("task", "team")
    return list(chosen.order_by("pk"))


def _lines(rows: list[Submission]) -> list[Line]:
    return [
        Line(row.pk, row.system_name, f"{row.task}, {row.get_state_display()}")
        for row in rows
    ]


def _warned(row: Submission) -> str:
    codes = ", ".join(warning["code"] for warning in row.warnings)
    return f", warnings: {codes}" if codes else ""


def _by_task(rows: list[Submission], costs: dict[int, int]) -> list[tuple[str, str]]:
    """Set what each task's submissions cost beside what is left for it."""
    cents_of: dict[str, int] = defaultdict(int)
    for row in rows:
        cents_of[row.task.slug] += costs[row.pk]
    lines = []
    for slug, cents in sorted(cents_of.items()):
        left = budget_left(slug)
        short = "" if cents <= left else " — not enough: some will be refused"
        lines.append((slug, f"{dollars(cents)} of {dollars(left)} left{short}"))
    return lines


def _warn(model_admin: Any, request: HttpRequest, sentence: str) -> None:
    model_admin.message_user(request, sentence, messages.WARNING)


def _tell(model_admin: Any, request: HttpRequest, sentence: str, n: int) -> None:
    level = messages.SUCCESS if n else messages.WARNING
    model_admin.message_user(request, sentence, level)
