"""Benchmark tasks and their instances as JSON."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from genie.lib.errors import GenieError
from leaderboard.api.query import CursorQuery
from leaderboard.api.records import HtmlUrl, Record
from leaderboard.designs.base import all_designs
from leaderboard.metrics.base import all_metrics
from leaderboard.tasks.config import RATERS, HumanConfig
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.selectors import Origin, Provenance, provenance_of


@extend_schema_field(OpenApiTypes.STR)
class TaskField(serializers.Field[Task, str, str, Any]):
    """A task, named by its slug."""

    def to_internal_value(self, data: str) -> Task:
        return task_of(data)


class OfTaskQuery(CursorQuery):
    task = TaskField(required=False, help_text="Slug of a task.")


def task_of(slug: str) -> Task:
    # databases refuse a text with a zero in it
    task = None if "\x00" in slug else Task.objects.filter(slug=slug).first()
    if task is None:
        raise GenieError(
            "No benchmark task has this slug; /api/v1/tasks/ lists them.",
            code="unknown-task",
        )
    return task


class TaskMetricSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    higher_is_better = serializers.BooleanField(allow_null=True)


class HumanSerializer(Record):
    """The design of this task's human evaluation."""

    record = HumanConfig
    shown = (
        "design scale criteria n_instances ratings_per_instance reward_cents estimate "
        "ranks raters"
    )
    design = serializers.ChoiceField(
        choices=[(slug, one.label or slug) for slug, one in all_designs().items()]
    )
    n_instances = serializers.IntegerField(help_text="Instances rated per submission.")
    raters = serializers.ChoiceField(
        choices=RATERS,
        help_text="Whether results are about these raters, or about raters like these.",
    )
    help_texts = {
        "criteria": "Criterion to its question.",
        "reward_cents": "Reward for one assignment.",
        "estimate": "Which estimate is the score: adjusted, plain or z.",
        "ranks": "How the board is ranked: by simultaneous comparisons (simultaneous) or "
        "by the clusters of rank-sum tests, as WMT ranks (rank-sums).",
    }


class OriginSerializer(Record):
    """Files that were read in at once; empty texts were not recorded."""

    record = Origin
    shown = "source licence citation layout imported_at files known"
    help_texts = {
        "source": "Source of the files.",
        "layout": "As what the files were read.",
        "known": "Recorded details, such as pay, instructions and screening.",
    }


class ImportedSerializer(Record):
    """The source of imported ratings."""

    record = Provenance
    shown = "sentence origins unknown"
    origins = OriginSerializer(many=True)
    help_texts = {
        "sentence": "A one-line summary.",
        "unknown": "Missing details of these ratings.",
    }


@extend_schema_field(ImportedSerializer(allow_null=True))
class ImportedField(serializers.ReadOnlyField):
    """Read-only field `imported`, which every answer about a task has."""

    def __init__(self, **options: Any) -> None:
        wanted = {
            "source": "task",
            "help_text": "The source of imported ratings; null for ratings made on this site.",
        }
        super().__init__(**{**wanted, **options})

    def to_representation(self, value: Task) -> dict[str, Any] | None:
        return imported_json(value)


def imported_json(task: Task) -> dict[str, Any] | None:
    """Return the object `imported` of a task; None if nothing was imported."""
    found: Provenance | None = provenance_of(task)
    return ImportedSerializer(found).data if found else None


class TaskBriefSerializer(serializers.ModelSerializer[Task]):
    url = serializers.HyperlinkedIdentityField("api:task-detail", lookup_field="slug")
    html_url = HtmlUrl("board", "slug")
    imported = ImportedField(source="*")

    class Meta:
        model = Task
        fields = [
            "slug",
            "url",
            "html_url",
            "title",
            "kind",
            "summary",
            "source_language",
            "target_language",
            "demo",
            "imported",
            "hidden_references",
            "accepts_submissions",
            "n_instances",
        ]
        read_only_fields = fields


class TaskSerializer(TaskBriefSerializer):
    metrics = serializers.SerializerMethodField()
    human = serializers.SerializerMethodField()
    # A plain string to programs: it may be empty, and a URI may not.
    homepage = serializers.CharField(read_only=True)

    class Meta(TaskBriefSerializer.Meta):
        fields = [
            *TaskBriefSerializer.Meta.fields,
            "description",
            "licence",
            "homepage",
            "citation",
            "release_sha256",
            "created_at",
            "metrics",
            "human",
        ]
        read_only_fields = fields

    @extend_schema_field(TaskMetricSerializer(many=True))
    def get_metrics(self, task: Task) -> Any:
        known, used = all_metrics(), task.configuration.metrics.use
        metrics = [known[slug] for slug in used if slug in known]
        return TaskMetricSerializer(metrics, many=True).data

    @extend_schema_field(HumanSerializer)
    def get_human(self, task: Task) -> dict[str, Any]:
        shown = {**vars(task.asked), "n_instances": task.sample_size}
        return HumanSerializer({**shown, "raters": task.human.population}).data


class InstanceSerializer(serializers.ModelSerializer[Instance]):
    id = serializers.CharField(source="instance_id", read_only=True)
    references = serializers.SerializerMethodField()

    class Meta:
        model = Instance
        fields = ["id", "position", "fields", "references"]
        read_only_fields = fields

    @extend_schema_field(
        serializers.ListField(child=serializers.CharField(), allow_null=True)
    )
    def get_references(self, instance: Instance) -> list[str] | None:
        return None if instance.task.hidden_references else instance.references
