from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db.models import Q, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from genie.accounts import reads
from genie.lib.errors import GenieError
from genie.lib.unguessable import name_for
from leaderboard.api.base import DetailView, ListView, View, operation
from leaderboard.api.query import LARGEST, AtQuery, Choice, PageQuery, Query, one_of
from leaderboard.api.records import Record
from leaderboard.boards.api.serializers import ScoreSerializer, StandingSerializer
from leaderboard.boards.selectors.columns import (
    BASELINES,
    Filter,
    order_from,
    sort_keys,
)
from leaderboard.boards.selectors.home import name_contains
from leaderboard.boards.selectors.rows import standings
from leaderboard.boards.selectors.version import state
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.selectors.system_ratings import (
    all_system_ratings_of,
    evaluation_of,
)
from leaderboard.metric_runs.models import MetricResult
from leaderboard.metrics.base import all_metrics
from leaderboard.stats.ranking import RANK_RULE, RANK_SUMS_HELP
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import (
    VisibleParts,
    inside,
    public,
    seen_as_staff,
    team_ids,
    visible_parts,
)
from leaderboard.tasks.api import (
    InstanceSerializer,
    TaskBriefSerializer,
    TaskSerializer,
)
from leaderboard.tasks.models import Instance, Task

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

    Viewer = AbstractBaseUser | AnonymousUser


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
        help_text="Only human references, only baselines, or all.",
    )


class TaskView(View):
    """A view below one task, named by its slug in the address."""

    queryset = Task.objects.all()
    lookup_field = "slug"

    def task(self) -> Task:
        return get_object_or_404(Task, slug=self.kwargs["slug"])


class BoardList(TaskView, ListView):
    """A list of a board's rows: that of a long one is made once per version.

    The rows may depend on the reader's teams; those of staff, who may see more, are made
    each time.
    """

    staff_see_more = True

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Any:
        reader: Any = request.user
        if self.staff_see_more and (reader.is_staff or reader.is_superuser):
            return super().get(request, *args, **kwargs)

        def make() -> bytes:
            answer = self.list(request, *args, **kwargs)
            return bytes(JSONRenderer().render(answer.data, kind))

        kind, teams = str(request.accepted_media_type), team_ids(reader)
        # next and previous pages are full addresses
        asked = "api", request.build_absolute_uri(), kind
        json = state(self.task(), teams).compute_once(make, *asked, teams=teams)
        return HttpResponse(json, content_type=JSONRenderer.media_type)


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
        return super().get_queryset().filter(name_contains(self.query.get("q", "")))


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
    "Rows in the order of the board. In rows without a score, `human` is null and "
    "`pending` shows the progress. `simulated` marks systems that were not rated by "
    f"people. {RANK_RULE} {RANK_SUMS_HELP} `human.covers` says what the 95% intervals "
    "cover.",
)
class Leaderboard(BoardList):
    serializer_class = StandingSerializer
    query_class = BoardQuery

    def get_queryset(self) -> Any:
        task, asked = self.task(), self.query
        # metrics are columns, so the choices depend on the task and cannot be in the
        # query class
        one_of("sort", asked.get("sort", ""), sort_keys(task))
        return standings(
            task,
            order=order_from(task, asked.get("sort"), asked.get("dir")),
            at=asked.get("at"),
            chosen=Filter(
                text=asked.get("q", ""),
                scored=asked.get("scored") == "1",
                **self.pick("team", "kind", "since", "until", "baseline"),
            ),
            teams=team_ids(self.request.user),
        )


# Results row by row: scores, metric results, ratings under pseudonyms.


def scores(
    task: Task, viewer: Viewer, *, at: datetime | None = None, superseded: bool = False
) -> QuerySet[Score]:
    """Return a task's scores as the viewer sees them: current, of a moment, or all."""
    published = public("submission__") & Q(submission__published_at__isnull=False)
    may_see = published | inside(viewer, "submission__")
    rows = Score.objects.filter(may_see, submission__task=task)
    if at is not None:
        rows = rows.filter(created_at__lte=at)
        rows = rows.filter(Q(superseded_at=None) | Q(superseded_at__gt=at))
    elif not superseded:
        rows = rows.filter(superseded_at=None)
    rows = rows.select_related("submission", "evaluation")
    return rows.prefetch_related("evaluation__campaigns").order_by("pk")


def scored_criteria(task: Task) -> list[str]:
    rows = Score.objects.filter(submission__task=task).order_by("criterion")
    stored = rows.values_list("criterion", flat=True).distinct()
    return list(dict.fromkeys([*task.human.criteria, *stored]))


def metric_results(task: Task, viewer: Viewer) -> QuerySet[MetricResult]:
    may_see = public("submission__") | inside(viewer, "submission__")
    rows = MetricResult.objects.filter(may_see)
    return (
        rows.filter(submission__task=task)
        .select_related("submission")
        .defer("per_instance", "details")
        .order_by("pk")
    )


