"""Decisions of staff on results of evaluations that were stopped early."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django import forms
from django.db.models import Q
from django.http import HttpRequest, HttpResponse

from crowd.hits.models import Campaign
from genie.lib.staff_actions import Action, Line, ReasonForm
from leaderboard.evaluation import decide
from leaderboard.evaluation.admin.decisions import STOP
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.coverage import partial_of_score
from leaderboard.evaluation.selectors.progress import n_judged
from leaderboard.submissions.models import Submission

if TYPE_CHECKING:
    from django.db.models import QuerySet

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


def _stop(
    model_admin: Any, request: HttpRequest, rows: list[Submission]
) -> HttpResponse | None:
    rated = n_judged([row.pk for row in rows if row.state == State.ANNOTATING])
    lines = [Line(row.pk, str(row), _answered(row, rated.get(row.pk))) for row in rows]
    question = STOP_SUBMISSION if any(rated.values()) else STOP
    form = question.ask(model_admin, request, lines)
    if isinstance(form, HttpResponse):
        return form
    answers = form.cleaned_data
    n = STOP_SUBMISSION.act(model_admin, request, rows, rated=rated, **answers)
    STOP_SUBMISSION.report(model_admin, request, n, len(rows), 0)
    return None


def _stop_one(
    row: Submission,
    by: Account,
    reason: str,
    rated: dict[int, int],
    publish: bool | None = None,
) -> None:
    publish = publish if rated.get(row.pk) else None
    decide.stop(row, by=by, reason=reason, publish=publish)


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


def _still_open(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Return the stopped ones whose campaigns wait for pages that workers have open."""
    return rows.filter(
        state=State.ANNOTATING,
        human_evaluation__campaigns__campaign__state=Campaign.State.STOPPED,
        human_evaluation__campaigns__campaign__completed_at=None,
    ).distinct()


def _partial_scores(rows: QuerySet[Any], ranked: bool = True) -> QuerySet[Any]:
    published = rows.filter(
        state=State.PUBLISHED, human_evaluation__ranks_partial=ranked
    )
    return published.select_related("task", "human_evaluation").order_by("pk")


def _rankable(rows: QuerySet[Any]) -> list[Submission]:
    return [row for row in _partial_scores(rows, False) if _is_partial(row)]


def _is_partial(submission: Submission) -> bool:
    evaluation: HumanEvaluation | None = submission.human_evaluation
    score = (
        evaluation.scores.filter(superseded_at=None).order_by("pk").first()
        if evaluation
        else None
    )
    return score is not None and partial_of_score(score) is not None


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
    service=lambda row, by, reason: decide.go_on(row, by=by, reason=reason),
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
    allowed=Q(state=State.STOPPED),
    otherwise="None of them was stopped without publishing.",
    service=lambda row, by, reason: decide.publish_partial(row, by=by, reason=reason),
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
        "These scores rest on too few of their instances. They get a rank among the "
        "whole ones, and stay marked as partial. This can be taken back."
    ),
    button="Rank all",
    permission="decide",
    allowed=_rankable,
    otherwise="None of them has a partial score without a rank.",
    service=lambda row, by, reason: decide.rank_partial(
        row, by=by, reason=reason, ranked=True
    ),
    history="Ranked although partial: {reason}",
    done="{Rows} ranked although partial: {n} of {n_all}.",
    path="rank-partial",
    on_page="Rank the partial score",
)
UNRANK = Action(
    "unrank_partial_selected",
    "Rank the partial scores of the selected no longer",
    title="Rank partial scores no longer",
    sentence="These partial scores stay on the board, without a rank.",
    button="Remove all ranks",
    permission="decide",
    allowed=_partial_scores,
    otherwise="None of them has a rank by decision.",
    service=lambda row, by, reason: decide.rank_partial(
        row, by=by, reason=reason, ranked=False
    ),
    history="Ranked no longer: {reason}",
    done="{Rows} ranked no longer: {n} of {n_all}.",
    path="unrank-partial",
    on_page="Rank the partial score no longer",
)
