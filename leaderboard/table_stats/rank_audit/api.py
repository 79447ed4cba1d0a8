"""API to audit a table of scores, which is not stored."""

from typing import IO, Any, cast

from django.http import HttpRequest
from rest_framework import serializers
from rest_framework.exceptions import Throttled
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from genie.accounts.throttles import CheckThrottle
from genie.lib.bounded import LimitExceeded, Limits, call_bounded
from genie.lib.errors import GenieError
from genie.lib.serving.one_at_a_time import one_at_a_time
from genie.lib.serving.uploads import announced_length, drop
from leaderboard.api.base import View, operation
from leaderboard.api.query import Body
from leaderboard.table_stats.rank_audit.read import MOST_BYTES, read_or_refuse
from leaderboard.table_stats.rank_audit.report import Audit, audit, document

# Audit of a stranger's file of scores, within limits and without storing it.
LIMITS = Limits(cpu_seconds=3, memory_bytes=400 << 20)
# limit of systems, because comparing all pairs needs more memory than the file
MOST_PAIRED = 300
# size of the rest of a multipart body
_ROOM = 1 << 16


def refuse_too_large(request: HttpRequest) -> None:
    """Refuse a body by its announced size, without storing it.

    Raises
    ------
    GenieError
        If it is larger than the largest accepted file of scores.
    """
    if announced_length(request) > MOST_BYTES + _ROOM:
        drop(request, 2 * MOST_BYTES)
        raise GenieError(
            f"The file is larger than {MOST_BYTES >> 20} MB, the limit here. Run "
            "`genie audit_ranks` on your own machine.",
            code="file-too-large",
        )


def audit_file(file: IO[bytes], *, lower_is_better: bool = False) -> Audit:
    """Read and audit a file, with limited time and memory.

    Raises
    ------
    GenieError
        If the file has errors or needs too much of either.
    """
    try:
        scores = call_bounded(
            read_or_refuse, file, LIMITS, with_packages=True, name=file.name
        )
    except LimitExceeded:
        raise GenieError(
            "Reading this file takes more time or memory than is allowed here. Run "
            "`genie audit_ranks` on your own machine.",
            code="bad-scores",
        ) from None
    if isinstance(scores, str):
        raise GenieError(scores, code="bad-scores")
    if len(scores.systems) > MOST_PAIRED:
        raise GenieError(
            f"{len(scores.systems)} systems are more than the {MOST_PAIRED} that can "
            "be compared here. Run `genie audit_ranks` on your own machine.",
            code="bad-scores",
        )
    return audit(scores, lower_is_better=lower_is_better)


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
    tag = "statistics"
    # it accesses no data of the site
    permission_classes = [AllowAny]
    parser_classes = [MultiPartParser]
    serializer_class = AuditSerializer
    body_class = ScoresToAuditSerializer

    def get_throttles(self) -> list[BaseThrottle]:
        return [*super().get_throttles(), CheckThrottle()]

    @operation(
        "Audit the ranks of any leaderboard with per-item scores",
        "Upload CSV, TSV or JSON with a score for each system and item to get "
        "clusters, each system's possible ranks, and a badge. The file is not stored.",
        *("bad-scores", "file-too-large"),
        operation_id="rank_audit",
        without=("request-too-large",),
    )
    def post(self, request: Request) -> Response:
        refuse_too_large(request._request)
        body = self.body()
        with one_at_a_time("rank-audit") as free:
            if not free:
                raise Throttled(
                    _BUSY_SECONDS, "Another file is being audited right now."
                )
            found = audit_file(
                cast("IO[bytes]", body["file"]), lower_is_better=body["lower_is_better"]
            )
        return Response(document(found))
