"""Ask which of several systems is better, and take the question back."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from django.db import transaction
from django.http import Http404
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError

from genie.accounts.models import AccessToken
from genie.accounts.permissions import ScopeFits
from genie.lib.typing import Account
from leaderboard.api.base import View, problems
from leaderboard.api.body import Body
from leaderboard.api.idempotency import IDEMPOTENCY_KEY
from leaderboard.api.query import LARGEST
from leaderboard.evaluation import decide
from leaderboard.evaluation.api.serializers import (
    AllPairsMadeSerializer,
    ComparisonDetailSerializer,
    JointDetailSerializer,
)
from leaderboard.evaluation.models.comparison import Comparison, ComparisonSet
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.models.joint_evaluation import JointEvaluation
from leaderboard.evaluation.selectors.comparisons import (
    comparisons_seen_by,
    refuse_who_has_none,
    seen_and_comparable,
)
from leaderboard.evaluation.selectors.joint import joint_seen_by
from leaderboard.evaluation.services import comparison, joint
from leaderboard.stats.stopping.sequential import RULES
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import Staff
from leaderboard.submissions.services import idempotency

_SMALL = 100_000
_REFUSALS = (
    *("not-authenticated", "permission-denied", "invalid", "bad-request"),
    *("request-too-large", "unsupported-media-type"),
)
ASKING = (
    *(*_REFUSALS, "bad-key", "key-reused", "not-a-member", "not-comparable"),
    *("same-submission", "different-tasks", "unusable-question"),
    "wrong-number-of-systems",
)


class Id(serializers.IntegerField):
    """An id as databases keep it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=1, max_value=LARGEST, **options)


class NewComparisonSerializer(Body):
    a = Id(help_text="Id of a submission.")
    b = Id(help_text="Id of another submission of the same task.")
    criterion = serializers.CharField(
        max_length=50, help_text="One of those that the task compares by."
    )
    delta = serializers.FloatField(
        default=0.05, help_text="Error probability, two-sided; above 0 and below 1."
    )
    rule = serializers.ChoiceField(
        choices=[*RULES], default=comparison.DEFAULT_RULE, help_text="Stopping rule."
    )
    strategy = serializers.ChoiceField(
        choices=Comparison.Strategy.choices, default=Comparison.Strategy.ONE
    )
    n_workers = serializers.IntegerField(
        default=1, min_value=1, max_value=_SMALL, help_text="For the majority strategy."
    )
    wave_size = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=_SMALL,
        help_text="Pairs posted together; the task's own number if left out.",
    )
    max_pairs = serializers.IntegerField(
        default=400, min_value=1, max_value=_SMALL, help_text="The budget, in pairs."
    )


class NewAllPairsSerializer(NewComparisonSerializer):
    a = b = None  # type: ignore[assignment]
    systems = serializers.ListField(
        child=Id(),
        min_length=3,
        max_length=comparison.MOST_SYSTEMS,
        help_text="Ids of submissions of one task.",
    )
    delta = serializers.FloatField(
        default=0.05,
        help_text="Chance that any of the decisions is wrong; above 0 and below 1.",
    )
    max_pairs = serializers.IntegerField(
        default=400,
        min_value=1,
        max_value=_SMALL,
        help_text="The budget of each comparison, in pairs of outputs.",
    )


class NewJointSerializer(Body):
    systems = serializers.ListField(
        child=Id(),
        max_length=joint.MOST_SYSTEMS,
        help_text="Ids of submissions of one task.",
    )
    criteria = serializers.ListField(
        child=serializers.CharField(max_length=50),
        required=False,
        max_length=50,
        help_text="All that the task has if left out.",
    )
    n_instances = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=_SMALL,
        help_text="The task's sample if left out.",
    )
    n_workers = serializers.IntegerField(
        default=1, min_value=1, max_value=_SMALL, help_text="Per instance."
    )
    per_page = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=_SMALL,
        help_text="Systems on a page, 2 to 8; all of them if left out. With it, up to 100 "
        "systems take part.",
    )


def _systems(request: Request, field: str, pks: Sequence[int]) -> list[Submission]:
    """Return the submissions in this order, without those that the user may not see."""
    found = {row.pk: row for row in seen_and_comparable(request.user, pks)}
    if missing := [pk for pk in pks if pk not in found]:
        raise ValidationError(
            {field: f"There is no measured submission {missing[0]} that you can see."}
        )
    return [found[pk] for pk in pks]


def asked_once(
    request: Request, fields: dict[str, Any], ask: Callable[[], Any]
) -> tuple[HumanEvaluation, bool]:
    """Ask; a repeated idempotency key returns the evaluation that it created before."""
    by = cast("Account", request.user)

    def received(also: Callable[[Any], None]) -> HumanEvaluation:
        with transaction.atomic():
            made: HumanEvaluation = ask().evaluation
            also(made)
        return made

    if (key := request.headers.get("Idempotency-Key")) is None:
        return received(lambda made: None), False
    sent = idempotency.fingerprint({"path": request.path, "sent": json.dumps(fields)})
    return idempotency.receive_once(
        by, idempotency.checked_key(key), sent, received, made="evaluation"
    )


