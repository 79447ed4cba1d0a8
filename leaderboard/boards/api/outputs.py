"""A system's outputs, instance by instance."""

from typing import Any

from django.db.models import F
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from genie.lib.errors import GenieError
from leaderboard.api.base import problems
from leaderboard.api.pagination import ByPosition
from leaderboard.api.query import CursorQuery
from leaderboard.boards.api.open_data import SubmissionView, is_open
from leaderboard.submissions.selectors.outputs import outputs_are_open


class OutputSerializer(serializers.Serializer[Any]):
    id = serializers.CharField(
        source="instance.instance_id",
        help_text="Of the instance: /tasks/{slug}/instances/ has its input and "
        "references.",
    )
    position = serializers.IntegerField(help_text="Of the instance in the task.")
    text = serializers.CharField()


class SubmissionOutputs(SubmissionView):
    serializer_class = OutputSerializer
    query_class = CursorQuery
    pagination_class = ByPosition

    @extend_schema(
        tags=["results"],
        operation_id="submissions_outputs_list",
        summary="List a submission's outputs, in the order of the task",
        description=(
            "Open to all once the result is published, and to the team before. Test "
            "questions are made from outputs, so others get them afterwards only."
        ),
        responses={
            200: OutputSerializer(many=True),
            **problems("not-found", "not-published"),
        },
    )
    def get(self, request: Request, pk: int) -> Response:
        submission, view = self.submission(pk)
        if not (
            view.inner or (is_open(submission, view) and outputs_are_open(submission))
        ):
            raise GenieError(
                "Outputs become available once the result is published.",
                code="not-published",
            )
        rows = submission.predictions.select_related("instance").only(
            # no other fields of the instance are read: references may be hidden
            *("text", "submission_id", "instance__instance_id")
        )
        rows = rows.annotate(position=F("instance__position"))
        page: Any = self.paginate_queryset(rows)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)
