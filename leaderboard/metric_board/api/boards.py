"""API of metric boards and of uploaded metric scores."""

from typing import IO, Any, cast

from django.conf import settings
from django.db.models import Q, QuerySet
from django.http import Http404
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from genie.accounts.models import AccessToken
from genie.lib.errors import GenieError
from leaderboard.api.base import View, problems
from leaderboard.api.pagination import Growing
from leaderboard.api.query import Choice, CursorQuery, one_of, task_of
from leaderboard.api.throttles import SubmitThrottle
from leaderboard.boards.api.tasks import CriterionQuery, TaskView
from leaderboard.boards.selectors.columns import main_criterion
from leaderboard.metric_board.api.serializers import (
    MetricBoardSerializer,
    MetricScoresSerializer,
    NewMetricScoresSerializer,
    board_json,
)
from leaderboard.metric_board.models.outside import OutsideMetric, OutsideScores
from leaderboard.metric_board.selectors.inputs import criteria_of
from leaderboard.metric_board.selectors.snapshot import STATISTICS, shown_board
from leaderboard.metric_board.services import outside as metric_outside
from leaderboard.submissions.selectors.visibility import public

Scope = AccessToken.Scope
_ROOM_FOR_TEXT = 1 << 20


class MetricBoardQuery(CriterionQuery):
    by = Choice(list(STATISTICS), required=False)


class TaskMetricBoard(TaskView):
    serializer_class = MetricBoardSerializer
    query_class = MetricBoardQuery

    @extend_schema(
        tags=["metrics"],
        operation_id="tasks_metric_board_retrieve",
        summary="Show how well a task's metrics agree with human judgments",
        description="The last computed result; a request does not trigger a computation.",
        responses={200: MetricBoardSerializer, **problems("not-found")},
    )
    def get(self, request: Request, slug: str) -> Response:
        task = self.task()
        criterion = self.query.get("criterion") or main_criterion(task)
        one_of("criterion", criterion, criteria_of(task) or [main_criterion(task)])
        shown = shown_board(task, criterion, self.query.get("by", ""))
        return Response(MetricBoardSerializer(board_json(task, criterion, shown)).data)


class MetricScoresView(View):
    queryset = OutsideMetric.objects.none()
    serializer_class = MetricScoresSerializer

    def rows(self, request: Request) -> QuerySet[OutsideMetric]:
        may_see = Q(published_at__isnull=False)
        if request.user.is_authenticated:
            may_see |= Q(owner_id=request.user.pk)
        rows = OutsideMetric.objects.filter(may_see, withdrawn_at=None)
        return rows.select_related("task", "owner").order_by("-pk")

    def metric(
        self, request: Request, pk: int, *, owned: bool = False
    ) -> OutsideMetric:
        metric = self.rows(request).filter(pk=pk).first()
        if metric is None or (owned and metric.owner_id != request.user.pk):
            raise Http404
        return metric

    def body(self, metric: Any, *, many: bool = False) -> Any:
        # a system that was withdrawn or became private must not appear through a metric
        # that scored it earlier
        def seen(outside: OutsideMetric) -> QuerySet[OutsideScores]:
            return OutsideScores.objects.filter(public("submission__"), metric=outside)

        return MetricScoresSerializer(metric, many=many, context={"seen": seen}).data


class MetricScoresList(MetricScoresView):
    query_class = CursorQuery
    pagination_class = Growing
    parser_classes = [MultiPartParser]

    def get_throttles(self) -> list[BaseThrottle]:
        own = self.request.method == "POST"
        return [SubmitThrottle()] if own else super().get_throttles()

    @extend_schema(
        tags=["metrics"],
        operation_id="metric_scores_list",
        summary="List published outside metrics, and your own",
        responses={200: MetricScoresSerializer(many=True), **problems("not-found")},
    )
    def get(self, request: Request) -> Response:
        page: Any = self.paginate_queryset(self.rows(request))
        return self.get_paginated_response(self.body(page, many=True))

    @extend_schema(
        tags=["metrics"],
        operation_id="metric_scores_create",
        summary="Upload your metric's scores for a task's systems",
        description="Only you can see them until you publish the metric.",
        request={"multipart/form-data": NewMetricScoresSerializer},
        responses={
            201: OpenApiResponse(MetricScoresSerializer),
            **problems(
                "invalid",
                "bad-request",
                "bad-name",
                "bad-description",
                "bad-scores",
                "name-taken",
                "not-authenticated",
                "permission-denied",
                "unknown-task",
                "file-too-large",
                "request-too-large",
                "unsupported-media-type",
                "quota-reached",
            ),
        },
    )
    def post(self, request: Request) -> Response:
        _refuse_too_large(request)
        serializer = NewMetricScoresSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        fields = serializer.validated_data
        file = fields.pop("file")
        metric = metric_outside.receive(
            task=task_of(fields.pop("task")),
            owner=cast("Any", request.user),
            file=cast("Any", cast("IO[bytes]", file)),
            file_name=file.name or "scores",
            **fields,
        )
        return Response(self.body(metric), status=status.HTTP_201_CREATED)


class MetricScoresDetail(MetricScoresView):
    @property
    def scope(self) -> str | None:
        """Return the scope needed: withdrawing cannot be undone and has a separate scope."""
        return Scope.WITHDRAW if self.request.method == "DELETE" else None

    @extend_schema(
        tags=["metrics"],
        operation_id="metric_scores_retrieve",
        summary="Show one outside metric: published, or your own",
        responses={200: MetricScoresSerializer, **problems("not-found")},
    )
    def get(self, request: Request, pk: int) -> Response:
        return Response(self.body(self.metric(request, pk)))

    @extend_schema(
        tags=["metrics"],
        operation_id="metric_scores_destroy",
        summary="Withdraw your metric; this cannot be undone",
        description="The token needs the scope `withdraw`.",
        responses={
            204: None,
            **problems("not-authenticated", "permission-denied", "not-found"),
        },
    )
    def delete(self, request: Request, pk: int) -> Response:
        metric_outside.withdraw(self.metric(request, pk, owned=True))
        return Response(status=status.HTTP_204_NO_CONTENT)


class MetricScoresPublish(MetricScoresView):
    @extend_schema(
        tags=["metrics"],
        operation_id="metric_scores_publish",
        summary="Publish your metric on the metric board",
        request=None,
        responses={
            200: MetricScoresSerializer,
            **problems("not-authenticated", "permission-denied", "not-found"),
        },
    )
    def post(self, request: Request, pk: int) -> Response:
        metric = self.metric(request, pk, owned=True)
        metric_outside.publish(metric)
        metric.refresh_from_db()
        return Response(self.body(metric))


def _refuse_too_large(request: Request) -> None:
    """Check the announced length before a byte of the body is read."""
    limit = int(str(settings.GENIE["MAX_UPLOAD_BYTES"]))
    announced = str(request.META.get("CONTENT_LENGTH") or "0")
    if announced.isdigit() and int(announced) > limit + _ROOM_FOR_TEXT:
        raise GenieError(
            f"The file is larger than {limit >> 20} MB; the limit also applies after "
            "decompression.",
            code="file-too-large",
            details={"limit_bytes": limit},
        )
