from typing import Any

from rest_framework import serializers

from leaderboard.api.base import DetailView, operation
from leaderboard.api.records import Record
from leaderboard.boards.api.tasks import TaskView
from leaderboard.boards.selectors.crowds import TwoPools, pools_of
from leaderboard.stats.crowds import Correlation, SamePopulation, SystemInBoth


class FiniteField(serializers.FloatField):
    """A number or null: JSON has no infinity, which stands for unknown."""

    def to_representation(self, value: float) -> Any:
        return value if abs(value) < float("inf") else None


class SystemInBothSerializer(Record):
    record = SystemInBoth
    shown = "system means difference low high ranks"
    difference = serializers.FloatField(
        source="difference.estimate", help_text="Second less first."
    )
    low = FiniteField(source="difference.low", allow_null=True)
    high = FiniteField(source="difference.high", allow_null=True)
    help_texts = {"ranks": "First and last rank in each crowd."}


class CrowdSerializer(serializers.Serializer[Any]):
    platform = serializers.CharField()
    n_ratings = serializers.IntegerField()
    n_workers = serializers.IntegerField()
    worker = serializers.FloatField(help_text="Variance between workers.")
    instance = serializers.FloatField(help_text="Variance between instances.")
    rest = serializers.FloatField(help_text="Variance of everything else.")

    def to_representation(self, crowd: tuple[Any, ...]) -> dict[str, Any]:
        *counts, parts = crowd
        values = (*counts, parts.worker, parts.instance, parts.residual)
        return super().to_representation(dict(zip(self.fields, values, strict=True)))


class CorrelationSerializer(Record):
    record = Correlation


class PopulationSerializer(Record):
    record = SamePopulation
    shown = "p_value p_means p_spread detectable n_both"
    help_texts = {
        "p_value": "Of “the workers of both are draws from one population”.",
        "p_means": "By the levels of ratings alone.",
        "p_spread": "By how widely they scatter alone.",
        "detectable": "Smallest difference of levels found in 80 % of cases at 5 %.",
        "n_both": "Workers of both, who are left out.",
    }


class TwoCrowdsSerializer(Record):
    record = TwoPools
    shown = "criterion crowds systems correlation population"
    crowds = CrowdSerializer(many=True)
    systems = SystemInBothSerializer(source="comparison.systems", many=True)
    correlation = CorrelationSerializer(
        source="comparison.correlation", allow_null=True
    )
    population = PopulationSerializer(source="comparison.population", allow_null=True)


class TaskCrowdsSerializer(serializers.Serializer[Any]):
    task = serializers.CharField()
    comparisons = TwoCrowdsSerializer(many=True)


@operation(
    "Compare the crowds of a task's platforms",
    "Each two platforms on the systems that both have rated: differences, ranks, "
    "correlation, variances, and a test of whether their workers are draws from one "
    "population. Empty where one platform rated all.",
)
class TaskCrowds(TaskView, DetailView):
    serializer_class = TaskCrowdsSerializer

    def get_object(self) -> dict[str, Any]:
        task = self.task()
        return {"task": task.slug, "comparisons": pools_of(task)}
