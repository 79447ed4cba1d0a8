from functools import partial
from typing import IO, Any, cast

from django.conf import settings
from django.http import Http404
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from genie.accounts import reads
from genie.accounts.permissions import ScopeFits
from genie.lib.errors import GenieError
from genie.lib.serving.uploads import announced, drop
from leaderboard.api.base import View, problems
from leaderboard.api.idempotency import IDEMPOTENCY_KEY
from leaderboard.api.pagination import Growing
from leaderboard.api.query import Choice, OfTaskQuery, task_of
from leaderboard.api.throttles import SubmitThrottle
from leaderboard.boards.api import submission_json as as_json
from leaderboard.boards.api.submission_serializers import (
    NewSubmissionSerializer,
    SubmissionDetailSerializer,
    SubmissionSerializer,
)
from leaderboard.submissions.models import Submission, Team
from leaderboard.submissions.selectors import VisibleParts, seen_as_staff, visible_parts
from leaderboard.submissions.services import idempotency, submit

# Size of a multipart body without the file: boundaries and the text fields.
_ROOM_FOR_TEXT = 1 << 20
OWN = VisibleParts(page=True, identity=True, inner=True, team=True, money=True)


class SubmissionQuery(OfTaskQuery):
    state = Choice(Submission.State.values, required=False)


class SubmissionList(View):
    permission_classes = [IsAuthenticated, ScopeFits]
    parser_classes = [MultiPartParser]
    query_class = SubmissionQuery
    pagination_class = Growing
    queryset = Submission.objects.select_related("task", "team")

    def get_throttles(self) -> list[BaseThrottle]:
        own = self.request.method == "POST"
        return [SubmitThrottle()] if own else super().get_throttles()

    @extend_schema(
        tags=["submissions"],
        operation_id="submissions_list",
        summary="List your teams' submissions, newest first",
        responses={
            200: SubmissionSerializer(many=True),
            **problems("not-authenticated", "unknown-task", "not-found"),
        },
    )
    def get(self, request: Request) -> Response:
        rows = self.get_queryset().filter(team__members=request.user.pk)
        rows = rows.filter(**self.chosen("task", "state")).order_by("-pk")
        page: Any = self.paginate_queryset(rows)
        lines = [as_json.brief(row, OWN, request) for row in page]
        return self.get_paginated_response(SubmissionSerializer(lines, many=True).data)

    @extend_schema(
        tags=["submissions"],
        operation_id="submissions_create",
        summary="Submit a system's predictions",
        description=(
            "The response is sent before the file has been checked: poll `url` "
            "until `state` is MEASURED (or INVALID, with `errors`)."
        ),
        request={"multipart/form-data": NewSubmissionSerializer},
        parameters=[IDEMPOTENCY_KEY],
        responses={
            201: OpenApiResponse(SubmissionDetailSerializer),
            **problems(
                "invalid",
                "bad-request",
                "bad-name",
                "bad-description",
                "bad-link",
                "bad-detail",
                "bad-key",
                "team-required",
                "key-reused",
                "empty-file",
                "not-authenticated",
                "not-a-member",
                "permission-denied",
                "unknown-task",
                "not-accepting",
                "file-too-large",
                "request-too-large",
                "unsupported-media-type",
                "quota-reached",
            ),
        },
    )
    def post(self, request: Request) -> Response:
        refuse_too_large(request)
        serializer = NewSubmissionSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        fields = serializer.validated_data
        submission, repeated = _received(request, dict(fields))
        body = as_json.full(submission, OWN, request)
        headers = {"Location": body["url"]}
        if repeated:
            headers["Idempotent-Replayed"] = "true"
        return Response(
            SubmissionDetailSerializer(body).data,
            status=status.HTTP_201_CREATED,
            headers=headers,
        )


class SubmissionDetail(View):
    queryset = Submission.objects.select_related("task", "team")

    @extend_schema(
        tags=["submissions"],
        operation_id="submissions_retrieve",
        summary="Show a submission: state, events, metrics, scores",
        description="Other teams' private submissions return 404.",
        responses={200: SubmissionDetailSerializer, **problems("not-found")},
    )
    def get(self, request: Request, pk: int) -> Response:
        submission = self.get_queryset().filter(pk=pk).first()
        if submission is None:
            raise Http404
        view = visible_parts(submission, request.user)
        if not view.page:
            raise Http404
        if seen_as_staff(submission, view):
            reads.record(request, submission, reads.Way.API, submission.task.slug)
        body = as_json.full(submission, view, request)
        return Response(SubmissionDetailSerializer(body).data)


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
