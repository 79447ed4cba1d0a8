from typing import IO, Any, cast

from django.conf import settings
from django.db.models import Prefetch, Q, QuerySet, prefetch_related_objects
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from genie.accounts.models import AccessToken
from genie.lib.errors import GenieError
from genie.lib.serving.uploads import announced_length
from leaderboard.api.base import (
    DetailView,
    Growing,
    ListView,
    SubmitThrottle,
    View,
    operation,
)
from leaderboard.api.query import Body, Choice, CursorQuery, one_of
from leaderboard.api.records import Record
from leaderboard.boards.api.tasks import CriterionQuery, TaskView
from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.metric_board.models import MetricBoard, OutsideMetric, OutsideScores
from leaderboard.metric_board.selectors.snapshot import (
    STATISTICS,
    Cell,
    Line,
    Person,
    Shown,
    Williams,
    criteria_of,
    shown_board,
)
from leaderboard.metric_board.services import publish, receive, withdraw
from leaderboard.metric_board.stats.snapshot import FEWEST_RANKED
from leaderboard.submissions.selectors import public
from leaderboard.tasks.api import ImportedSerializer, imported_json, task_of
from leaderboard.tasks.models import Task

_SEEN = "seen_scores"


# Metric boards and uploaded metric scores as JSON.
class StatisticSerializer(Record):
    """A statistic with its 95% interval; null if it is undefined."""

    record = Cell


class MetricLineSerializer(Record):
    record = Line
    shown = (
        "slug label owner outside=outside_pk licence complete n_systems cluster "
        "statistics epsilon"
    )
    statistics = serializers.DictField(
        child=StatisticSerializer(),
        source="cells",
        read_only=True,
        help_text="One of " + ", ".join(STATISTICS) + ", to its value and interval.",
    )
    help_texts = {
        "slug": "`outside.7` for an outside metric.",
        "owner": "User who uploaded its scores. Empty for this site's metrics.",
        "outside": "Its id, if it is an outside metric.",
        "licence": "For judges (programs): `licensed` for this criterion, `no license`, or "
        "`license expired`. Otherwise empty.",
        "complete": "Whether it has scores for every system, as required for comparisons.",
        "cluster": "Metrics in one cluster are not significantly different.",
        "epsilon": "Largest difference that counts as a tie, for `calibrated`.",
    }


class PersonSerializer(Record):
    """One person against the others: an average, of which no worker can be told."""

    record = Person
    shown = "n_raters n_outputs covers statistics"
    statistics = serializers.DictField(
        child=StatisticSerializer(),
        source="cells",
        read_only=True,
        help_text="Like those of metrics, without soft pairwise accuracy.",
    )
    help_texts = {
        "n_raters": "Number of workers in the average.",
        "n_outputs": "Number of outputs that the median worker rated.",
        "covers": "Uncertainty that the intervals cover.",
    }


class WilliamsSerializer(Record):
    """Williams' test of the best metric by Pearson's correlation against the next."""

    record = Williams
    help_texts = {
        "better": "Slug of the best metric.",
        "next": "Slug of the second.",
        "p": "One-sided p-value.",
        "n": "Systems.",
    }


class RankingSerializer(serializers.Serializer[Any]):
    order = serializers.ListField(
        child=serializers.CharField(), help_text="Slugs, best first."
    )
    ranks = serializers.ListField(
        child=serializers.IntegerField(), help_text="Their clusters, in the same order."
    )
    p = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField(allow_null=True)),
        help_text="One-sided p-values of “row better than column”, in the same order.",
    )
    williams = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField(allow_null=True)),
        required=False,
        help_text="One-sided p-values by Williams’ test, which also treats systems as a "
        "sample. Only for `pearson`.",
    )


class MetricSystemSerializer(serializers.Serializer[Any]):
    submission = serializers.IntegerField(source="pk")
    system = serializers.CharField(source="name")
    mean = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()


