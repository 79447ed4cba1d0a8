from functools import partial
from typing import IO, Any, cast

from django.conf import settings
from django.db.models import F, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from rest_framework import serializers, status
from rest_framework.exceptions import Throttled
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from genie.accounts.authentication import ScopeFits
from genie.accounts.models import AccessToken
from genie.lib.errors import GenieError
from genie.lib.serving.one_at_a_time import one_at_a_time
from genie.lib.serving.uploads import announced_length, drop
from genie.lib.typing import Account
from leaderboard.api.base import (
    IDEMPOTENCY_KEY,
    ByPosition,
    DetailView,
    Growing,
    ListView,
    SubmitThrottle,
    ValidateThrottle,
    View,
    operation,
)
from leaderboard.api.query import Body, Choice, CursorQuery
from leaderboard.api.records import Record
from leaderboard.boards.api.serializers import (
    FileErrorSerializer,
    NewSubmissionSerializer,
    SubmissionDetailSerializer,
    SubmissionSerializer,
    WarningSerializer,
    brief_submission,
    full_submission,
)
from leaderboard.boards.api.tasks import SubmissionView, is_open
from leaderboard.evaluation import decide
from leaderboard.submissions.models import Prediction, Submission, Team
from leaderboard.submissions.selectors import (
    VisibleParts,
    in_state,
    outputs_are_open,
    visible_parts,
)
from leaderboard.submissions.services import check_file, idempotency, submit
from leaderboard.tasks.api import OfTaskQuery, task_of

# Size of a multipart body without the file: boundaries and the text fields.
_ROOM_FOR_TEXT = 1 << 20
OWN = VisibleParts(page=True, identity=True, inner=True, team=True, money=True)


class SubmissionQuery(OfTaskQuery):
    state = Choice(Submission.State.values, required=False)


@operation("List your teams' submissions, newest first", without=("permission-denied",))
class SubmissionList(ListView):
    permission_classes = [IsAuthenticated, ScopeFits]
    parser_classes = [MultiPartParser]
    query_class = SubmissionQuery
    filters = {"task": "task"}
    pagination_class = Growing
    queryset = Submission.objects.select_related("task", "team", "human_evaluation")
    serializer_class = SubmissionSerializer
    body_class = NewSubmissionSerializer
    post_throttle = SubmitThrottle

    def get_queryset(self) -> QuerySet[Submission]:
        return super().get_queryset().filter(team__members=self.request.user.pk)

    def filter_queryset(self, queryset: Any) -> Any:
        shown = self.query.get("state")
        rows = super().filter_queryset(queryset)
        return rows.filter(in_state(shown)) if shown else rows

    def paginate_queryset(self, queryset: Any) -> Any:
        page: Any = super().paginate_queryset(queryset)
        return [brief_submission(row, OWN, self.request) for row in page]

    @operation(
        "Submit a system's predictions",
        "The response is sent before the file has been checked: poll `url` until `state` "
        "is MEASURED (or INVALID, with `errors`).",
        *("bad-name", "bad-description", "bad-link", "bad-detail", "bad-key"),
        *("team-required", "key-reused", "empty-file", "not-a-member", "unknown-task"),
        *("not-accepting", "file-too-large", "quota-reached"),
        parameters=[IDEMPOTENCY_KEY],
        responses={201: SubmissionDetailSerializer},
    )
    def post(self, request: Request) -> Response:
        refuse_too_large(request)
        submission, repeated = _receive(request, self.body())
        body = full_submission(submission, OWN, request)
        headers = {"Location": body["url"]}
        if repeated:
            headers["Idempotent-Replayed"] = "true"
        return Response(
            SubmissionDetailSerializer(body).data,
            status=status.HTTP_201_CREATED,
            headers=headers,
        )


@operation(
    "Show a submission: state, events, metrics, scores",
    "Other teams' private submissions return 404.",
)
class SubmissionDetail(SubmissionView, DetailView):
    tag = "submissions"
    serializer_class = SubmissionDetailSerializer

    def get_object(self) -> dict[str, Any]:
        return full_submission(*self.submission(), self.request)


def _receive(request: Request, fields: dict[str, Any]) -> tuple[Submission, bool]:
    owner = cast("Any", request.user)
    file = fields.pop("file")
    stream = cast("IO[bytes]", file)
    sent = dict(fields)
    receive = partial(
        submit.receive,
        task=task_of(fields.pop("task")),
        owner=owner,
        team=_team(owner, fields.pop("team", None)),
        file=stream,
        file_name=file.name or "predictions",
        **fields,
    )
    if (key := request.headers.get("Idempotency-Key")) is None:
        return receive(), False
    key = idempotency.checked_key(key)
    request_hash = idempotency.fingerprint(sent, stream)
    return idempotency.receive_once(
        owner, key, request_hash, lambda also: receive(also=also)
    )


def _team(owner: Any, slug: str | None) -> Team:
    if slug is None:
        return submit.team_for(owner)
    team = Team.objects.filter(slug=slug, members=owner).first()
    if team is None:
        # the same answer whether or not the team exists
        raise GenieError(
            f"You are not a member of a team {slug!r}. Choose one of your teams.",
            code="not-a-member",
        )
    return team


def refuse_too_large(request: Request) -> None:
    """Refuse a body by its announced length, before reading it."""
    limit = int(str(settings.GENIE["MAX_UPLOAD_BYTES"]))
    if announced_length(request._request) > limit + _ROOM_FOR_TEXT:
        drop(request._request, 8 * limit)
        raise GenieError(
            f"The file is larger than {limit >> 20} MB. Upload only the predictions. "
            "The limit also applies after decompression.",
            code="file-too-large",
            details={"limit_bytes": limit},
        )


# Check a file without submitting it; withdraw a submission.
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
        required=False,
        allow_blank=True,
        max_length=400,
        help_text="Visible to other users.",
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
    if announced_length(request._request) > limit + _ROOM:
        drop(request._request, 2 * limit)
        raise GenieError(
            f"The file is larger than {limit >> 20} MB, the limit for checking "
            "without submitting, also after decompression. Submit it instead.",
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

    def current(self) -> Response:
        submission = self.queryset.get(pk=self.kwargs["pk"])
        body = full_submission(submission, OWN, self.request)
        return Response(self.get_serializer(body).data)


class SubmissionWithdrawal(OfTeam):
    body_class = ReasonSerializer

    @operation(
        "Withdraw one of your team's submissions",
        "The token needs the scope `withdraw`. Within a day, `restore` brings it back.",
        "not-withdrawable",
        operation_id="submissions_withdraw",
    )
    def post(self, request: Request, pk: int) -> Response:
        submission, reason = self.own(), self.body().get("reason", "").strip()
        decide.withdraw(submission, by=cast("Account", request.user), reason=reason)
        return self.current()


class SubmissionRestoration(OfTeam):
    @operation(
        "Restore a withdrawn submission of your team within a day",
        "The token needs the scope `withdraw`. A published submission returns to its "
        "board with its date. If a budget was approved but no workers were asked, "
        "staff must approve it again. If ratings were being collected, the evaluation "
        "is STOPPED, and staff may publish the partial scores.",
        *("not-restorable", "unsupported-media-type"),
        operation_id="submissions_restore",
    )
    def post(self, request: Request, pk: int) -> Response:
        decide.restore(self.own(), by=cast("Account", request.user))
        return self.current()


# A system's outputs, instance by instance.
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
    "Public once the result is published. Before that, only the team can read them, "
    "because test questions are made from outputs.",
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
