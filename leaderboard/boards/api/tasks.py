from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from genie.lib.serving.caches import computed as cache
from leaderboard.api.base import View, problems
from leaderboard.api.query import AtQuery, Choice, PageQuery, Query, one_of
from leaderboard.boards.api.serializers import StandingSerializer
from leaderboard.boards.selectors.filtering import BASELINES, Filter
from leaderboard.boards.selectors.home import called
from leaderboard.boards.selectors.sorting import order_from, sort_keys
from leaderboard.boards.selectors.standings import standings
from leaderboard.boards.selectors.version import KEPT_FROM_ROWS, KEPT_SECONDS, state
from leaderboard.stats.ranking import RANK_RULE, RANK_SUMS_HELP
from leaderboard.submissions.selectors import team_ids
from leaderboard.tasks.api import (
    InstanceSerializer,
    TaskBriefSerializer,
    TaskSerializer,
)
from leaderboard.tasks.models import Instance, Task


class TaskQuery(PageQuery):
    kind = serializers.CharField(
        required=False, help_text="Only tasks of this kind, such as translation."
    )
    q = serializers.CharField(
        required=False, help_text="Part of a task's title or slug."
    )


class CriterionQuery(Query):
    criterion = serializers.CharField(
        required=False, help_text="One of the task's criteria."
    )


class BoardQuery(AtQuery):
    sort = serializers.CharField(
        required=False, help_text="human (default), system, date or a metric's slug."
    )
    dir = Choice(["asc", "desc"], required=False)
    q = serializers.CharField(
        required=False, max_length=100, help_text="Part of a system's or team's name."
    )
    team = serializers.CharField(required=False, help_text="Slug of a team.")
    kind = Choice(["people", "simulated"], required=False)
    since = serializers.DateField(
        required=False, help_text="Submitted on or after this day."
    )
    until = serializers.DateField(
        required=False, help_text="Submitted on or before this day."
    )
    scored = Choice(["1"], required=False, help_text="1: only rows with scores.")
    baseline = Choice(
        [*BASELINES],
        required=False,
        help_text="Only human references, only baselines, or none of these.",
    )


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
    query_class = TaskQuery
    queryset = Task.objects.order_by("slug")
    serializer_class = TaskBriefSerializer

    @extend_schema(
        tags=["tasks"],
        operation_id="tasks_list",
        summary="List the benchmark tasks",
        responses={200: TaskBriefSerializer(many=True), **problems("not-found")},
    )
    def get(self, request: Request) -> Response:
        rows = self.get_queryset()
        if kind := self.query.get("kind"):
            kinds = rows.order_by("kind").values_list("kind", flat=True).distinct()
            one_of("kind", kind, list(kinds))
            rows = rows.filter(kind=kind)
        if text := self.query.get("q"):
            rows = rows.filter(called(text))
        page: Any = self.paginate_queryset(rows)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class TaskDetail(TaskView):
    serializer_class = TaskSerializer

    @extend_schema(
        tags=["tasks"],
        operation_id="tasks_retrieve",
        summary="Show one task: data, metrics, human evaluation",
        responses={200: TaskSerializer, **problems("not-found")},
    )
    def get(self, request: Request, slug: str) -> Response:
        return Response(self.get_serializer(self.task()).data)


class InstanceList(TaskView):
    serializer_class = InstanceSerializer
    query_class = PageQuery

    @extend_schema(
        tags=["tasks"],
        operation_id="tasks_instances_list",
        summary="List a task's test instances, in the order of its release",
        description="References are null if the task keeps them hidden.",
        responses={
            200: InstanceSerializer(many=True),
            **problems("not-found"),
        },
    )
    def get(self, request: Request, slug: str) -> Response:
        task = self.task()
        rows: QuerySet[Instance] = task.instances.order_by("position")
        if task.hidden_references:
            # columns that are not read cannot be disclosed
            rows = rows.defer("references")
        page: Any = self.paginate_queryset(rows)
        data = InstanceSerializer(page, many=True, context={"task": task}).data
        return self.get_paginated_response(data)


class Leaderboard(TaskView):
    serializer_class = StandingSerializer
    query_class = BoardQuery

    @extend_schema(
        tags=["tasks"],
        operation_id="tasks_leaderboard_list",
        summary="Show a task's leaderboard, ranked by human score",
        description=(
            "Rows in the order of the board. Rows without a score have `human` "
            "null and their progress in `pending`. `simulated` marks systems "
            f"that were not rated by people. {RANK_RULE} {RANK_SUMS_HELP} `human.covers` says "
            "what the 95 % intervals cover."
        ),
        responses={200: StandingSerializer(many=True), **problems("not-found")},
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        task = self.task()
        parameters = self.query
        # metrics are columns, so the choices depend on the task and cannot be in the
        # query class
        one_of("sort", parameters.get("sort", ""), sort_keys(task))
        teams = team_ids(request.user)
        # next and previous pages are full addresses
        asked = (request.build_absolute_uri(), str(request.accepted_media_type))
        key = state(task, teams).key("api", *asked, teams=teams)
        json: bytes | None = cache.get(key)
        if json is None:
            rows: Any = standings(
                task,
                order=order_from(task, parameters.get("sort"), parameters.get("dir")),
                at=parameters.get("at"),
                chosen=Filter(
                    text=parameters.get("q", ""),
                    scored=parameters.get("scored") == "1",
                    **self.chosen("team", "kind", "since", "until", "baseline"),
                ),
                teams=teams,
            )
            page: Any = self.paginate_queryset(rows)
            shown = self.get_serializer(page, many=True).data
            answer = self.get_paginated_response(shown)
            json = JSONRenderer().render(answer.data, request.accepted_media_type)
            if rows.n_all >= KEPT_FROM_ROWS:
                cache.set(key, json, KEPT_SECONDS)
        return HttpResponse(json, content_type=JSONRenderer.media_type)