class MetricBoardSerializer(serializers.Serializer[Any]):
    """How well a task's metrics agree with human judgments, as last computed."""

    task = serializers.CharField()
    criterion = serializers.CharField()
    state = serializers.CharField(
        help_text="State for the latest inputs: "
        + ", ".join(MetricBoard.State.values)
        + "; empty if no system has been rated."
    )
    simulated = serializers.BooleanField(
        help_text="The ratings came from simulated annotators, not from people."
    )
    imported = ImportedSerializer(
        allow_null=True, help_text="Source of imported ratings. Null otherwise."
    )
    by = serializers.CharField(help_text="Statistic by which metrics are ranked.")
    computed_at = serializers.DateTimeField(allow_null=True)
    seed = serializers.IntegerField(allow_null=True)
    code_version = serializers.CharField(allow_null=True)
    n_judged = serializers.IntegerField(help_text="Instances with ratings.")
    metrics = MetricLineSerializer(many=True)
    rankings = serializers.DictField(
        child=RankingSerializer(),
        help_text=f"Empty with fewer than {FEWEST_RANKED} systems.",
    )
    why_not_ranked = serializers.CharField(
        help_text="Why metrics are not ranked. Empty if there are enough systems."
    )
    caution = serializers.CharField(
        help_text="Limits of so few systems. Empty if there are enough."
    )
    person = PersonSerializer(
        allow_null=True,
        help_text="Null with fewer than three workers, or if it has not been computed yet.",
    )
    williams = WilliamsSerializer(
        allow_null=True, help_text="Null if metrics are not ranked."
    )
    compared = serializers.ListField(child=serializers.CharField())
    systems = MetricSystemSerializer(many=True)


def board_json(task: Task, criterion: str, shown: Shown) -> dict[str, Any]:
    payload, board = shown.payload, shown.board
    return {
        "task": task.slug,
        "criterion": criterion,
        "state": shown.state,
        "simulated": bool(board and board.simulated),
        "imported": imported_json(task),
        "by": shown.by,
        "computed_at": board.computed_at if board else None,
        "seed": board.seed if board else None,
        "code_version": board.code_version if board else None,
        "n_judged": payload.get("n_judged", 0),
        "metrics": shown.lines,
        "rankings": shown.rankings,
        "why_not_ranked": shown.why_not_ranked,
        "caution": shown.caution,
        "person": shown.person,
        "williams": shown.williams,
        "compared": payload.get("compared", []),
        "systems": payload.get("systems", []),
    }


class NewMetricScoresSerializer(Body):
    task = serializers.CharField(help_text="Slug of the task.")
    name = serializers.CharField(trim_whitespace=False, help_text="Name of the metric.")
    file = serializers.FileField(
        allow_empty_file=True,
        help_text="CSV, TSV or JSONL with system, instance, value, or lines of system, "
        "tab, score (.seg.score, .sys.score); plain or gzip.",
    )
    description = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False
    )
    higher_is_better = serializers.BooleanField(required=False, default=True)


class MetricScoresSerializer(serializers.ModelSerializer[OutsideMetric]):
    task = serializers.CharField(source="task.slug", read_only=True)
    owner = serializers.CharField(source="owner.username", read_only=True)
    systems = serializers.SerializerMethodField()

    class Meta:
        model = OutsideMetric
        fields = [
            "id",
            "task",
            "owner",
            "name",
            "description",
            "higher_is_better",
            "by_instance",
            "file_format",
            "file_sha256",
            "created_at",
            "published_at",
            "withdrawn_at",
            "systems",
        ]
        read_only_fields = fields

    @extend_schema_field(serializers.DictField(child=serializers.FloatField()))
    def get_systems(self, metric: OutsideMetric) -> dict[str, float]:
        """Return the overall value of each submission that the visitor may see."""
        if not hasattr(metric, _SEEN):  # it was just uploaded
            prefetch_related_objects([metric], _seen_scores())
        return {str(row.submission_id): row.value for row in getattr(metric, _SEEN)}


def _seen_scores() -> "Prefetch[str]":
    # a system that was withdrawn or became private must not appear through a metric
    # that scored it earlier
    rows = OutsideScores.objects.filter(public("submission__"))
    shown = rows.order_by("submission_id").only("metric_id", "submission_id", "value")
    return Prefetch("scores", shown, to_attr=_SEEN)


