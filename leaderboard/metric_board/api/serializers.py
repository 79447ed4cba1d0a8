"""Metric boards and uploaded metric scores as JSON."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from leaderboard.api.body import Body
from leaderboard.metric_board.models.board import MetricBoard
from leaderboard.metric_board.models.outside import OutsideMetric
from leaderboard.metric_board.selectors.snapshot import (
    STATISTICS,
    Line,
    Person,
    Shown,
)
from leaderboard.metric_board.stats.snapshot import FEWEST_RANKED
from leaderboard.tasks.api import ImportedSerializer, imported_json
from leaderboard.tasks.models import Task


class StatisticSerializer(serializers.Serializer[Any]):
    """A statistic with its 95 % interval; null where it is undefined."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class MetricLineSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField(help_text="`outside.7` for an outside metric.")
    label = serializers.CharField()  # type: ignore[assignment]
    owner = serializers.CharField(
        help_text="Who uploaded its scores; empty for this site's metrics."
    )
    outside = serializers.IntegerField(
        source="outside_pk",
        allow_null=True,
        help_text="Its id, if it is an outside metric.",
    )
    licence = serializers.CharField(
        help_text="Of a judge, which is a program: `licensed` for this criterion, `no "
        "licence`, or `licence expired`; else empty."
    )
    complete = serializers.BooleanField(
        help_text="Whether it has scores for every system; only then is it compared."
    )
    n_systems = serializers.IntegerField()
    cluster = serializers.IntegerField(
        allow_null=True,
        help_text="Metrics in one cluster are not significantly different.",
    )
    statistics = serializers.SerializerMethodField(
        help_text="One of " + ", ".join(STATISTICS) + ", to its value and interval."
    )
    epsilon = serializers.FloatField(
        allow_null=True,
        help_text="Largest difference that counts as a tie, for `calibrated`.",
    )

    @extend_schema_field(serializers.DictField(child=StatisticSerializer()))
    def get_statistics(self, line: Line) -> dict[str, Any]:
        return {
            name: StatisticSerializer(cell).data for name, cell in line.cells.items()
        }


class PersonSerializer(serializers.Serializer[Any]):
    """One person against the others: an average, of which no worker can be told."""

    n_raters = serializers.IntegerField(help_text="Workers behind the average.")
    n_outputs = serializers.FloatField(
        help_text="Outputs that the median worker rated."
    )
    covers = serializers.CharField(help_text="What the intervals cover.")
    statistics = serializers.SerializerMethodField(
        help_text="As those of metrics, but soft pairwise accuracy."
    )

    @extend_schema_field(serializers.DictField(child=StatisticSerializer()))
    def get_statistics(self, person: Person) -> dict[str, Any]:
        return {
            name: StatisticSerializer(cell).data for name, cell in person.cells.items()
        }


class WilliamsSerializer(serializers.Serializer[Any]):
    """Williams' test of the best metric by Pearson's correlation against the next."""

    better = serializers.CharField(help_text="Slug of the best metric.")
    next = serializers.CharField(help_text="Slug of the second.")
    p = serializers.FloatField(help_text="One-sided p-value.")
    n = serializers.IntegerField(help_text="Systems.")


class RankingSerializer(serializers.Serializer[Any]):
    order = serializers.ListField(
        child=serializers.CharField(), help_text="Slugs, best first."
    )
    ranks = serializers.ListField(
        child=serializers.IntegerField(), help_text="Their clusters, in the same order."
    )
    p = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField(allow_null=True)),
        help_text="One-sided p-values of “row better than column”, in the same order.",
    )
    williams = serializers.ListField(
        child=serializers.ListField(child=serializers.FloatField(allow_null=True)),
        required=False,
        help_text="The same by Williams’ test, for which systems are a sample, too; of "
        "`pearson` only.",
    )


class MetricSystemSerializer(serializers.Serializer[Any]):
    submission = serializers.IntegerField(source="pk")
    system = serializers.CharField(source="name")
    mean = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()


