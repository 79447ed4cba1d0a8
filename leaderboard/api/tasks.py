"""Benchmark tasks, their instances and their leaderboards."""

from __future__ import annotations

from typing import Any, cast

from django.db.models import Q, QuerySet
from django.http import Http404, QueryDict
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.base import View, plain, problems
from leaderboard.api.moment import AT, moment
from leaderboard.api.standing_serializers import StandingSerializer
from leaderboard.api.task_serializers import (
    InstanceSerializer,
    TaskBriefSerializer,
    TaskSerializer,
)
from leaderboard.models import Instance, Task
from leaderboard.selectors.filtering import read_filter
from leaderboard.selectors.sorting import order_from
from leaderboard.selectors.standings import standings
from leaderboard.stats.ranking import RANK_RULE

_FILTERS = [
    OpenApiParameter(
        "q", OpenApiTypes.STR, description="Part of a system's or team's name."
    ),
    OpenApiParameter("team", OpenApiTypes.STR, description="Slug of a team."),
    OpenApiParameter("kind", OpenApiTypes.STR, enum=["people", "simulated"]),
    OpenApiParameter(
        "since", OpenApiTypes.STR, description="Handed in from this day on."
    ),
    OpenApiParameter(
        "until", OpenApiTypes.STR, description="Handed in up to this day."
    ),
    OpenApiParameter(
        "scored", OpenApiTypes.STR, enum=["1"], description="Only rows with scores."
    ),
]


class TaskView(View):
    """A view below one task, named by its slug in the address."""

    queryset = Task.objects.all()
    lookup_field = "slug"

    def task(self) -> Task:
        task = Task.objects.filter(slug=self.kwargs["slug"]).first()
        if task is None:
            raise Http404
        return task


class TaskList(View):
    queryset = Task.objects.order_by("slug")
    serializer_class = TaskBriefSerializer

    @extend_schema(
        tags=["tasks"],
        operation_id="tasks_list",
        summary="List the benchmark tasks",
        parameters=[
            OpenApiParameter(
                "kind",
                OpenApiTypes.STR,
                description="Such as translation: only tasks of this kind.",
            ),
            OpenApiParameter(
                "q", OpenApiTypes.STR, description="Part of a task's title or slug."
            ),
        ],
        responses={200: TaskBriefSerializer(many=True), **problems("bad-page")},
    )
    def get(self, request: Request) -> Response:
        rows = self.get_queryset()
        if kind := plain(request, "kind"):
            rows = rows.filter(kind=kind)
        if text := plain(request, "q"):
            rows = rows.filter(Q(title__icontains=text) | Q(slug__icontains=text))
        page: Any = self.paginate_queryset(rows)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class TaskDetail(TaskView):
    serializer_class = TaskSerializer

    @extend_schema(
        tags=["tasks"],
        operation_id="tasks_retrieve",
        summary="Describe one task: data, metrics, how people are asked",
        responses={200: TaskSerializer, **problems("not-found")},
    )
    def get(self, request: Request, slug: str) -> Response:
        return Response(self.get_serializer(self.task()).data)


class InstanceList(TaskView):
    serializer_class = InstanceSerializer

    @extend_schema(
        tags=["tasks"],
        operation_id="tasks_instances_list",
        summary="List a task's test inputs, in the order of its release",
        description="References are null where the task keeps them hidden.",
        responses={
            200: InstanceSerializer(many=True),
            **problems("not-found", "bad-page"),
        },
    )
    def get(self, request: Request, slug: str) -> Response:
        task = self.task()
        rows: QuerySet[Instance] = task.instances.order_by("position")
        if task.hidden_references:
            # what is not read from the database cannot slip out
            rows = rows.defer("references")
        page: Any = self.paginate_queryset(rows)
        data = InstanceSerializer(page, many=True, context={"task": task}).data
        return self.get_paginated_response(data)


class Leaderboard(TaskView):
    serializer_class = StandingSerializer

    @extend_schema(
        tags=["tasks"],
        operation_id="tasks_leaderboard_list",
        summary="Rank a task's systems by what people said of them",
        description=(
            "Rows in the order of the board. A row that people have not judged yet "
            "has `human` null and says in `pending` how far they are. `simulated` "
            "marks systems that were not rated by people. "
            f"{RANK_RULE} `human.covers` says what the 95 % intervals cover."
        ),
        parameters=[
            OpenApiParameter(
                "sort",
                OpenApiTypes.STR,
                description="human (default), system, date or a metric's slug.",
            ),
            OpenApiParameter("dir", OpenApiTypes.STR, enum=["asc", "desc"]),
            AT,
            *_FILTERS,
        ],
        responses={
            200: StandingSerializer(many=True),
            **problems("not-found", "bad-page", "bad-moment"),
        },
    )
    def get(self, request: Request, slug: str) -> Response:
        task = self.task()
        asked = request.query_params
        order = order_from(task, asked.get("sort"), asked.get("dir"))
        rows: Any = standings(
            task,
            request.user,
            order,
            at=moment(request),
            chosen=read_filter(cast("QueryDict", asked)),
        )
        page: Any = self.paginate_queryset(rows)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)
