from typing import Any, cast

from django.db.models import QuerySet
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from genie.accounts.models import AccessToken
from genie.accounts.permissions import ScopeFits
from genie.lib.typing import Account
from leaderboard.api.base import DetailView, ListView, View, operation
from leaderboard.api.idempotency import IDEMPOTENCY_KEY
from leaderboard.api.pagination import Growing
from leaderboard.api.query import OfTaskQuery
from leaderboard.evaluation import decide
from leaderboard.evaluation.api import asking
from leaderboard.evaluation.api.serializers import (
    AllPairsMadeSerializer,
    ComparisonDetailSerializer,
    ComparisonSerializer,
    JointDetailSerializer,
    JointSerializer,
)
from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.models.joint_evaluation import JointEvaluation
from leaderboard.evaluation.selectors.comparisons import comparisons_seen_by
from leaderboard.evaluation.selectors.joint import joint_seen_by

_NEEDS_AGREEMENT = "One of the systems must be your team's. Staff approve the cost{}."
_NEEDS_SCOPE = "The token needs the scope `withdraw`."


class TakingBack(View):
    """Withdraw a question that has not been agreed to; for who asked it."""

    permission_classes = [IsAuthenticated, ScopeFits]
    scope = AccessToken.Scope.WITHDRAW

    def get_queryset(self) -> QuerySet[Any]:
        rows = super().get_queryset()
        return rows.filter(evaluation__requested_by=self.request.user.pk)

    def post(self, request: Request, pk: int) -> Response:
        question = self.get_object()
        decide.take_back(question, by=cast("Account", request.user))
        return Response(self.get_serializer(question).data)


class ComparisonView(View):
    tag = "comparisons"
    serializer_class: Any = ComparisonDetailSerializer

    def get_queryset(self) -> QuerySet[Comparison]:
        return comparisons_seen_by(self.request.user)


@operation("List comparisons of two systems, newest first")
class ComparisonList(ComparisonView, ListView):
    serializer_class = ComparisonSerializer
    query_class = OfTaskQuery
    filters = {"task": "evaluation__task"}
    pagination_class = Growing
    body_class = asking.NewComparisonSerializer

    @operation(
        "Request a comparison of two systems",
        _NEEDS_AGREEMENT.format(""),
        *asking.ASKING,
        parameters=[IDEMPOTENCY_KEY],
        responses={201: ComparisonDetailSerializer},
    )
    def post(self, request: Request) -> Response:
        made, repeated = asking.ask_comparison(request, self.body())
        context = self.get_serializer_context()
        body = ComparisonDetailSerializer(made, context=context).data
        return asking.created(body, repeated)


class AllPairs(ComparisonView):
    serializer_class = AllPairsMadeSerializer
    body_class = asking.NewAllPairsSerializer

    @operation(
        "Request comparisons of every system with every other",
        _NEEDS_AGREEMENT.format(" of each comparison"),
        *asking.ASKING,
        operation_id="comparisons_create_all_pairs",
        parameters=[IDEMPOTENCY_KEY],
    )
    def post(self, request: Request) -> Response:
        made, repeated = asking.ask_all_pairs(request, self.body())
        return asking.created(self.get_serializer(made).data, repeated)


@operation("Show one comparison")
class ComparisonDetail(ComparisonView, DetailView):
    pass


@operation(
    "Withdraw a comparison that you requested, before it is approved",
    _NEEDS_SCOPE,
    *("not-withdrawable", "unsupported-media-type"),
    method="post",
    operation_id="comparisons_withdraw",
)
class ComparisonWithdrawal(TakingBack, ComparisonView):
    pass


class JointView(View):
    tag = "comparisons"
    serializer_class: Any = JointDetailSerializer

    def get_queryset(self) -> QuerySet[JointEvaluation]:
        return joint_seen_by(self.request.user)


@operation("List joint evaluations of several systems, newest first")
class JointList(JointView, ListView):
    serializer_class = JointSerializer
    query_class = OfTaskQuery
    filters = {"task": "evaluation__task"}
    pagination_class = Growing
    body_class = asking.NewJointSerializer

    def get_queryset(self) -> QuerySet[JointEvaluation]:
        read_at_once = ("evaluation__systems__submission", "evaluation__campaigns")
        return super().get_queryset().prefetch_related(*read_at_once)

    @operation(
        "Request a joint evaluation of several systems",
        _NEEDS_AGREEMENT.format(""),
        *asking.ASKING,
        parameters=[IDEMPOTENCY_KEY],
        responses={201: JointDetailSerializer},
    )
    def post(self, request: Request) -> Response:
        made, repeated = asking.ask_joint(request, self.body())
        context = self.get_serializer_context()
        body = JointDetailSerializer(made, context=context).data
        return asking.created(body, repeated)


@operation("Show one joint evaluation: magnitudes, ranking, preferences and agreement")
class JointDetail(JointView, DetailView):
    pass


@operation(
    "Withdraw a joint evaluation that you requested, before it is approved",
    _NEEDS_SCOPE,
    *("not-withdrawable", "unsupported-media-type"),
    method="post",
    operation_id="joint_evaluations_withdraw",
)
class JointWithdrawal(TakingBack, JointView):
    pass