class MetricBoardSerializer(serializers.Serializer[Any]):
    """How well a task's metrics agree with human judgments, as last computed."""

    task = serializers.CharField()
    criterion = serializers.CharField()
    state = serializers.CharField(
        help_text="State for the latest inputs: "
        + ", ".join(MetricBoard.State.values)
        + "; empty if no system has been rated."
    )
    simulated = serializers.BooleanField(
        help_text="The ratings came from simulated annotators, not from people."
    )
    imported = ImportedSerializer(
        allow_null=True, help_text="Null, or where the judgments were made elsewhere."
    )
    by = serializers.CharField(help_text="Statistic by which metrics are ranked.")
    computed_at = serializers.DateTimeField(allow_null=True)
    seed = serializers.IntegerField(allow_null=True)
    code_version = serializers.CharField(allow_null=True)
    n_judged = serializers.IntegerField(help_text="Instances with ratings.")
    metrics = MetricLineSerializer(many=True)
    rankings = serializers.DictField(
        child=RankingSerializer(),
        help_text=f"Empty with fewer than {FEWEST_RANKED} systems.",
    )
    why_not_ranked = serializers.CharField(
        help_text="Why metrics are not ranked; empty if there are enough systems."
    )
    caution = serializers.CharField(
        help_text="What so few systems do not show; empty if there are enough."
    )
    person = PersonSerializer(
        allow_null=True,
        help_text="Null with fewer than three workers, or if it is not computed yet.",
    )
    williams = WilliamsSerializer(
        allow_null=True, help_text="Null where metrics are not ranked."
    )
    compared = serializers.ListField(child=serializers.CharField())
    systems = MetricSystemSerializer(many=True)


def board_json(task: Task, criterion: str, shown: Shown) -> dict[str, Any]:
    payload, board = shown.payload, shown.board
    return {
        "task": task.slug,
        "criterion": criterion,
        "state": shown.state,
        "simulated": bool(board and board.simulated),
        "imported": imported_json(task),
        "by": shown.by,
        "computed_at": board.computed_at if board else None,
        "seed": board.seed if board else None,
        "code_version": board.code_version if board else None,
        "n_judged": payload.get("n_judged", 0),
        "metrics": shown.lines,
        "rankings": shown.rankings,
        "why_not_ranked": shown.why_not_ranked,
        "caution": shown.caution,
        "person": shown.person,
        "williams": shown.williams,
        "compared": payload.get("compared", []),
        "systems": payload.get("systems", []),
    }


class NewMetricScoresSerializer(Body):
    task = serializers.CharField(help_text="Slug of the task.")
    name = serializers.CharField(trim_whitespace=False, help_text="Name of the metric.")
    file = serializers.FileField(
        allow_empty_file=True,
        help_text="CSV, TSV or JSONL with system, instance, value, or lines of system, "
        "tab, score (.seg.score, .sys.score); plain or gzip.",
    )
    description = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False
    )
    higher_is_better = serializers.BooleanField(required=False, default=True)


class MetricScoresSerializer(serializers.ModelSerializer[OutsideMetric]):
    task = serializers.CharField(source="task.slug", read_only=True)
    owner = serializers.CharField(source="owner.username", read_only=True)
    systems = serializers.SerializerMethodField()

    class Meta:
        model = OutsideMetric
        fields = [
            "id",
            "task",
            "owner",
            "name",
            "description",
            "higher_is_better",
            "by_instance",
            "file_format",
            "file_sha256",
            "created_at",
            "published_at",
            "withdrawn_at",
            "systems",
        ]
        read_only_fields = fields

    @extend_schema_field(serializers.DictField(child=serializers.FloatField()))
    def get_systems(self, metric: OutsideMetric) -> dict[str, float]:
        """Give the overall value of each submission that the visitor may see."""
        visible_scores = self.context["seen"](metric)
        rows = visible_scores.order_by("submission_id").values_list(
            "submission_id", "value"
        )
        return {str(pk): value for pk, value in rows}
