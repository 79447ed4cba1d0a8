"""A system's outputs, instance by instance."""

from typing import Any

from django.db.models import F, QuerySet
from rest_framework import serializers

from genie.lib.errors import GenieError
from leaderboard.api.base import ListView, operation
from leaderboard.api.pagination import ByPosition
from leaderboard.api.query import CursorQuery
from leaderboard.boards.api.open_data import SubmissionView, is_open
from leaderboard.submissions.models import Prediction
from leaderboard.submissions.selectors import outputs_are_open


class OutputSerializer(serializers.Serializer[Any]):
    id = serializers.CharField(
        source="instance.instance_id",
        help_text="Of the instance: /tasks/{slug}/instances/ has its input and "
        "references.",
    )
    position = serializers.IntegerField(help_text="Of the instance in the task.")
    text = serializers.CharField()


@operation(
    "List a submission's outputs, in the order of the task",
    "Open to all once the result is published, and to the team before. Test questions are "
    "made from outputs, so others get them afterwards only.",
    "not-published",
)
class SubmissionOutputs(SubmissionView, ListView):
    serializer_class = OutputSerializer
    query_class = CursorQuery
    pagination_class = ByPosition

    def get_queryset(self) -> QuerySet[Prediction]:
        submission, view = self.submission()
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
        return rows.annotate(position=F("instance__position"))