def judgments(submission: Submission) -> list[dict[str, Any]]:
    """Return every rating of a published submission, and whether it counts.

    Workers have pseudonyms specific to this task, made with the site's secret: they
    only show which ratings have the same author. Test questions are left out.
    """
    evaluation = evaluation_of(submission)
    if evaluation is None:
        return []
    ratings = all_system_ratings_of([evaluation.pk])
    ratings = ratings[ratings["submission"] == submission.pk]
    ids = dict(
        Instance.objects.filter(task=submission.task_id).values_list(
            "position", "instance_id"
        )
    )
    # sorted by instance, not by time: the order of arrival could identify workers
    ordered = ratings.sort_values(
        ["criterion", "instance", "worker"], kind="stable", ignore_index=True
    )
    return [
        {
            "instance": ids.get(int(row["instance"]), ""),
            "worker": pseudonym(submission, int(row["worker"])),
            "criterion": str(row["criterion"]),
            "value": float(row["value"]),
            "counts": not row["why_not"],
        }
        for row in ordered.to_dict("records")
    ]


def pseudonym(submission: Submission, worker_pk: int) -> str:
    """Return a worker's pseudonym, which cannot be linked to other tasks."""
    return "j-" + name_for("judgments", submission.task.slug, worker_pk)[:10]


class ScoreRowSerializer(ScoreSerializer):
    submission = serializers.IntegerField(source="submission_id", help_text="Its id.")
    system = serializers.CharField(source="submission.system_name")
    simulated = serializers.BooleanField(source="submission.simulated")
    superseded_at = serializers.DateTimeField(
        allow_null=True,
        help_text="When it was replaced by another score. Null if it is current.",
    )


class MetricResultSerializer(Record):
    record = MetricResult
    shown = (
        "submission=submission_id system=submission.system_name metric value signature "
        "computed_at"
    )
    help_texts = {"submission": "Its id."}


class MetricPerInstanceSerializer(Record):
    record = MetricResult
    shown = "metric value signature computed_at per_instance"
    per_instance = serializers.ListField(
        child=serializers.FloatField(allow_null=True),
        help_text="In the order of the task's instances.",
    )


class JudgmentSerializer(serializers.Serializer[Any]):
    instance = serializers.CharField(help_text="The instance's id.")
    worker = serializers.CharField(help_text="Pseudonym, specific to the task.")
    criterion = serializers.CharField()
    value = serializers.FloatField(help_text="Rating of this system, on the scale.")
    counts = serializers.BooleanField(
        help_text="False if excluded because of the worker, or replaced."
    )


class OfSubmissionQuery(PageQuery):
    submission = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=LARGEST,
        help_text="Id of a submission: only its scores.",
    )


class ScoreQuery(OfSubmissionQuery, CriterionQuery, AtQuery):
    superseded = Choice(
        ["yes", "no"],
        required=False,
        help_text="yes: include scores that have since been replaced.",
    )


class MetricResultQuery(OfSubmissionQuery):
    metric = serializers.CharField(required=False, help_text="Slug of a metric.")


@operation(
    "List a task's human scores with their intervals",
    "Current scores of published submissions, and of your teams' unpublished ones. "
    "Scores are never overwritten. Use `at` for the scores at a past time. `covers` "
    "says what the 95% interval covers.",
)
class ScoreList(BoardList):
    tag = "results"
    serializer_class = ScoreRowSerializer
    query_class = ScoreQuery
    filters = {"criterion": "criterion", "submission": "submission"}

    def get_queryset(self) -> QuerySet[Score]:
        task = self.task()
        if criterion := self.query.get("criterion"):
            one_of("criterion", criterion, scored_criteria(task))
        return scores(
            task,
            self.request.user,
            at=self.query.get("at"),
            superseded=self.query.get("superseded") == "yes",
        )


@operation(
    "List the automatic metrics of a task's submissions",
    "If a metric has several results, the board uses the last one.",
)
class MetricResultList(BoardList):
    tag = "results"
    serializer_class = MetricResultSerializer
    query_class = MetricResultQuery
    filters = {"metric": "metric", "submission": "submission"}

    def get_queryset(self) -> QuerySet[MetricResult]:
        one_of("metric", self.query.get("metric", ""), list(all_metrics()))
        return metric_results(self.task(), self.request.user)


class SubmissionView(View):
    """A view below one submission; to who may not see it, it does not exist."""

    tag = "results"
    queryset = Submission.objects.select_related("task", "team")

    def submission(self) -> tuple[Submission, VisibleParts]:
        submission = get_object_or_404(self.queryset, pk=self.kwargs["pk"])
        view = visible_parts(submission, self.request.user)
        if not view.page:
            raise Http404
        if seen_as_staff(submission, view):
            reads.record(self.request, submission, reads.Way.API, submission.task.slug)
        return submission, view


def is_open(submission: Submission, view: VisibleParts) -> bool:
    """Check whether the numbers are shown, which excludes withdrawn submissions."""
    return view.inner or not submission.is_withdrawn


@operation("List one submission's metrics with a value for each instance")
class SubmissionMetricResults(SubmissionView, ListView):
    serializer_class = MetricPerInstanceSerializer
    query_class = PageQuery

    def get_queryset(self) -> QuerySet[MetricResult]:
        submission, view = self.submission()
        rows = submission.metric_results.order_by("pk")
        return rows if is_open(submission, view) else rows.none()


@operation(
    "List all ratings of a published submission",
    "Includes ratings that do not count. Workers have pseudonyms that are specific to one "
    "task. Test questions are not included.",
    "not-published",
)
class SubmissionJudgments(SubmissionView, ListView):
    serializer_class = JudgmentSerializer
    query_class = PageQuery

    def get_queryset(self) -> Any:
        submission, view = self.submission()
        if submission.published_at is None or not is_open(submission, view):
            raise GenieError(
                "Judgments become available once the result is published.",
                code="not-published",
            )
        return judgments(submission)
