"""Decisions of staff on results of evaluations that were stopped early."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse

from crowd.hits.models import Campaign
from genie.lib.admin import Line, Question, ReasonForm, confirmed_form
from leaderboard.evaluation import decide
from leaderboard.evaluation.admin.decisions import (
    AT_WORK,
    STOP,
    DecisionAdmin,
    act_on_rows,
    decide_on_each,
    say,
)
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.coverage import partial_of_score
from leaderboard.evaluation.selectors.progress import n_judged
from leaderboard.submissions.models import Submission

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet

    from genie.lib.typing import Account

State = Submission.State


class StopForm(ReasonForm):
    publish = forms.TypedChoiceField(
        label="Results so far",
        choices=[
            ("yes", "Publish them, marked as partial and without a rank"),
            ("no", "Do not publish them; keep the answers"),
        ],
        coerce=lambda choice: choice == "yes",
        widget=forms.RadioSelect,
        help_text="Where nothing has been rated, no result is published.",
    )
    field_order = ("publish", "reason")


STOP_WITH_ANSWERS = Question(
    title="Stop",
    sentence=(
        "No more HITs are posted; completed work stays paid. HITs that workers have "
        "open can still be submitted."
    ),
    button="Stop all",
    action="stop_selected",
    form=StopForm,
    danger=True,
)
GO_ON = Question(
    title="Undo the stop",
    sentence="Workers get HITs again, within the approved cost.",
    button="Take back",
    action="go_on_selected",
    form=ReasonForm,
)
PUBLISH_PARTIAL = Question(
    title="Publish partial results",
    sentence=(
        "Answers collected before these were stopped are scored and published, marked "
        "as partial. Without enough instances they have no rank."
    ),
    button="Publish all",
    action="publish_partial_selected",
    form=ReasonForm,
)
RANK = Question(
    title="Rank partial scores",
    sentence=(
        "These scores rest on too few of their instances. They get a rank among the "
        "whole ones, and stay marked as partial. This can be taken back."
    ),
    button="Rank all",
    action="rank_partial_selected",
    form=ReasonForm,
)
UNRANK = Question(
    title="Rank partial scores no longer",
    sentence="These partial scores stay on the board, without a rank.",
    button="Remove all ranks",
    action="unrank_partial_selected",
    form=ReasonForm,
)


@admin.action(description="Stop the selected", permissions=["decide"])
def stop_selected(
    model_admin: DecisionAdmin, request: HttpRequest, queryset: QuerySet[Submission]
) -> HttpResponse | None:
    rows = model_admin.rows_in(queryset, *AT_WORK)
    if not rows:
        say(model_admin, request, "None of them is running.")
        return None
    judged = n_judged([row.pk for row in rows if row.state == State.ANNOTATING])
    lines = [Line(row.pk, str(row), _answered(row, judged.get(row.pk))) for row in rows]
    question = STOP_WITH_ANSWERS if any(judged.values()) else STOP
    answer = confirmed_form(model_admin, request, question, lines)
    if isinstance(answer, HttpResponse):
        return answer
    said, by = answer.cleaned_data, cast("Account", request.user)

    def act(row: Submission) -> tuple[Model, str]:
        publish = said["publish"] if judged.get(row.pk) else None
        decide.stop(row, by=by, reason=said["reason"], publish=publish)
        result = "result so far published" if publish else "no result published"
        return row, f"Stopped, {result}: {said['reason']}"

    act_on_rows(model_admin, request, rows, act, "stopped")
    return None


@admin.action(description="Undo the stop of the selected", permissions=["decide"])
def go_on_selected(
    model_admin: DecisionAdmin, request: HttpRequest, queryset: QuerySet[Submission]
) -> HttpResponse | None:
    return decide_on_each(
        model_admin,
        request,
        list(still_open(queryset)),
        GO_ON,
        decide.go_on,
        "going on",
        nothing="None of these is waiting for open pages after a stop.",
    )


def still_open(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Return the stopped ones whose campaigns wait for pages that workers have open."""
    return rows.filter(
        state=State.ANNOTATING,
        human_evaluation__campaigns__campaign__state=Campaign.State.STOPPED,
        human_evaluation__campaigns__campaign__completed_at=None,
    ).distinct()


def _answered(submission: Submission, n: int | None) -> str:
    evaluation = submission.human_evaluation
    state = f"{submission.task}, {submission.get_state_display()}"
    if evaluation is None or n is None:
        return state
    return f"{state}, {n:,} of {evaluation.n_instances:,} instances rated"


@admin.action(
    description="Publish partial results of the selected stopped submissions",
    permissions=["decide"],
)
def publish_partial_selected(
    model_admin: DecisionAdmin, request: HttpRequest, queryset: QuerySet[Submission]
) -> HttpResponse | None:
    return decide_on_each(
        model_admin,
        request,
        model_admin.rows_in(queryset, State.STOPPED),
        PUBLISH_PARTIAL,
        decide.publish_partial,
        "published in part",
        nothing="None of them was stopped without publishing.",
    )


@admin.action(
    description="Rank the partial scores of the selected", permissions=["decide"]
)
def rank_partial_selected(
    model_admin: DecisionAdmin, request: HttpRequest, queryset: QuerySet[Submission]
) -> HttpResponse | None:
    return decide_on_each(
        model_admin,
        request,
        rankable(queryset, ranked=False),
        RANK,
        partial(decide.rank_partial, ranked=True),
        "ranked although partial",
        nothing="None of them has a partial score without a rank.",
    )


@admin.action(
    description="Rank the partial scores of the selected no longer",
    permissions=["decide"],
)
def unrank_partial_selected(
    model_admin: DecisionAdmin, request: HttpRequest, queryset: QuerySet[Submission]
) -> HttpResponse | None:
    return decide_on_each(
        model_admin,
        request,
        rankable(queryset, ranked=True),
        UNRANK,
        partial(decide.rank_partial, ranked=False),
        "ranked no longer",
        nothing="None of them has a rank by decision.",
    )


def rankable(rows: QuerySet[Any], *, ranked: bool) -> list[Submission]:
    """Return those whose partial score is `ranked`, or could become so, by decision."""
    published = rows.filter(
        state=State.PUBLISHED, human_evaluation__ranks_partial=ranked
    ).select_related("task", "human_evaluation")
    return [row for row in published.order_by("pk") if ranked or _is_partial(row)]


def _is_partial(submission: Submission) -> bool:
    evaluation: HumanEvaluation | None = submission.human_evaluation
    score = (
        evaluation.scores.filter(superseded_at=None).order_by("pk").first()
        if evaluation
        else None
    )
    return score is not None and partial_of_score(score) is not None
