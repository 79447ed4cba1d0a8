"""Decisions of staff on one or many evaluations, each confirmed on a second page.

Submissions, comparisons and joint evaluations share them: each decision needs a
permission, is carried out by `evaluation.decide` and is logged in the history.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html_join

from crowd.campaigns.admin.campaign import StopForm
from crowd.elsewhere.services.accounts import pays_in
from crowd.hits.models import Campaign
from crowd.hits.selectors import state_words
from crowd.money.services.budgets import budget_left
from genie.accounts.task_admin import OfTask
from genie.lib.admin import ReadOnlyAdmin
from genie.lib.staff_actions import Action, Line
from leaderboard.evaluation import decide
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.ranked_scores import n_judged, partial_of_score
from leaderboard.evaluation.selectors.system_ratings import (
    campaigns_of,
    evaluations_about,
)
from leaderboard.evaluation.strategies import strategy_of
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import (
    HAS_FAILED,
    in_state,
    is_published,
    is_withdrawn,
    one_each,
)
from leaderboard.submissions.states import state_on_pages

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from genie.lib.typing import Account


_of = decide.evaluation_about


def dollars(cents: int) -> str:
    """Format cents as staff read them.

    Examples
    --------
    >>> dollars(123456), dollars(-5)
    ('$1,234.56', '-$0.05')
    """
    sign = "-" if cents < 0 else ""
    return f"{sign}${abs(cents) / 100:,.2f}"


def name_of(row: Any) -> str:
    return str(getattr(row, "human_evaluation", None) or row)


def cost_of(row: Any) -> int:
    """Return the price in cents."""
    return decide.quote(_of(row)).total_cents


def cost_shown(row: Any) -> str:
    evaluation = _of(row)
    if evaluation is not None and evaluation.approved_cents is not None:
        return f"{dollars(evaluation.approved_cents)} approved"
    if evaluation is None or evaluation.state != HumanEvaluation.State.REQUESTED:
        return ""
    return f"{dollars(cost_of(row))} if approved"


def paid_elsewhere(rows: list[Any], costs: dict[int, int]) -> list[tuple[str, str]]:
    cents_by_platform: dict[str, int] = defaultdict(int)
    for row in rows:
        cents_by_platform[row.task.human.platform] += costs[row.pk]
    said = [(p, pays_in(p, cents)) for p, cents in sorted(cents_by_platform.items())]
    return [(platform, sentence) for platform, sentence in said if sentence]


def totals_by_task(rows: list[Any], costs: dict[int, int]) -> list[tuple[str, str]]:
    costs_by_task: dict[str, int] = defaultdict(int)
    for row in rows:
        costs_by_task[row.task.slug] += costs[row.pk]
    totals = []
    for slug, cents in sorted(costs_by_task.items()):
        left = budget_left(slug)
        short = "" if cents <= left else " — not enough: some will be refused"
        totals.append((slug, f"{dollars(cents)} of {dollars(left)} left{short}"))
    return totals


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
        label="Start even though test questions stand out, because",
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
            name_of(row),
            f"{row.task}, {_plan(row, costs)}{_warned(row)}",
            strategy_of(_of(row)).forecast(_of(row), costs[row.pk]),
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
    n = APPROVE.act(
        model_admin,
        request,
        rows,
        lambda row: decide.prepare(_of(row)),
        **form.cleaned_data,
    )
    APPROVE.report(model_admin, request, n, len(rows))
    return None


def _in(*states: str) -> Callable[[QuerySet[Any]], list[Any]]:
    def rows_in(rows: QuerySet[Any]) -> list[Any]:
        if rows.model is Submission:
            names = map(state_on_pages, states)
            return list(one_each(rows.filter(in_state(*names))).order_by("pk"))
        return list(rows.filter(state__in=states).order_by("pk"))

    return rows_in


def _failures(rows: QuerySet[Any]) -> list[Any]:
    if rows.model is Submission:
        return list(one_each(rows.filter(HAS_FAILED)).order_by("pk"))
    return list(rows.exclude(failure="").order_by("pk"))


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
    service=lambda row, by, **said: decide.approve(_of(row), by=by, **said),
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
    sentence=("There will be no human evaluation. The submitter sees your reason."),
    button="Decline all",
    permission="decide",
    danger=True,
    allowed=_in(State.REQUESTED),
    otherwise="None of them is waiting for a decision.",
    service=lambda row, by, **said: decide.decline(_of(row), by=by, **said),
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
    service=lambda row, by, **said: decide.stop(_of(row), by=by, **said),
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
    line=lambda row: Line(
        row.pk, name_of(row), f"{row.failed_step}: {getattr(row, 'work', row).failure}"
    ),
    service=lambda row, by, reason: (
        decide.retry(_of(row), by=by)
        if _of(row)
        else decide.retry_submission(row, by=by)
    ),
    history="Step {row.failed_step!r} queued again. Reason: {reason}",
    done="{Rows} queued again: {n} of {n_all}.",
    path="retry",
    on_page="Retry the failed step",
)


class DecisionAdmin(OfTask, ReadOnlyAdmin):
    pool_paths = ("task__slug",)
    needs: ClassVar[dict[str, str]] = {"decide": decide.MAY_DECIDE}
    ordering = ["-pk"]
    readonly_fields = ["campaigns"]
    change_form_template = "admin/leaderboard/decide.html"
    actions = [APPROVE, DECLINE, STOP, RETRY]

    def line_of(self, row: Any) -> Line:
        return Line(row.pk, name_of(row), f"{row.task}, {row.get_state_display()}")

    @admin.display(description="campaigns")
    def campaigns(self, row: Any) -> str:
        return links_to_campaigns(_of(row))

    @admin.display(description="cost")
    def cost(self, row: Any) -> str:
        return cost_shown(row)

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return self.may(request, "decide")


def _plan(row: Any, costs: dict[int, int]) -> str:
    n = strategy_of(_of(row)).n_workers(_of(row))
    who = "1 worker" if n == 1 else f"at least {n:,} workers"
    return f"{dollars(costs[row.pk])}, {who}"


def _warned(row: Any) -> str:
    if not isinstance(row, Submission):
        return ""
    codes = ", ".join(warning["code"] for warning in row.warnings)
    return f", warnings: {codes}" if codes else ""


# Decisions of staff on results of evaluations that were stopped early.


def _stop(
    model_admin: Any, request: HttpRequest, rows: list[Submission]
) -> HttpResponse | None:
    asking = [row for row in rows if row.evaluation.state == State.ANNOTATING]
    n_of = n_judged([one.pk for row in asking for one in row.evaluation.alone])
    # a system without ratings has no result to publish
    least = {
        row.pk: [n_of.get(one.pk, 0) for one in row.evaluation.alone] for row in asking
    }
    rated = {pk: min(found) for pk, found in least.items() if min(found)}
    lines = [
        Line(row.pk, name_of(row), _answered(row, rated.get(row.pk))) for row in rows
    ]
    question = STOP_SUBMISSION if any(rated.values()) else STOP
    form = question.ask(model_admin, request, lines)
    if isinstance(form, HttpResponse):
        return form
    answers = form.cleaned_data
    n = STOP_SUBMISSION.act(model_admin, request, rows, rated=rated, **answers)
    STOP_SUBMISSION.report(model_admin, request, n, len(rows))
    return None


def _stop_one(
    row: Submission,
    by: Account,
    reason: str,
    rated: dict[int, int],
    publish: bool | None = None,
) -> None:
    publish = publish if rated.get(row.pk) else None
    decide.stop(_of(row), by=by, reason=reason, publish=publish)


def _stop_history(
    row: Submission, reason: str, rated: dict[int, int], publish: bool | None = None
) -> str:
    is_shown = publish and rated.get(row.pk)
    result = "result so far published" if is_shown else "no result published"
    return f"Stopped, {result}: {reason}"


def _answered(submission: Submission, n: int | None) -> str:
    evaluation = submission.human_evaluation
    state = f"{submission.task}, {submission.get_state_display()}"
    if evaluation is None or n is None:
        return state
    return f"{state}, {n:,} of {evaluation.n_instances:,} instances rated"


def _still_open(rows: QuerySet[Any]) -> list[Submission]:
    waiting = rows.filter(
        ~is_withdrawn(),
        human_evaluation__state=State.ANNOTATING,
        human_evaluation__campaigns__campaign__state=Campaign.State.STOPPED,
        human_evaluation__campaigns__campaign__completed_at=None,
    )
    return list(one_each(waiting.distinct()))


def _partial_scores(rows: QuerySet[Any], ranked: bool = True) -> list[Submission]:
    published = rows.filter(is_published(), human_evaluation__ranks_partial=ranked)
    return list(
        one_each(published.select_related("task", "human_evaluation")).order_by("pk")
    )


def _is_partial(submission: Submission) -> bool:
    evaluation: HumanEvaluation = submission.evaluation
    scores = evaluation.current_scores.order_by("pk")
    return any(partial_of_score(score) is not None for score in scores)


STOP_SUBMISSION = replace(
    STOP,
    sentence=(
        "No more HITs are posted; completed work stays paid. HITs that workers have "
        "open can still be submitted."
    ),
    form=StopForm,
    run=_stop,
    service=_stop_one,
    history=_stop_history,
)
GO_ON = Action(
    "go_on_selected",
    "Undo the stop of the selected",
    title="Undo the stop",
    sentence="Workers get HITs again, within the approved cost.",
    button="Take back",
    permission="decide",
    allowed=_still_open,
    otherwise="None of these is waiting for open pages after a stop.",
    service=lambda row, by, reason: decide.go_on(
        row.human_evaluation, by=by, reason=reason
    ),
    history="Going on: {reason}",
    done="{Rows} going on: {n} of {n_all}.",
    path="go-on",
    on_page="Undo the stop",
)
PUBLISH_PARTIAL = Action(
    "publish_partial_selected",
    "Publish partial results of the selected stopped submissions",
    title="Publish partial results",
    sentence=(
        "Answers collected before these were stopped are scored and published, marked "
        "as partial. Without enough instances they have no rank."
    ),
    button="Publish all",
    permission="decide",
    allowed=_in(State.STOPPED),
    otherwise="None of them was stopped without publishing.",
    service=lambda row, by, reason: decide.publish_partial(
        row.human_evaluation, by=by, reason=reason
    ),
    history="Published in part: {reason}",
    done="{Rows} published in part: {n} of {n_all}.",
    path="publish-partial",
    on_page="Publish partial result",
)
RANK = Action(
    "rank_partial_selected",
    "Rank the partial scores of the selected",
    title="Rank partial scores",
    sentence=(
        "These scores cover too few instances. They are ranked among complete scores and "
        "stay marked as partial. You can undo this."
    ),
    button="Rank all",
    permission="decide",
    allowed=lambda rows: list(filter(_is_partial, _partial_scores(rows, False))),
    otherwise="None of them has a partial score without a rank.",
    service=lambda row, by, reason: decide.rank_partial(
        row.human_evaluation, by=by, reason=reason, ranked=True
    ),
    history="Ranked although partial: {reason}",
    done="{Rows} ranked although partial: {n} of {n_all}.",
    path="rank-partial",
    on_page="Rank the partial score",
)
UNRANK = Action(
    "unrank_partial_selected",
    "Remove selected partial scores from the ranking",
    title="Remove partial scores from the ranking",
    sentence="These partial scores stay on the board, without a rank.",
    button="Remove all ranks",
    permission="decide",
    allowed=_partial_scores,
    otherwise="None of them has a rank by decision.",
    service=lambda row, by, reason: decide.rank_partial(
        row.human_evaluation, by=by, reason=reason, ranked=False
    ),
    history="Ranked no longer: {reason}",
    done="{Rows} ranked no longer: {n} of {n_all}.",
    path="unrank-partial",
    on_page="Remove the partial score from the ranking",
)


# Links between campaigns and the evaluations that they serve.
def links_to_campaigns(evaluation: HumanEvaluation | None) -> str:
    if evaluation is None or not campaigns_of(evaluation):
        return "–"
    return format_html_join(
        "",
        '<div><a href="{}">{}</a> · {}</div>',
        (
            (
                reverse("admin:crowd_campaign_change", args=[campaign.pk]),
                campaign.title,
                state_words(campaign),
            )
            for campaign in campaigns_of(evaluation)
        ),
    )


def links_to_others(submission: Submission) -> str:
    rows = [
        row.specific.listed_as
        for row in evaluations_about(submission)
        if row.pk != submission.human_evaluation_id
    ]
    if not rows:
        return "–"
    return format_html_join(
        "",
        '<div><a href="{}">{}</a> · {}</div>',
        ((page_of(row), row, row.get_state_display()) for row in rows),
    )


def page_of(row: Model) -> str:
    name = f"{row._meta.app_label}_{row._meta.model_name}"
    return reverse(f"admin:{name}_change", args=[row.pk])
