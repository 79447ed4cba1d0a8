"""Decisions of staff over the API: the cost, and the actions of the admin's buttons.

An approval repeats the cost to the cent, so that staff approve the amount they saw.
"""

from typing import Any, ClassVar, cast

from django.db import transaction
from django.db.models import Model
from django.http import Http404
from drf_spectacular.utils import (
    OpenApiResponse,
    extend_schema,
    extend_schema_view,
)
from rest_framework import serializers
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
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
from leaderboard.api.base import View, problems
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


class DecisionView(View):
    """The admin's permission, on the site or on the task."""

    permission_classes = [IsStaff]
    scope = AccessToken.Scope.STAFF
    staff_permission = decide.MAY_DECIDE
    of_tasks = True
    parser_classes = [JSONParser, FormParser, MultiPartParser]
    serializer_class = DecisionSerializer
    model: ClassVar[type[Model]]
    to_task = "evaluation__task__slug"

    def subject(self, pk: int) -> Any:
        rows: Any = self.model._default_manager.filter(pk=pk)
        row = narrowed(rows, self.request.user, decide.MAY_DECIDE, self.to_task).first()
        if row is None:
            raise Http404
        return row

    def get(self, request: Request, pk: int) -> Response:
        return Response(self.get_serializer(_standing(self.subject(pk))).data)

    def post(self, request: Request, pk: int) -> Response:
        subject = self.subject(pk)
        serializer = NewDecisionSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        if serializer.validated_data["decision"] == APPROVE:
            decide.prepare(subject)
        with transaction.atomic():
            said = _decided(
                subject, serializer.validated_data, cast("Account", request.user)
            )
            reason = serializer.validated_data.get("reason", "")
            note(cast("Any", request.user), subject, f"{said}, by program.", reason)
        return Response(self.get_serializer(_standing(self.subject(pk))).data)


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


_REFUSALS = ("not-authenticated", "permission-denied", "not-found")
_REFUSED = problems(
    *(*_REFUSALS, "invalid", "bad-request", "request-too-large"),
    *("unsupported-media-type", "reason-missing", "cost-moved", "over-budget"),
    *(
        "tests-stand-out",
        "tests-not-measured",
        "not-approvable",
        "not-declinable",
        "not-running",
    ),
    *("decided-meanwhile", "nothing-to-publish"),
)


def _described(of: str, name: str) -> Any:
    return extend_schema_view(
        get=extend_schema(
            tags=["staff"],
            operation_id=f"{name}_decision_retrieve",
            summary=f"Show what can be decided on {of}, and what it costs",
            responses={200: DecisionSerializer, **problems(*_REFUSALS)},
        ),
        post=extend_schema(
            tags=["staff"],
            operation_id=f"{name}_decide",
            summary=f"Approve the cost of {of}, decline or stop it",
            description=(
                f"For staff with the permission {decide.MAY_DECIDE}. To approve, "
                "repeat `cost_cents`."
            ),
            request=NewDecisionSerializer,
            responses={200: OpenApiResponse(DecisionSerializer), **_REFUSED},
        ),
    )


@_described("a submission", "submissions")
class SubmissionDecision(DecisionView):
    model = Submission
    to_task = "task__slug"
    queryset = Submission.objects.none()


@_described("a comparison", "comparisons")
class ComparisonDecision(DecisionView):
    model = Comparison
    queryset = Comparison.objects.none()


@_described("a joint evaluation", "joint_evaluations")
class JointDecision(DecisionView):
    model = JointEvaluation
    queryset = JointEvaluation.objects.none()
