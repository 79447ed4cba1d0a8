from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from genie.lib.serving.caches import computed as cache
from leaderboard.api.base import DetailView, ListView, View, operation
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
        return get_object_or_404(Task, slug=self.kwargs["slug"])


@operation("List the benchmark tasks")
class TaskList(ListView):
    query_class = TaskQuery
    queryset = Task.objects.order_by("slug")
    filters = {"kind": "kind"}
    serializer_class = TaskBriefSerializer

    def get_queryset(self) -> QuerySet[Task]:
        if kind := self.query.get("kind"):
            kinds = Task.objects.order_by("kind").values_list("kind", flat=True)
            one_of("kind", kind, list(kinds.distinct()))
        return super().get_queryset().filter(called(self.query.get("q", "")))


@operation("Show one task: data, metrics, human evaluation")
class TaskDetail(TaskView, DetailView):
    serializer_class = TaskSerializer


@operation(
    "List a task's test instances, in the order of its release",
    "References are null if the task keeps them hidden.",
)
class InstanceList(TaskView, ListView):
    serializer_class = InstanceSerializer
    query_class = PageQuery

    def get_queryset(self) -> QuerySet[Instance]:
        task = self.task()
        rows: QuerySet[Instance] = task.instances.order_by("position")
        # columns that are not read cannot be disclosed
        return rows.defer("references") if task.hidden_references else rows


@operation(
    "Show a task's leaderboard, ranked by human score",
    "Rows in the order of the board. Rows without a score have `human` null and their "
    "progress in `pending`. `simulated` marks systems that were not rated by people. "
    f"{RANK_RULE} {RANK_SUMS_HELP} `human.covers` says what the 95 % intervals cover.",
)
class Leaderboard(TaskView, ListView):
    serializer_class = StandingSerializer
    query_class = BoardQuery

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Any:
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