def ask_comparison(request: Request) -> tuple[Comparison, bool]:
    serializer = NewComparisonSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    fields = dict(serializer.validated_data)
    question = {name: fields[name] for name in fields if name not in {"a", "b"}}
    (a,) = _systems(request, "a", [fields["a"]])
    (b,) = _systems(request, "b", [fields["b"]])
    refuse_who_has_none(request.user, [a, b], Staff.ASK_COMPARISONS)
    made, repeated = asked_once(
        request,
        fields,
        partial(
            comparison.request,
            a,
            b,
            comparison.Question(**question),
            by=cast("Account", request.user),
        ),
    )
    return made.comparison, repeated


def ask_all_pairs(request: Request) -> tuple[ComparisonSet, bool]:
    serializer = NewAllPairsSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    fields = dict(serializer.validated_data)
    systems = _systems(request, "systems", fields["systems"])
    refuse_who_has_none(request.user, systems, Staff.ASK_COMPARISONS)
    question = comparison.Question(
        **{name: value for name, value in fields.items() if name != "systems"}
    )
    by = cast("Account", request.user)

    def ask() -> Comparison | None:
        made = comparison.request_all_pairs(systems, question, by=by)
        return made.comparisons.order_by("pk").first()

    first, repeated = asked_once(request, fields, ask)
    return cast("ComparisonSet", first.comparison.within), repeated


def ask_joint(request: Request) -> tuple[JointEvaluation, bool]:
    serializer = NewJointSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    fields = dict(serializer.validated_data)
    systems = _systems(request, "systems", fields["systems"])
    refuse_who_has_none(request.user, systems, Staff.ASK_JOINT_EVALUATIONS)
    plan = {name: value for name, value in fields.items() if name != "systems"}
    by = cast("Account", request.user)
    made, repeated = asked_once(
        request, fields, partial(joint.request, systems, by=by, **plan)
    )
    return made.joint, repeated


def created(body: Any, repeated: bool) -> Response:
    headers = {"Idempotent-Replayed": "true"} if repeated else {}
    return Response(body, status=status.HTTP_201_CREATED, headers=headers)


class TakingBack(View):
    """Withdraw a question that nobody has agreed to; for who asked it."""

    permission_classes = [IsAuthenticated, ScopeFits]
    scope = AccessToken.Scope.WITHDRAW
    parser_classes = [JSONParser, FormParser, MultiPartParser]
    seen_by: Callable[[Any], Any]

    def take_back(self, request: Request, pk: int) -> Response:
        subject = type(self).seen_by(request.user).filter(pk=pk).first()
        if subject is None or subject.requested_by_id != request.user.pk:
            raise Http404
        decide.take_back(subject, by=cast("Account", request.user))
        return Response(self.get_serializer(subject).data)


_TAKEN = problems(
    *("not-authenticated", "permission-denied", "not-found", "not-withdrawable"),
    "unsupported-media-type",
)


class ComparisonWithdrawal(TakingBack):
    queryset = Comparison.objects.none()
    serializer_class = ComparisonDetailSerializer
    seen_by = staticmethod(comparisons_seen_by)

    @extend_schema(
        tags=["comparisons"],
        operation_id="comparisons_withdraw",
        summary="Withdraw a comparison that you requested, before it is approved",
        description="The token needs the scope `withdraw`.",
        request=None,
        responses={200: OpenApiResponse(ComparisonDetailSerializer), **_TAKEN},
    )
    def post(self, request: Request, pk: int) -> Response:
        return self.take_back(request, pk)


class JointWithdrawal(TakingBack):
    queryset = JointEvaluation.objects.none()
    serializer_class = JointDetailSerializer
    seen_by = staticmethod(joint_seen_by)

    @extend_schema(
        tags=["comparisons"],
        operation_id="joint_evaluations_withdraw",
        summary="Withdraw a joint evaluation that you requested, before it is approved",
        description="The token needs the scope `withdraw`.",
        request=None,
        responses={200: OpenApiResponse(JointDetailSerializer), **_TAKEN},
    )
    def post(self, request: Request, pk: int) -> Response:
        return self.take_back(request, pk)


_KEYED = [IDEMPOTENCY_KEY]
ASK_COMPARISON = extend_schema(
    tags=["comparisons"],
    operation_id="comparisons_create",
    summary="Request a comparison of two systems",
    description="One of the systems must be your team's. Staff approve the cost.",
    request=NewComparisonSerializer,
    parameters=_KEYED,
    responses={201: OpenApiResponse(ComparisonDetailSerializer), **problems(*ASKING)},
)
ASK_ALL_PAIRS = extend_schema(
    tags=["comparisons"],
    operation_id="comparisons_create_all_pairs",
    summary="Request comparisons of every system with every other",
    description="One of the systems must be your team's. Staff approve the cost of each "
    "comparison.",
    request=NewAllPairsSerializer,
    parameters=_KEYED,
    responses={201: OpenApiResponse(AllPairsMadeSerializer), **problems(*ASKING)},
)
ASK_JOINT = extend_schema(
    tags=["comparisons"],
    operation_id="joint_evaluations_create",
    summary="Request a joint evaluation of several systems",
    description="One of the systems must be your team's. Staff approve the cost.",
    request=NewJointSerializer,
    parameters=_KEYED,
    responses={201: OpenApiResponse(JointDetailSerializer), **problems(*ASKING)},
)
