"""Decisions of staff over the API: the cost, and the actions of the admin's buttons.

An approval repeats the cost to the cent, so that staff approve the amount they saw.
"""

from collections.abc import Callable
from typing import Any, cast

from django.db import transaction
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError

from crowd.money.services.budgets import budget_left
from genie.accounts.models import AccessToken
from genie.accounts.permissions import IsStaff
from genie.accounts.staff import narrowed
from genie.lib.admin import note
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.api.base import DetailView, operation
from leaderboard.api.body import Body
from leaderboard.api.query import LARGEST
from leaderboard.evaluation import decide, machine
from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.models.joint_evaluation import JointEvaluation
from leaderboard.submissions.models import Submission

State = HumanEvaluation.State
APPROVE, DECLINE, STOP = "approve", "decline", "stop"
POSSIBLE: dict[str, list[str]] = {
    State.REQUESTED: [APPROVE, DECLINE],
    State.DECLINED: [APPROVE],
    State.APPROVED: [STOP],
    State.ANNOTATING: [STOP],
    State.ANNOTATED: [STOP],
}


class CostLineSerializer(serializers.Serializer[Any]):
    label = serializers.CharField()  # type: ignore[assignment]
    n = serializers.IntegerField()
    unit_cents = serializers.IntegerField()
    cents = serializers.IntegerField()


class DecisionSerializer(serializers.Serializer[Any]):
    """What can be decided now, and what it costs."""

    id = serializers.IntegerField()
    task = serializers.CharField()
    state = serializers.CharField()
    possible = serializers.ListField(
        child=serializers.CharField(),
        help_text="Of approve, decline and stop, what can be done in this state.",
    )
    cost_cents = serializers.IntegerField(
        allow_null=True,
        help_text="Repeat it to approve. Null where there is nothing to approve, or "
        "where `trouble` says why it cannot be.",
    )
    cost_lines = CostLineSerializer(many=True)
    budget_left_cents = serializers.IntegerField()
    approved_cents = serializers.IntegerField(allow_null=True)
    trouble = serializers.CharField(help_text="Why it has no price; usually empty.")

    def to_representation(self, subject: Any) -> Any:
        return super().to_representation(_standing(subject))


class NewDecisionSerializer(Body):
    decision = serializers.ChoiceField(choices=[APPROVE, DECLINE, STOP])
    cost_cents = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=LARGEST,
        help_text="Required to approve: the cost that you have seen. If it is another by "
        "now, nothing is approved (`cost-moved`).",
    )
    reason = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=1000,
        help_text="Shown to who asked; required to decline and to stop.",
    )
    start_now = serializers.BooleanField(
        default=False, help_text="Do not wait for the next scheduled start."
    )
    despite = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=500,
        help_text="Why to start although test questions stand out; for staff only.",
    )
    publish = serializers.BooleanField(
        default=False,
        help_text="On stopping a submission: publish the partial result.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["decision"] == APPROVE and "cost_cents" not in attrs:
            raise ValidationError(
                {"cost_cents": "Repeat the cost in cents to approve it."}
            )
        return attrs


class DecisionView(DetailView):
    """The admin's permission, on the site or on the task."""

    permission_classes = [IsStaff]
    scope = AccessToken.Scope.STAFF
    staff_permission = decide.MAY_DECIDE
    of_tasks = True
    serializer_class = DecisionSerializer
    body_class = NewDecisionSerializer
    to_task = "evaluation__task__slug"

    def get_queryset(self) -> Any:
        rows: Any = super().get_queryset()
        return narrowed(rows, self.request.user, decide.MAY_DECIDE, self.to_task)

    def post(self, request: Request, pk: int) -> Response:
        subject, wish = self.get_object(), self.body()
        by = cast("Account", request.user)
        if wish["decision"] == APPROVE:
            decide.prepare(subject)
        with transaction.atomic():
            done = f"{_decided(subject, wish, by)}, by program."
            note(by, subject, done, wish.get("reason", ""))
        return self.retrieve(request)


def _decided(subject: Any, wish: dict[str, Any], by: Account) -> str:
    reason = wish.get("reason", "")
    if wish["decision"] == DECLINE:
        decide.decline(subject, by=by, reason=reason)
        return "Declined"
    if wish["decision"] == STOP:
        decide.stop(subject, by=by, reason=reason, publish=wish["publish"] or None)
        return "Stopped"
    decide.approve(
        subject,
        by=by,
        reason=reason,
        start_now=wish["start_now"],
        despite=wish.get("despite", ""),
        cost_cents=wish["cost_cents"],
    )
    return f"Approved up to ${wish['cost_cents'] / 100:,.2f}"


def _standing(subject: Any) -> dict[str, Any]:
    evaluation = machine.evaluation_of(subject)
    possible = POSSIBLE.get(evaluation.state, []) if evaluation else []
    quote, trouble = None, ""
    if evaluation is not None and APPROVE in possible:
        try:
            quote = decide.quote(evaluation)
        except GenieError as error:
            trouble = error.message
    return {
        "id": subject.pk,
        "task": subject.task.slug,
        "state": evaluation.state if evaluation else subject.state,
        "possible": possible,
        "cost_cents": quote and quote.total_cents,
        "cost_lines": quote.lines if quote else [],
        "budget_left_cents": budget_left(subject.task.slug),
        "approved_cents": evaluation.approved_cents if evaluation else None,
        "trouble": trouble,
    }


_REFUSED = (
    *("reason-missing", "cost-moved", "over-budget", "tests-stand-out"),
    *("tests-not-measured", "not-approvable", "not-declinable", "not-running"),
    *("decided-meanwhile", "nothing-to-publish"),
)


def _described(of: str, name: str) -> Callable[[Any], Any]:
    read = operation(f"Show what can be decided on {of}, and what it costs")
    write = operation(
        f"Approve the cost of {of}, decline or stop it",
        f"For staff with the permission {decide.MAY_DECIDE}. To approve, repeat "
        "`cost_cents`.",
        *_REFUSED,
        method="post",
        operation_id=f"{name}_decide",
    )
    return lambda view: read(write(view))


@_described("a submission", "submissions")
class SubmissionDecision(DecisionView):
    to_task = "task__slug"
    queryset = Submission.objects.all()


@_described("a comparison", "comparisons")
class ComparisonDecision(DecisionView):
    queryset = Comparison.objects.all()


@_described("a joint evaluation", "joint_evaluations")
class JointDecision(DecisionView):
    queryset = JointEvaluation.objects.all()
