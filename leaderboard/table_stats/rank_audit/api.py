"""API to audit a table of scores, which is not stored."""

from typing import IO, Any, cast

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import Throttled
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from genie.accounts.throttles import CheckThrottle
from genie.lib.serving.one_at_a_time import one_at_a_time
from leaderboard.api.base import View, problems
from leaderboard.api.body import Body
from leaderboard.table_stats.rank_audit.report import document
from leaderboard.table_stats.rank_audit.service import audit_file, refuse_too_large

_BUSY_SECONDS = 3


class ScoresToAuditSerializer(Body):
    """Parameters, as multipart/form-data."""

    file = serializers.FileField(allow_empty_file=True)
    lower_is_better = serializers.BooleanField(default=False)


class AuditedSystemSerializer(serializers.Serializer[Any]):
    system = serializers.CharField()
    mean = serializers.FloatField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    rank_first = serializers.IntegerField()
    rank_last = serializers.IntegerField()
    cluster = serializers.IntegerField()


class AuditSerializer(serializers.Serializer[Any]):
    verdict = serializers.CharField()
    systems = AuditedSystemSerializer(many=True)
    n_items = serializers.IntegerField()
    n_groups = serializers.IntegerField(allow_null=True)
    n_left_out = serializers.IntegerField()
    n_pairs = serializers.IntegerField()
    n_significant = serializers.IntegerField()
    method = serializers.CharField()
    confidence = serializers.FloatField()
    notes = serializers.ListField(child=serializers.CharField())
    badge = serializers.CharField(help_text="SVG.")


class RankAudit(View):
    # it accesses no data of the site
    permission_classes = [AllowAny]
    parser_classes = [MultiPartParser]
    serializer_class = AuditSerializer

    def get_throttles(self) -> list[BaseThrottle]:
        return [*super().get_throttles(), CheckThrottle()]

    @extend_schema(
        tags=["statistics"],
        operation_id="rank_audit",
        summary="Audit the ranks of any leaderboard with per-item scores",
        description=(
            "CSV, TSV or JSON with a score for each system and item gives clusters, the "
            "ranks that each system may hold, and a badge. Nothing is stored."
        ),
        request={"multipart/form-data": ScoresToAuditSerializer},
        responses={
            200: AuditSerializer,
            **problems(
                "bad-request",
                "invalid",
                "bad-scores",
                "file-too-large",
                "unsupported-media-type",
            ),
        },
    )
    def post(self, request: Request) -> Response:
        refuse_too_large(request._request)
        given = ScoresToAuditSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        with one_at_a_time("rank-audit") as free:
            if not free:
                raise Throttled(
                    _BUSY_SECONDS, "Another file is being audited right now."
                )
            found = audit_file(
                cast("IO[bytes]", given.validated_data["file"]),
                lower_is_better=given.validated_data["lower_is_better"],
            )
        return Response(document(found))
