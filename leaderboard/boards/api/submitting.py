"""Check a file without submitting it; withdraw a submission."""

from typing import IO, Any, cast

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import Throttled
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from genie.accounts.models import AccessToken
from genie.accounts.permissions import ScopeFits
from genie.lib.errors import GenieError
from genie.lib.serving.one_at_a_time import one_at_a_time
from genie.lib.serving.uploads import announced, drop
from genie.lib.typing import Account
from leaderboard.api.base import View, problems
from leaderboard.api.body import Body
from leaderboard.api.query import task_of
from leaderboard.api.throttles import ValidateThrottle
from leaderboard.boards.api import submission_json as as_json
from leaderboard.boards.api.submission_serializers import (
    FileErrorSerializer,
    SubmissionDetailSerializer,
    WarningSerializer,
)
from leaderboard.boards.api.submissions import OWN
from leaderboard.evaluation import decide
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import visible_parts
from leaderboard.submissions.services import check_file


class FileToCheckSerializer(Body):
    """Parameters, as multipart/form-data."""

    task = serializers.SlugField(help_text="Slug of the benchmark task.")
    file = serializers.FileField(allow_empty_file=True)


class ExaminedSerializer(serializers.Serializer[Any]):
    valid = serializers.BooleanField()
    format = serializers.CharField(help_text="Empty if it could not be detected.")
    n_predictions = serializers.IntegerField()
    n_instances = serializers.IntegerField(help_text="How many the task has.")
    errors = FileErrorSerializer(many=True)  # type: ignore[assignment]
    warnings = WarningSerializer(many=True)


class ReasonSerializer(Body):
    reason = serializers.CharField(
        required=False, allow_blank=True, max_length=400, help_text="Visible to others."
    )


# Size of the other parts of a multipart body.
_ROOM = 1 << 16
_BUSY_SECONDS = 3
_REFUSALS = ("not-authenticated", "permission-denied", "bad-request", "invalid")


class SubmissionCheck(View):
    permission_classes = [IsAuthenticated, ScopeFits]
    parser_classes = [MultiPartParser]
    serializer_class = ExaminedSerializer

    def get_throttles(self) -> list[BaseThrottle]:
        return [ValidateThrottle()]

    @extend_schema(
        tags=["submissions"],
        operation_id="submissions_validate",
        summary="Check a prediction file without submitting it",
        description=(
            "Nothing is stored or counted toward your quota. At most 8 MB, also "
            "after decompression, and one file at a time: while another is "
            "being checked, the response is 429 with Retry-After."
        ),
        request={"multipart/form-data": FileToCheckSerializer},
        responses={
            200: ExaminedSerializer,
            **problems(
                *_REFUSALS,
                "empty-file",
                "unknown-task",
                "file-too-large",
                "request-too-large",
                "unsupported-media-type",
            ),
        },
    )
    def post(self, request: Request) -> Response:
        _refuse_too_large(request)
        serializer = FileToCheckSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        task, file = (
            task_of(serializer.validated_data["task"]),
            serializer.validated_data["file"],
        )
        # reading a hostile file takes seconds of processor time: only one at a time
        with one_at_a_time("check-by-accounts") as free:
            if not free:
                raise Throttled(
                    _BUSY_SECONDS, "Another file is being checked right now."
                )
            checked = check_file.examine(
                task, cast("IO[bytes]", file), file.name or "predictions"
            )
        return Response(ExaminedSerializer(checked).data)


def _refuse_too_large(request: Request) -> None:
    limit = check_file.most_bytes()
    if announced(request._request) > limit + _ROOM:
        drop(request._request, 2 * limit)
        raise GenieError(
            f"The file is larger than {limit >> 20} MB, the limit for checking "
            "without submitting, also after decompression; submit it instead.",
            code="file-too-large",
            details={"limit_bytes": limit},
        )


class OfTeam(View):
    """What a team does with its own, by a token that may withdraw."""

    permission_classes = [IsAuthenticated, ScopeFits]
    scope = AccessToken.Scope.WITHDRAW
    parser_classes = [JSONParser, FormParser, MultiPartParser]
    queryset = Submission.objects.select_related("task", "team")
    serializer_class = SubmissionDetailSerializer

    def own(self, pk: int) -> Submission:
        submission: Submission | None = self.get_queryset().filter(pk=pk).first()
        if submission is None or not visible_parts(submission, self.request.user).team:
            raise Http404
        return submission

    def shown(self, pk: int) -> Response:
        body = as_json.full(self.get_queryset().get(pk=pk), OWN, self.request)
        return Response(SubmissionDetailSerializer(body).data)


class SubmissionWithdrawal(OfTeam):
    @extend_schema(
        tags=["submissions"],
        operation_id="submissions_withdraw",
        summary="Withdraw a submission of your team",
        description="The token needs the scope `withdraw`. Within a day, `restore` "
        "brings it back.",
        request=ReasonSerializer,
        responses={
            200: SubmissionDetailSerializer,
            **problems(
                *_REFUSALS,
                "not-found",
                "not-withdrawable",
                "request-too-large",
                "unsupported-media-type",
            ),
        },
    )
    def post(self, request: Request, pk: int) -> Response:
        submission = self.own(pk)
        serializer = ReasonSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        by = cast("Account", request.user)
        reason = serializer.validated_data.get("reason", "").strip()
        decide.withdraw(submission, by=by, reason=reason)
        return self.shown(pk)


class SubmissionRestoration(OfTeam):
    @extend_schema(
        tags=["submissions"],
        operation_id="submissions_restore",
        summary="Bring a withdrawn submission of your team back, within a day",
        description=(
            "The token needs the scope `withdraw`. A published submission is on its "
            "board again, with its date. Where money had been approved and nobody been "
            "asked, staff approve it anew; where ratings were being collected, the "
            "evaluation is STOPPED, and staff may publish what there is."
        ),
        request=None,
        responses={
            200: SubmissionDetailSerializer,
            **problems(
                *("not-authenticated", "permission-denied", "not-found"),
                *("not-restorable", "unsupported-media-type"),
            ),
        },
    )
    def post(self, request: Request, pk: int) -> Response:
        decide.restore(self.own(pk), by=cast("Account", request.user))
        return self.shown(pk)
