"""Check a file without submitting it; withdraw a submission."""

from typing import IO, cast

from django.http import Http404
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.exceptions import Throttled
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from genie.accounts.models import AccessToken
from genie.accounts.permissions import ScopeFits
from genie.lib.errors import GenieError
from genie.lib.serving.one_at_a_time import one_at_a_time
from genie.lib.serving.uploads import announced, drop
from genie.lib.typing import Account
from leaderboard.api.base import View, operation
from leaderboard.api.body import Body
from leaderboard.api.query import task_of
from leaderboard.api.records import Record
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


class ExaminedSerializer(Record):
    record = check_file.Examined
    errors = FileErrorSerializer(many=True)  # type: ignore[assignment]
    warnings = WarningSerializer(many=True)
    help_texts = {
        "format": "Empty if it could not be detected.",
        "n_instances": "How many the task has.",
    }


class ReasonSerializer(Body):
    reason = serializers.CharField(
        required=False, allow_blank=True, max_length=400, help_text="Visible to others."
    )


# Size of the other parts of a multipart body.
_ROOM = 1 << 16
_BUSY_SECONDS = 3


class SubmissionCheck(View):
    permission_classes = [IsAuthenticated, ScopeFits]
    parser_classes = [MultiPartParser]
    serializer_class = ExaminedSerializer
    body_class = FileToCheckSerializer
    post_throttle = ValidateThrottle

    @operation(
        "Check a prediction file without submitting it",
        "Nothing is stored or counted toward your quota. At most 8 MB, also after "
        "decompression, and one file at a time: while another is being checked, the "
        "response is 429 with Retry-After.",
        *("empty-file", "unknown-task", "file-too-large"),
        operation_id="submissions_validate",
    )
    def post(self, request: Request) -> Response:
        _refuse_too_large(request)
        body = self.body()
        task, file = task_of(body["task"]), body["file"]
        # reading a hostile file takes seconds of processor time: only one at a time
        with one_at_a_time("check-by-accounts") as free:
            if not free:
                raise Throttled(
                    _BUSY_SECONDS, "Another file is being checked right now."
                )
            checked = check_file.examine(
                task, cast("IO[bytes]", file), file.name or "predictions"
            )
        return Response(self.get_serializer(checked).data)


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
    queryset = Submission.objects.select_related("task", "team")
    serializer_class = SubmissionDetailSerializer

    def own(self) -> Submission:
        submission = get_object_or_404(self.queryset, pk=self.kwargs["pk"])
        if not visible_parts(submission, self.request.user).team:
            raise Http404
        return submission

    def shown(self) -> Response:
        submission = self.queryset.get(pk=self.kwargs["pk"])
        body = as_json.full(submission, OWN, self.request)
        return Response(self.get_serializer(body).data)


class SubmissionWithdrawal(OfTeam):
    body_class = ReasonSerializer

    @operation(
        "Withdraw a submission of your team",
        "The token needs the scope `withdraw`. Within a day, `restore` brings it back.",
        "not-withdrawable",
        operation_id="submissions_withdraw",
    )
    def post(self, request: Request, pk: int) -> Response:
        submission, reason = self.own(), self.body().get("reason", "").strip()
        decide.withdraw(submission, by=cast("Account", request.user), reason=reason)
        return self.shown()


class SubmissionRestoration(OfTeam):
    @operation(
        "Bring a withdrawn submission of your team back, within a day",
        "The token needs the scope `withdraw`. A published submission is on its board "
        "again, with its date. Where money had been approved and nobody been asked, staff "
        "approve it anew; where ratings were being collected, the evaluation is STOPPED, "
        "and staff may publish what there is.",
        *("not-restorable", "unsupported-media-type"),
        operation_id="submissions_restore",
    )
    def post(self, request: Request, pk: int) -> Response:
        decide.restore(self.own(), by=cast("Account", request.user))
        return self.shown()
