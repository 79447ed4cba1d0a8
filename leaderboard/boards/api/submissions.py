from functools import partial
from typing import IO, Any, cast

from django.conf import settings
from django.db.models import QuerySet
from rest_framework import status
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from genie.accounts.permissions import ScopeFits
from genie.lib.errors import GenieError
from genie.lib.serving.uploads import announced, drop
from leaderboard.api.base import DetailView, ListView, operation
from leaderboard.api.idempotency import IDEMPOTENCY_KEY
from leaderboard.api.pagination import Growing
from leaderboard.api.query import Choice, OfTaskQuery, task_of
from leaderboard.api.throttles import SubmitThrottle
from leaderboard.boards.api import submission_json as as_json
from leaderboard.boards.api.open_data import SubmissionView
from leaderboard.boards.api.submission_serializers import (
    NewSubmissionSerializer,
    SubmissionDetailSerializer,
    SubmissionSerializer,
)
from leaderboard.submissions.models import Submission, Team
from leaderboard.submissions.selectors import VisibleParts
from leaderboard.submissions.services import idempotency, submit

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
    filters = {"task": "task", "state": "state"}
    pagination_class = Growing
    queryset = Submission.objects.select_related("task", "team")
    serializer_class = SubmissionSerializer
    body_class = NewSubmissionSerializer
    post_throttle = SubmitThrottle

    def get_queryset(self) -> QuerySet[Submission]:
        return super().get_queryset().filter(team__members=self.request.user.pk)

    def paginate_queryset(self, queryset: Any) -> Any:
        page: Any = super().paginate_queryset(queryset)
        return [as_json.brief(row, OWN, self.request) for row in page]

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
        submission, repeated = _received(request, self.body())
        body = as_json.full(submission, OWN, request)
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
        return as_json.full(*self.submission(), self.request)


def _received(request: Request, fields: dict[str, Any]) -> tuple[Submission, bool]:
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
            f"You are not a member of a team {slug!r}; choose one of yours.",
            code="not-a-member",
        )
    return team


def refuse_too_large(request: Request) -> None:
    """Refuse a body by its announced length, before reading it."""
    limit = int(str(settings.GENIE["MAX_UPLOAD_BYTES"]))
    if announced(request._request) > limit + _ROOM_FOR_TEXT:
        drop(request._request, 8 * limit)
        raise GenieError(
            f"The file is larger than {limit >> 20} MB; upload only the "
            "predictions. The limit also applies after decompression.",
            code="file-too-large",
            details={"limit_bytes": limit},
        )