# API of metric boards and of uploaded metric scores.
Scope = AccessToken.Scope
_ROOM_FOR_TEXT = 1 << 20


class MetricBoardQuery(CriterionQuery):
    by = Choice(list(STATISTICS), required=False)


@operation(
    "Show how well a task's metrics agree with human judgments",
    "The last computed result. A request does not trigger a computation.",
)
class TaskMetricBoard(TaskView, DetailView):
    tag = "metrics"
    serializer_class = MetricBoardSerializer
    query_class = MetricBoardQuery

    def get_object(self) -> dict[str, Any]:
        task = self.task()
        criterion = self.query.get("criterion") or main_criterion(task)
        one_of("criterion", criterion, criteria_of(task) or [main_criterion(task)])
        shown = shown_board(task, criterion, self.query.get("by", ""))
        return board_json(task, criterion, shown)


class MetricScoresView(View):
    tag = "metrics"
    serializer_class = MetricScoresSerializer

    def get_queryset(self) -> QuerySet[OutsideMetric]:
        may_see = Q(published_at__isnull=False)
        if self.request.user.is_authenticated:
            may_see |= Q(owner_id=self.request.user.pk)
        rows = OutsideMetric.objects.filter(may_see, withdrawn_at=None)
        rows = rows.select_related("task", "owner").prefetch_related(_seen_scores())
        return rows.order_by("-pk")

    def own(self) -> OutsideMetric:
        rows = self.get_queryset().filter(owner=self.request.user.pk)
        return get_object_or_404(rows, pk=self.kwargs["pk"])


@operation("List published outside metrics, and your own")
class MetricScoresList(MetricScoresView, ListView):
    query_class = CursorQuery
    pagination_class = Growing
    parser_classes = [MultiPartParser]
    body_class = NewMetricScoresSerializer
    post_throttle = SubmitThrottle

    @operation(
        "Upload your metric's scores for a task's systems",
        "Only you can see them until you publish the metric.",
        *("bad-name", "bad-description", "bad-scores", "name-taken", "unknown-task"),
        *("file-too-large", "quota-reached"),
    )
    def post(self, request: Request) -> Response:
        _refuse_too_large(request)
        fields = self.body()
        file = fields.pop("file")
        metric = receive(
            task=task_of(fields.pop("task")),
            owner=cast("Any", request.user),
            file=cast("Any", cast("IO[bytes]", file)),
            file_name=file.name or "scores",
            **fields,
        )
        body = self.get_serializer(metric).data
        return Response(body, status=status.HTTP_201_CREATED)


@operation("Show one outside metric: published, or your own")
class MetricScoresDetail(MetricScoresView, DetailView):
    @property
    def scope(self) -> str | None:
        """Return the scope needed: withdrawing cannot be undone and has a separate scope."""
        return Scope.WITHDRAW if self.request.method == "DELETE" else None

    @operation(
        "Withdraw your metric (this cannot be undone)",
        "The token needs the scope `withdraw`.",
    )
    def delete(self, request: Request, pk: int) -> Response:
        withdraw(self.own())
        return Response(status=status.HTTP_204_NO_CONTENT)


class MetricScoresPublish(MetricScoresView):
    @operation(
        "Publish your metric on the metric board", operation_id="metric_scores_publish"
    )
    def post(self, request: Request, pk: int) -> Response:
        metric = self.own()
        publish(metric)
        metric.refresh_from_db()
        return Response(self.get_serializer(metric).data)


def _refuse_too_large(request: Request) -> None:
    """Check the announced length before a byte of the body is read."""
    limit = int(str(settings.GENIE["MAX_UPLOAD_BYTES"]))
    if announced_length(request._request) > limit + _ROOM_FOR_TEXT:
        raise GenieError(
            f"The file is larger than {limit >> 20} MB; the limit also applies after "
            "decompression.",
            code="file-too-large",
            details={"limit_bytes": limit},
        )
