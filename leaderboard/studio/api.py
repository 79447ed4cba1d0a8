import json
import re
from collections.abc import Mapping
from typing import Any, cast

from django.conf import settings
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.parsers import MultiPartParser
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from genie.accounts.authentication import IsStaff
from genie.accounts.models import AccessToken
from genie.accounts.staff import staff_may
from genie.lib.errors import GenieError
from genie.lib.serving.uploads import announced_length, drop
from genie.lib.typing import Account
from leaderboard.api.base import DetailView, View, operation
from leaderboard.api.query import Body
from leaderboard.studio.models import Draft
from leaderboard.studio.services import bring
from leaderboard.submissions.selectors import Staff
from leaderboard.tasks.api import task_of
from leaderboard.tasks.config import RATERS
from leaderboard.tasks.drafts.bundle import SLUG
from leaderboard.tasks.services import archives, bundles

# Tasks as bundles in the API, for staff.
# Bytes around a file in a multipart body.
_ROOM = 1 << 16


class BundleFileSerializer(Body):
    """Parameters, as multipart/form-data."""

    file = serializers.FileField(help_text="A zip file with task.toml and test.jsonl.")
    dry_run = serializers.BooleanField(
        default=False, help_text="Only report its contents and problems."
    )


class BundleReportSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    created = serializers.BooleanField(help_text="Whether the task is new.")
    n_instances = serializers.IntegerField()
    n_references = serializers.IntegerField(help_text="Instances with references.")
    problems = serializers.ListField(
        child=serializers.CharField(), help_text="All problems (dry run only)."
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


class BundleView(View):
    permission_classes = [IsStaff]
    scope = AccessToken.Scope.STAFF
    staff_permission = Staff.EXPORT_TASKS


class BundleList(BundleView):
    parser_classes = [MultiPartParser]
    serializer_class = BundleReportSerializer
    body_class = BundleFileSerializer
    staff_permission = Staff.IMPORT_TASKS

    @operation(
        "Load a task from a bundle",
        "Loading the same bundle again only updates the settings in task.toml. "
        "Different instances under the same slug are refused. An existing task also "
        f"requires the permission {Staff.SEE_REFERENCES}.",
        *("bad-bundle", "unusable-task", "release-changed", "slug-taken"),
        *("incomparable", "file-too-large"),
        responses={200: BundleReportSerializer, 201: BundleReportSerializer},
    )
    def post(self, request: Request) -> Response:
        refuse_too_large(request)
        body = self.body()
        archive = archives.receive_archive(body["file"])
        bundle = archive.bundle
        looked = bundles.look_at(bundle, archive)
        created = False
        if not body["dry_run"]:
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
        status = 201 if created else 200
        return Response(self.get_serializer(report).data, status=status)


@operation(
    "Download a task as a bundle",
    "A zip file with task.toml and test.jsonl. The same task always gives the same "
    "bytes. Hidden references are included only for staff with the permission "
    f"{Staff.SEE_REFERENCES}.",
    "unknown-task",
    responses={(200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY)},
)
class BundleDetail(BundleView):
    renderer_classes = [JSONRenderer, ZipRenderer]

    def get(self, request: Request, slug: str) -> HttpResponse:
        task = task_of(slug)
        told = staff_may(request.user, Staff.SEE_REFERENCES)
        return HttpResponse(
            bundles.export_bundle(task, with_references=told).to_zip(),
            content_type="application/zip",
            headers={"Content-Disposition": f'attachment; filename="{task.slug}.zip"'},
        )


class ConfigurationSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    revision = serializers.IntegerField(help_text="Version number, starting at 1.")
    config = serializers.DictField(
        help_text="The task's current task.toml, table by table, without budget and quota."
    )


@operation(
    "Show a task's configuration",
    "The file itself is in the task's bundle.",
    "unknown-task",
)
class TaskConfiguration(DetailView):
    """How a task asks, controls and ranks, for everybody: the board is public, too."""

    serializer_class = ConfigurationSerializer

    def get_object(self) -> dict[str, Any]:
        task = task_of(self.kwargs["slug"])
        revision = task.revisions.order_by("-number").first()
        return {
            "slug": task.slug,
            "revision": revision.number if revision else 1,
            "config": task.public_config,
        }


def refuse_too_large(request: Request) -> None:
    limit = int(settings.GENIE["MAX_UPLOAD_BYTES"])
    if announced_length(request._request) > limit + _ROOM:
        drop(request._request, 2 * limit)
        raise GenieError(
            f"The file is larger than {limit >> 20} MB.", code="file-too-large"
        )


# Imports of ratings in the API, for staff: sent, read, previewed, imported.
_NO_TEXT = re.compile(r"\\u0000|[\ud800-\udfff]")


class TableField(serializers.CharField):
    """A JSON object of texts, as a form's field has it."""

    def to_internal_value(self, data: Any) -> Any:
        try:
            said = json.loads(super().to_internal_value(data), parse_constant=str)
        except (ValueError, RecursionError) as error:
            raise serializers.ValidationError("Not JSON.") from error
        if not isinstance(said, dict):
            raise serializers.ValidationError("Not a JSON object.")
        # characters that no database can store: number 0, half surrogate pairs
        if _NO_TEXT.search(json.dumps(said, ensure_ascii=False)):
            raise serializers.ValidationError("Not text.")
        return self.to_texts(said)

    def to_texts(self, said: dict[str, Any]) -> dict[str, Any]:
        return {key: str(value) for key, value in said.items()}


class ChoicesField(TableField):
    """A mapping as a JSON object, whose values may be lists and objects."""

    def to_texts(self, said: dict[str, Any]) -> dict[str, Any]:
        return said


class ImportFilesSerializer(Body):
    """Parameters, as multipart/form-data; `file` may be there several times."""

    file = serializers.FileField(help_text="A file of ratings, also .gz or .zip.")
    task = serializers.RegexField(
        SLUG,
        max_length=100,
        help_text="Slug of a new or imported task for these ratings.",
    )
    title = serializers.CharField(max_length=200, required=False)
    layout = serializers.SlugField(
        max_length=100,
        required=False,
        help_text="Format of the files. If omitted, it is detected.",
    )
    choices = ChoicesField(
        required=False,
        help_text="JSON object, as in a mapping file: a role to its columns or patterns, "
        'such as {"system": "model", "rating": ["fluency"]}, and answers to questions.',
    )
    source = serializers.CharField(  # type: ignore[assignment]
        max_length=500, required=False, help_text="Source of the files."
    )
    licence = serializers.CharField(max_length=200, required=False)
    citation = serializers.CharField(max_length=5000, required=False)
    raters = serializers.ChoiceField(
        choices=RATERS,
        required=False,
        help_text="Whether results are about these raters or about raters like these. If "
        "omitted, raters like these, and the board notes the assumption.",
    )
    known = TableField(
        required=False,
        help_text="JSON object with details of pay, instructions, screening, ...",
    )
    questions = TableField(
        required=False,
        help_text="JSON object that maps each criterion to the question people saw.",
    )
    scales = TableField(
        required=False,
        help_text="JSON object: criterion to its lowest and highest possible answer, such "
        'as {"fluency": "1 to 5"}; "*" is every criterion. Needed if there are fewer than '
        "five different values and the files state no scale.",
    )
    dry_run = serializers.BooleanField(
        default=False, help_text="Only report the contents and problems of the files."
    )


class ImportStateSerializer(serializers.Serializer[Any]):
    """The progress of an import and the contents of its files."""

    id = serializers.IntegerField()
    url = serializers.URLField()
    task = serializers.CharField()
    state = serializers.ChoiceField(
        choices=[bring.READING, bring.READ, bring.IMPORTING, bring.IMPORTED],
        help_text="reading and importing continue automatically. A dry run ends as read.",
    )
    error = serializers.CharField(
        help_text="Why the files cannot be imported. Empty if they can."
    )
    layout = serializers.CharField(help_text="Format of the files.")
    columns = serializers.ListField(
        child=serializers.DictField(),
        help_text="Each column or pattern of columns with its role, the reason and "
        "examples.",
    )
    questions = serializers.ListField(
        child=serializers.DictField(),
        help_text="Questions. Answer them in `choices`, by name.",
    )
    mapping = serializers.DictField(help_text="The roles and answers that were used.")
    seen = serializers.DictField(
        help_text="After reading: rows by role, systems with their means, criteria with "
        "their ranges, the first rows and missing details."
    )
    problems = serializers.ListField(
        child=serializers.CharField(), help_text="By file and row, the first 200."
    )
    n_problems = serializers.IntegerField()
    html_url = serializers.URLField(
        allow_null=True, help_text="The board, after the import."
    )

    def to_representation(self, draft: Draft) -> Any:
        found, request = bring.state_of(draft), self.context["request"]
        seen = dict(found["seen"])
        board = (
            request.build_absolute_uri(f"/tasks/{draft.task.slug}/")
            if draft.task and found["phase"] == bring.IMPORTED
            else None
        )
        return super().to_representation(
            {
                "id": draft.pk,
                "url": reverse("api:import-detail", args=[draft.pk], request=request),
                "task": draft.slug,
                "state": found["phase"],
                "error": found["error"],
                "layout": seen.pop("layout", "") or found["layout"],
                "columns": seen.pop("columns", []),
                "questions": seen.pop("choices", []),
                "mapping": seen.pop("mapping", {}),
                "problems": seen.pop("problems", []),
                "n_problems": seen.pop("n_problems", 0),
                "seen": seen,
                "html_url": board,
            }
        )


class ImportView(View):
    permission_classes = [IsStaff]
    serializer_class = ImportStateSerializer
    scope = AccessToken.Scope.STAFF
    staff_permission = Staff.IMPORT_TASKS


class ImportList(ImportView):
    parser_classes = [MultiPartParser]
    body_class = ImportFilesSerializer

    @operation(
        "Import ratings",
        "A job reads the files. The response has the address of its state, with their "
        "contents and every problem by row. Without `dry_run` the ratings are then "
        "imported. The board is marked as imported everywhere.",
        *("slug-taken", "same-file", "too-many-files", "file-too-large"),
        responses={202: ImportStateSerializer},
    )
    def post(self, request: Request) -> Response:
        refuse_too_large(request)
        said = self.body()
        draft = bring.begin(
            owner=cast("Account", request.user),
            slug=said["task"],
            title=said.get("title", "") or said["task"],
            files=request.FILES.getlist("file"),
            layout=said.get("layout", ""),
            choices=said.get("choices", {}),
            scales=said.get("scales", {}),
            about={
                name: said[name]
                for name in (
                    *("source", "licence", "citation", "raters"),
                    *("known", "questions"),
                )
                if name in said
            },
            at_once=not said["dry_run"],
        )
        return Response(self.get_serializer(draft).data, status=202)


@operation("Show the progress and contents of one of your imports")
class ImportDetail(ImportView, DetailView):
    def get_queryset(self) -> QuerySet[Draft]:
        return Draft.objects.filter(owner=self.request.user.pk)

    def get_object(self) -> Draft:
        draft: Draft = super().get_object()
        if not bring.is_import(draft):
            raise Http404
        return draft
