"""Tasks as bundles in the API, for staff."""

from collections.abc import Mapping
from typing import Any, cast

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.parsers import MultiPartParser
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from genie.accounts.models import AccessToken
from genie.accounts.permissions import IsStaff
from genie.accounts.staff import staff_may
from genie.lib.errors import GenieError
from genie.lib.serving.uploads import announced, drop
from genie.lib.typing import Account
from leaderboard.api.base import View, problems
from leaderboard.api.body import Body
from leaderboard.api.query import task_of
from leaderboard.submissions.selectors.visibility import Staff
from leaderboard.tasks.services import archives, bundles

# Bytes around a file in a multipart body.
_ROOM = 1 << 16
REFUSALS = ("not-authenticated", "permission-denied")


class BundleFileSerializer(Body):
    """Parameters, as multipart/form-data."""

    file = serializers.FileField(help_text="A zip file with task.toml and test.jsonl.")
    dry_run = serializers.BooleanField(
        default=False, help_text="Only say what is in it and what is wrong with it."
    )


class BundleReportSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    created = serializers.BooleanField(help_text="Whether the task is new.")
    n_instances = serializers.IntegerField()
    n_references = serializers.IntegerField(help_text="Instances that have any.")
    problems = serializers.ListField(
        child=serializers.CharField(), help_text="All that is wrong; a dry run only."
    )


class ZipRenderer(BaseRenderer):
    """Lets a program ask for application/zip; the view itself writes the bytes."""

    media_type = "application/zip"
    format = "zip"

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        # A refusal is JSON for any Accept header.
        return JSONRenderer().render(data)


class BundleList(View):
    permission_classes = [IsStaff]
    parser_classes = [MultiPartParser]
    serializer_class = BundleReportSerializer
    scope = AccessToken.Scope.STAFF
    staff_permission = Staff.IMPORT_TASKS

    @extend_schema(
        tags=["staff"],
        operation_id="bundles_create",
        summary="Load a task from a bundle",
        description=(
            "The same bundle again changes nothing but what its task.toml says; "
            "other instances under the same slug are refused. A task that is there "
            f"already takes the permission {Staff.SEE_REFERENCES} besides."
        ),
        request={"multipart/form-data": BundleFileSerializer},
        responses={
            200: BundleReportSerializer,
            201: BundleReportSerializer,
            **problems(
                *REFUSALS,
                "bad-request",
                "invalid",
                "bad-bundle",
                "unusable-task",
                "release-changed",
                "slug-taken",
                "incomparable",
                "file-too-large",
                "request-too-large",
                "unsupported-media-type",
            ),
        },
    )
    def post(self, request: Request) -> Response:
        refuse_too_large(request)
        serializer = BundleFileSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        archive = archives.received(serializer.validated_data["file"])
        bundle = archive.bundle
        looked = bundles.look_at(bundle, archive)
        created = False
        if not serializer.validated_data["dry_run"]:
            if looked.problems:
                raise GenieError(
                    f"The bundle cannot be loaded: {' '.join(looked.problems)}",
                    code="unusable-task",
                    details={"problems": looked.problems},
                )
            # It would change a loaded task, for which the permission to add is not
            # enough.
            if looked.exists and not staff_may(request.user, Staff.SEE_REFERENCES):
                raise PermissionDenied
            created = bundles.import_bundle(
                bundle, by=cast("Account", request.user), archive=archive
            ).created
        report = {
            "slug": bundle.slug,
            "created": created,
            "n_instances": looked.n_instances,
            "n_references": looked.n_references,
            "problems": looked.problems,
        }
        return Response(
            BundleReportSerializer(report).data, status=201 if created else 200
        )


class BundleDetail(View):
    permission_classes = [IsStaff]
    renderer_classes = [JSONRenderer, ZipRenderer]
    serializer_class = BundleReportSerializer
    scope = AccessToken.Scope.STAFF
    staff_permission = Staff.EXPORT_TASKS

    @extend_schema(
        tags=["staff"],
        operation_id="bundles_retrieve",
        summary="Download a task as a bundle",
        description=(
            "A zip file with task.toml and test.jsonl; the same task gives the same "
            "bytes. Hidden references are in it for staff with the permission "
            f"{Staff.SEE_REFERENCES} only."
        ),
        responses={
            (200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY),
            **problems(*REFUSALS, "not-found", "unknown-task"),
        },
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        task = task_of(slug)
        told = staff_may(request.user, Staff.SEE_REFERENCES)
        bundle = bundles.export_bundle(task, with_references=told)
        return HttpResponse(
            bundle.zipped(),
            content_type="application/zip",
            headers={"Content-Disposition": f'attachment; filename="{task.slug}.zip"'},
        )


class ConfigurationSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    revision = serializers.IntegerField(help_text="How often it was changed, and 1.")
    config = serializers.DictField(
        help_text="What the task's task.toml says now, table by table."
    )


class TaskConfiguration(View):
    """How a task asks, controls and ranks, all of it; the board's page says most."""

    permission_classes = [IsStaff]
    serializer_class = ConfigurationSerializer
    scope = AccessToken.Scope.STAFF
    staff_permission = Staff.EXPORT_TASKS

    @extend_schema(
        tags=["staff"],
        operation_id="tasks_configuration_retrieve",
        summary="Show a task's configuration",
        description="The file itself is in the task's bundle.",
        responses={
            200: ConfigurationSerializer,
            **problems(*REFUSALS, "not-found", "unknown-task"),
        },
    )
    def get(self, request: Request, slug: str) -> Response:
        task = task_of(slug)
        revision = task.revisions.order_by("-number").first()
        found = {
            "slug": task.slug,
            "revision": revision.number if revision else 1,
            "config": task.config,
        }
        return Response(self.get_serializer(found).data)


def refuse_too_large(request: Request) -> None:
    limit = int(settings.GENIE["MAX_UPLOAD_BYTES"])
    if announced(request._request) > limit + _ROOM:
        drop(request._request, 2 * limit)
        raise GenieError(
            f"The file is larger than {limit >> 20} MB.", code="file-too-large"
        )
