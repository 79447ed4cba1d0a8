"""Imports of ratings in the API, for staff: sent, read, previewed, imported."""

import json
import re
from typing import Any, cast

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from genie.accounts.models import AccessToken
from genie.accounts.permissions import IsStaff
from genie.lib.typing import Account
from leaderboard.api.base import View, problems
from leaderboard.api.body import Body
from leaderboard.studio.api.bundles import REFUSALS, refuse_too_large
from leaderboard.studio.models import Draft
from leaderboard.studio.services import bring
from leaderboard.submissions.selectors.visibility import Staff
from leaderboard.tasks.drafts.bundle import SLUG

_NO_TEXT = re.compile("[\0\ud800-\udfff]")


class TableField(serializers.CharField):
    """A JSON object of texts, as a form's field has it."""

    def to_internal_value(self, data: Any) -> Any:
        try:
            said = json.loads(super().to_internal_value(data))
        except (ValueError, RecursionError) as error:
            raise serializers.ValidationError("Not JSON.") from error
        if not isinstance(said, dict):
            raise serializers.ValidationError("Not a JSON object.")
        texts = {str(key): str(text) for key, text in said.items()}
        # characters that no database can store: number 0, half surrogate pairs
        if _NO_TEXT.search("".join([*texts, *texts.values()])):
            raise serializers.ValidationError("Not text.")
        return texts


class ImportFilesSerializer(Body):
    """Parameters, as multipart/form-data; `file` may be there several times."""

    file = serializers.FileField(help_text="A file of judgments, also .gz or .zip.")
    task = serializers.RegexField(
        SLUG,
        max_length=100,
        help_text="Slug of the task that they become, or of an imported one.",
    )
    title = serializers.CharField(max_length=200, required=False)
    layout = serializers.SlugField(
        max_length=100, required=False, help_text="As what they are read; else guessed."
    )
    choices = TableField(
        required=False, help_text="JSON object: what the layout's reader is told."
    )
    source = serializers.CharField(  # type: ignore[assignment]
        max_length=500, required=False, help_text="Where the files come from."
    )
    licence = serializers.CharField(max_length=200, required=False)
    citation = serializers.CharField(max_length=5000, required=False)
    known = TableField(
        required=False,
        help_text="JSON object: what is known of pay, instructions, screening, ...",
    )
    questions = TableField(
        required=False, help_text="JSON object: criterion to what people were asked."
    )
    scales = TableField(
        required=False,
        help_text="JSON object: criterion to its lowest and highest possible answer, such "
        'as {"fluency": "1 to 5"}; "*" is every criterion. Needed if there are fewer than '
        "five different values and the files state no scale.",
    )
    dry_run = serializers.BooleanField(
        default=False, help_text="Only say what is in the files and what is wrong."
    )


class ImportStateSerializer(serializers.Serializer[Any]):
    """How far an import is, and what its files say."""

    id = serializers.IntegerField()
    url = serializers.URLField()
    task = serializers.CharField()
    state = serializers.ChoiceField(
        choices=[bring.READING, bring.READ, bring.IMPORTING, bring.IMPORTED],
        help_text="reading and importing go on by themselves; a dry run ends as read.",
    )
    error = serializers.CharField(
        help_text="Why nothing can be imported; empty: nothing speaks against it."
    )
    layout = serializers.CharField(help_text="As what the files were read.")
    seen = serializers.DictField(
        help_text="Once read: rows by role, systems, criteria with their ranges, what the "
        "layout can be told, the first rows and what the files do not say."
    )
    problems = serializers.ListField(
        child=serializers.CharField(), help_text="By file and row, the first 200."
    )
    n_problems = serializers.IntegerField()
    html_url = serializers.URLField(
        allow_null=True, help_text="The board, once it is imported."
    )


class ImportView(View):
    permission_classes = [IsStaff]
    serializer_class = ImportStateSerializer
    scope = AccessToken.Scope.STAFF
    staff_permission = Staff.IMPORT_TASKS


class ImportList(ImportView):
    parser_classes = [MultiPartParser]

    @extend_schema(
        tags=["staff"],
        operation_id="imports_create",
        summary="Import judgments that were made elsewhere",
        description=(
            "The files are read by a job, whose state is at the address that comes back: "
            "what they say, and every problem by its row. Without `dry_run` they are "
            "imported next. The board is marked as judged elsewhere everywhere."
        ),
        request={"multipart/form-data": ImportFilesSerializer},
        responses={
            202: ImportStateSerializer,
            **problems(
                *REFUSALS,
                "bad-request",
                "invalid",
                "slug-taken",
                "same-file",
                "too-many-files",
                "file-too-large",
                "request-too-large",
                "unsupported-media-type",
            ),
        },
    )
    def post(self, request: Request) -> Response:
        refuse_too_large(request)
        serializer = ImportFilesSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        said = serializer.validated_data
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
                for name in ("source", "licence", "citation", "known", "questions")
                if name in said
            },
            at_once=not said["dry_run"],
        )
        return Response(_state(draft, request), status=202)


class ImportDetail(ImportView):
    @extend_schema(
        tags=["staff"],
        operation_id="imports_retrieve",
        summary="Show how far an import of yours is, and what its files say",
        responses={
            200: ImportStateSerializer,
            **problems(*REFUSALS, "not-found"),
        },
    )
    def get(self, request: Request, pk: int) -> Response:
        draft = Draft.objects.filter(pk=pk, owner=request.user.pk).first()
        if draft is None or not bring.is_import(draft):
            raise Http404
        return Response(_state(draft, request))


def _state(draft: Draft, request: Request) -> dict[str, Any]:
    found = bring.state_of(draft)
    seen = dict(found["seen"])
    board = (
        request.build_absolute_uri(f"/tasks/{draft.task.slug}/")
        if draft.task and found["phase"] == bring.IMPORTED
        else None
    )
    return ImportStateSerializer(
        {
            "id": draft.pk,
            "url": reverse("api:import-detail", args=[draft.pk], request=request),
            "task": draft.slug,
            "state": found["phase"],
            "error": found["error"],
            "layout": seen.pop("layout", "") or found["layout"],
            "problems": seen.pop("problems", []),
            "n_problems": seen.pop("n_problems", 0),
            "seen": seen,
            "html_url": board,
        }
    ).data
