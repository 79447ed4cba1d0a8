"""Results row by row: scores, metric results, ratings under pseudonyms."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from genie.accounts import reads
from genie.lib.errors import GenieError
from leaderboard.api.base import View, problems
from leaderboard.api.query import LARGEST, AtQuery, Choice, PageQuery, one_of
from leaderboard.boards.api.open_data_serializers import (
    JudgmentSerializer,
    MetricPerInstanceSerializer,
    MetricResultSerializer,
    ScoreRowSerializer,
)
from leaderboard.boards.api.tasks import CriterionQuery, TaskView
from leaderboard.boards.selectors import open_data
from leaderboard.metrics.base import all_metrics
from leaderboard.submissions.models.submission import Submission
from leaderboard.submissions.selectors.outputs import seen_as_staff
from leaderboard.submissions.selectors.visibility import VisibleParts, visible_parts


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
        help_text="yes: also scores that have since been replaced.",
    )


class MetricResultQuery(OfSubmissionQuery):
    metric = serializers.CharField(required=False, help_text="Slug of a metric.")


class ScoreList(TaskView):
    serializer_class = ScoreRowSerializer
    query_class = ScoreQuery

    @extend_schema(
        tags=["results"],
        operation_id="tasks_scores_list",
        summary="List a task's human scores with their intervals",
        description=(
            "Current scores of published submissions, and of your teams' "
            "unpublished ones. Scores are never overwritten: `at` gives those "
            "of a past moment. `covers` says what the 95 % interval covers."
        ),
        responses={200: ScoreRowSerializer(many=True), **problems("not-found")},
    )
    def get(self, request: Request, slug: str) -> Response:
        task = self.task()
        if criterion := self.query.get("criterion"):
            one_of("criterion", criterion, open_data.scored_criteria(task))
        rows = open_data.scores(
            task,
            request.user,
            at=self.query.get("at"),
            superseded=self.query.get("superseded") == "yes",
        )
        page: Any = self.paginate_queryset(
            rows.filter(**self.chosen("criterion", "submission"))
        )
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class MetricResultList(TaskView):
    serializer_class = MetricResultSerializer
    query_class = MetricResultQuery

    @extend_schema(
        tags=["results"],
        operation_id="tasks_metric_results_list",
        summary="List the automatic metrics of a task's submissions",
        description="If a metric has several results, the board uses the last one.",
        responses={200: MetricResultSerializer(many=True), **problems("not-found")},
    )
    def get(self, request: Request, slug: str) -> Response:
        one_of("metric", self.query.get("metric", ""), list(all_metrics()))
        rows = open_data.metric_results(self.task(), request.user)
        page: Any = self.paginate_queryset(
            rows.filter(**self.chosen("metric", "submission"))
        )
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class SubmissionView(View):
    """A view below one submission; to who may not see it, it does not exist."""

    queryset = Submission.objects.select_related("task", "team")

    def submission(self, pk: int) -> tuple[Submission, VisibleParts]:
        submission = self.get_queryset().filter(pk=pk).first()
        if submission is None:
            raise Http404
        view = visible_parts(submission, self.request.user)
        if not view.page:
            raise Http404
        if seen_as_staff(submission, view):
            reads.record(self.request, submission, reads.Way.API, submission.task.slug)
        return submission, view


def is_open(submission: Submission, view: VisibleParts) -> bool:
    """Check whether the numbers are shown, which excludes withdrawn submissions."""
    return view.inner or submission.state != Submission.State.WITHDRAWN


class SubmissionMetricResults(SubmissionView):
    serializer_class = MetricPerInstanceSerializer
    query_class = PageQuery

    @extend_schema(
        tags=["results"],
        operation_id="submissions_metric_results_list",
        summary="List one submission's metrics with a value for each instance",
        responses={
            200: MetricPerInstanceSerializer(many=True),
            **problems("not-found"),
        },
    )
    def get(self, request: Request, pk: int) -> Response:
        submission, view = self.submission(pk)
        rows = submission.metric_results.order_by("pk")
        if not is_open(submission, view):
            rows = rows.none()
        page: Any = self.paginate_queryset(rows)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class SubmissionJudgments(SubmissionView):
    serializer_class = JudgmentSerializer
    query_class = PageQuery

    @extend_schema(
        tags=["results"],
        operation_id="submissions_judgments_list",
        summary="List all ratings of a published submission",
        description=(
            "Includes ratings that do not count. Workers have pseudonyms that "
            "are specific to one task. Test questions are not included."
        ),
        responses={
            200: JudgmentSerializer(many=True),
            **problems("not-found", "not-published"),
        },
    )
    def get(self, request: Request, pk: int) -> Response:
        submission, view = self.submission(pk)
        if submission.published_at is None or not is_open(submission, view):
            raise GenieError(
                "Judgments become available once the result is published.",
                code="not-published",
            )
        page: Any = self.paginate_queryset(open_data.judgments(submission))
        return self.get_paginated_response(self.get_serializer(page, many=True).data)
