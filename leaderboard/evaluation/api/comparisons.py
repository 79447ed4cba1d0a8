from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.base import View, problems
from leaderboard.api.pagination import Growing
from leaderboard.api.query import OfTaskQuery
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


class ComparisonList(View):
    parser_classes = [JSONParser, FormParser, MultiPartParser]
    queryset = Comparison.objects.none()
    serializer_class = ComparisonSerializer
    query_class = OfTaskQuery
    pagination_class = Growing

    @extend_schema(
        tags=["comparisons"],
        operation_id="comparisons_list",
        summary="List comparisons of two systems, newest first",
        responses={
            200: ComparisonSerializer(many=True),
            **problems("unknown-task", "not-found"),
        },
    )
    def get(self, request: Request) -> Response:
        rows = comparisons_seen_by(request.user, self.query.get("task"))
        page: Any = self.paginate_queryset(rows)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @asking.ASK_COMPARISON
    def post(self, request: Request) -> Response:
        made, repeated = asking.ask_comparison(request)
        context = self.get_serializer_context()
        body = ComparisonDetailSerializer(made, context=context).data
        return asking.created(body, repeated)


class AllPairs(View):
    parser_classes = [JSONParser, FormParser, MultiPartParser]
    queryset = Comparison.objects.none()
    serializer_class = AllPairsMadeSerializer

    @asking.ASK_ALL_PAIRS
    def post(self, request: Request) -> Response:
        made, repeated = asking.ask_all_pairs(request)
        return asking.created(self.get_serializer(made).data, repeated)


class ComparisonDetail(View):
    queryset = Comparison.objects.none()
    serializer_class = ComparisonDetailSerializer

    @extend_schema(
        tags=["comparisons"],
        operation_id="comparisons_retrieve",
        summary="Show one comparison",
        responses={200: ComparisonDetailSerializer, **problems("not-found")},
    )
    def get(self, request: Request, pk: int) -> Response:
        rows = comparisons_seen_by(request.user)
        comparison = rows.filter(pk=pk).first()
        if comparison is None:
            raise Http404
        return Response(self.get_serializer(comparison).data)


class JointList(View):
    parser_classes = [JSONParser, FormParser, MultiPartParser]
    queryset = JointEvaluation.objects.none()
    serializer_class = JointSerializer
    query_class = OfTaskQuery
    pagination_class = Growing

    @extend_schema(
        tags=["comparisons"],
        operation_id="joint_evaluations_list",
        summary="List joint evaluations of several systems, newest first",
        responses={
            200: JointSerializer(many=True),
            **problems("unknown-task", "not-found"),
        },
    )
    def get(self, request: Request) -> Response:
        rows = joint_seen_by(request.user, self.query.get("task"))
        page: Any = self.paginate_queryset(
            rows.prefetch_related(
                "evaluation__systems__submission", "evaluation__campaigns"
            )
        )
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @asking.ASK_JOINT
    def post(self, request: Request) -> Response:
        made, repeated = asking.ask_joint(request)
        context = self.get_serializer_context()
        return asking.created(
            JointDetailSerializer(made, context=context).data, repeated
        )


class JointDetail(View):
    queryset = JointEvaluation.objects.none()
    serializer_class = JointDetailSerializer

    @extend_schema(
        tags=["comparisons"],
        operation_id="joint_evaluations_retrieve",
        summary="Show one joint evaluation: magnitudes, ranking, preferences and agreement",
        responses={200: JointDetailSerializer, **problems("not-found")},
    )
    def get(self, request: Request, pk: int) -> Response:
        joint_evaluation = joint_seen_by(request.user).filter(pk=pk).first()
        if joint_evaluation is None:
            raise Http404
        return Response(self.get_serializer(joint_evaluation).data)
