"""A board's history: its results in the order of publication, and who led."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.base import problems
from leaderboard.api.links import HtmlUrl
from leaderboard.api.query import PageQuery
from leaderboard.boards.api.tasks import TaskView
from leaderboard.boards.selectors.history import history


class PublishedSerializer(serializers.Serializer[Any]):
    submission = serializers.IntegerField(source="result.pk", help_text="Its id.")
    html_url = HtmlUrl("submission", source="result")
    system = serializers.CharField(source="result.system")
    simulated = serializers.BooleanField(source="result.simulated")
    published_at = serializers.DateTimeField(source="result.at")
    mean = serializers.FloatField(
        source="result.mean", help_text="As it counts now, not as it was then."
    )
    low = serializers.FloatField(source="result.low")
    high = serializers.FloatField(source="result.high")
    n = serializers.IntegerField(source="result.n", help_text="Instances rated.")
    of = serializers.IntegerField(source="result.of", help_text="In the sample.")
    provisional = serializers.BooleanField(source="result.provisional")
    led = serializers.BooleanField(help_text="Whether it was the best when it came.")
    gain = serializers.FloatField(
        allow_null=True, help_text="Points over the best until then; null for others."
    )
    significant = serializers.BooleanField(
        allow_null=True, help_text="Whether the board's comparisons confirm the gain."
    )


class BoardHistory(TaskView):
    serializer_class = PublishedSerializer
    query_class = PageQuery

    @extend_schema(
        tags=["tasks"],
        operation_id="tasks_history_list",
        summary="Show a board's results in order of publication, and who led",
        description="`/leaderboard/?at=` gives the whole board of a past time.",
        responses={200: PublishedSerializer(many=True), **problems("not-found")},
    )
    def get(self, request: Request, slug: str) -> Response:
        found = history(self.task())
        leads = {lead.result.pk: lead for lead in found.leads}
        rows = [
            {
                "result": result,
                "led": (lead := leads.get(result.pk)) is not None,
                "gain": lead and lead.gain,
                "significant": lead.sure if lead and lead.gain is not None else None,
            }
            for result in found.results
        ]
        page: Any = self.paginate_queryset(rows)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)
