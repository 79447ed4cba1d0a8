"""Comparisons and joint evaluations: read what was asked and what came out."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from genie.lib.errors import GenieError
from leaderboard.api.base import View, problems
from leaderboard.api.comparison_serializers import (
    ComparisonDetailSerializer,
    ComparisonSerializer,
    JointDetailSerializer,
    JointSerializer,
)
from leaderboard.models import Comparison, JointEvaluation, Task
from leaderboard.selectors.compared import comparisons_seen_by
from leaderboard.selectors.joint_seen import joint_seen_by

_OF_TASK = OpenApiParameter("task", OpenApiTypes.STR, description="Slug of a task.")


def _task(request: Request) -> Task | None:
    slug = request.query_params.get("task")
    if not slug:
        return None
    # no database keeps, or even looks for, a text with a zero in it
    found = None if "\x00" in slug else Task.objects.filter(slug=slug).first()
    if found is None:
        raise GenieError(f"There is no task {slug!r}.", code="unknown-task")
    return found


class ComparisonList(View):
    queryset = Comparison.objects.none()
    serializer_class = ComparisonSerializer

    @extend_schema(
        tags=["comparisons"],
        operation_id="comparisons_list",
        summary="List comparisons of two systems, newest first",
        parameters=[_OF_TASK],
        responses={
            200: ComparisonSerializer(many=True),
            **problems("unknown-task", "bad-page"),
        },
    )
    def get(self, request: Request) -> Response:
        rows = comparisons_seen_by(request.user, _task(request))
        page: Any = self.paginate_queryset(rows)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class ComparisonDetail(View):
    queryset = Comparison.objects.none()
    serializer_class = ComparisonDetailSerializer

    @extend_schema(
        tags=["comparisons"],
        operation_id="comparisons_retrieve",
        summary="Say how one comparison stands",
        responses={200: ComparisonDetailSerializer, **problems("not-found")},
    )
    def get(self, request: Request, pk: int) -> Response:
        rows = comparisons_seen_by(request.user)
        found = (
            rows.select_related("evaluation__campaign__hit_type").filter(pk=pk).first()
        )
        if found is None:
            raise Http404
        return Response(self.get_serializer(found).data)


class JointList(View):
    queryset = JointEvaluation.objects.none()
    serializer_class = JointSerializer

    @extend_schema(
        tags=["comparisons"],
        operation_id="joint_evaluations_list",
        summary="List evaluations of several systems side by side, newest first",
        parameters=[_OF_TASK],
        responses={
            200: JointSerializer(many=True),
            **problems("unknown-task", "bad-page"),
        },
    )
    def get(self, request: Request) -> Response:
        rows = joint_seen_by(request.user, _task(request))
        page: Any = self.paginate_queryset(rows.prefetch_related("systems__submission"))
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class JointDetail(View):
    queryset = JointEvaluation.objects.none()
    serializer_class = JointDetailSerializer

    @extend_schema(
        tags=["comparisons"],
        operation_id="joint_evaluations_retrieve",
        summary="Give magnitudes, ranking, TrueSkill and agreement of one evaluation",
        responses={200: JointDetailSerializer, **problems("not-found")},
    )
    def get(self, request: Request, pk: int) -> Response:
        found = joint_seen_by(request.user).filter(pk=pk).first()
        if found is None:
            raise Http404
        return Response(self.get_serializer(found).data)
