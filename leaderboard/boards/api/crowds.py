from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.base import problems
from leaderboard.boards.api.tasks import TaskView
from leaderboard.boards.selectors.crowds import TwoPools, pools_of


class SystemInBothSerializer(serializers.Serializer[Any]):
    system = serializers.CharField()
    means = serializers.ListField(child=serializers.FloatField())
    difference = serializers.FloatField(
        source="difference.estimate", help_text="Second less first."
    )
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    ranks = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField()),
        help_text="First and last rank in each crowd.",
    )


class CrowdSerializer(serializers.Serializer[Any]):
    platform = serializers.CharField()
    n_ratings = serializers.IntegerField()
    n_workers = serializers.IntegerField()
    worker = serializers.FloatField(help_text="Variance between workers.")
    instance = serializers.FloatField(help_text="Variance between instances.")
    rest = serializers.FloatField(help_text="Variance of everything else.")


class CorrelationSerializer(serializers.Serializer[Any]):
    r = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()
    n_systems = serializers.IntegerField()


class PopulationSerializer(serializers.Serializer[Any]):
    p_value = serializers.FloatField(
        help_text="Of “the workers of both are draws from one population”."
    )
    p_means = serializers.FloatField(help_text="By the levels of ratings alone.")
    p_spread = serializers.FloatField(help_text="By how widely they scatter alone.")
    detectable = serializers.FloatField(
        allow_null=True,
        help_text="Smallest difference of levels found in 80 % of cases at 5 %.",
    )
    n_both = serializers.IntegerField(help_text="Workers of both, who are left out.")


class TwoCrowdsSerializer(serializers.Serializer[Any]):
    criterion = serializers.CharField()
    crowds = CrowdSerializer(many=True)
    systems = SystemInBothSerializer(many=True)
    correlation = CorrelationSerializer(allow_null=True)
    population = PopulationSerializer(allow_null=True)


class TaskCrowdsSerializer(serializers.Serializer[Any]):
    task = serializers.CharField()
    comparisons = TwoCrowdsSerializer(many=True)


class TaskCrowds(TaskView):
    serializer_class = TaskCrowdsSerializer

    @extend_schema(
        tags=["tasks"],
        operation_id="tasks_crowds_retrieve",
        summary="Compare the crowds of a task's platforms",
        description=(
            "Each two platforms on the systems that both have rated: differences, "
            "ranks, correlation, variances, and a test of whether their workers are "
            "draws from one population. Empty where one platform rated all."
        ),
        responses={200: TaskCrowdsSerializer, **problems("not-found")},
    )
    def get(self, request: Request, slug: str) -> Response:
        task = self.task()
        found = {"task": task.slug, "comparisons": list(map(_shown, pools_of(task)))}
        return Response(self.get_serializer(found).data)


def _shown(one: TwoPools) -> dict[str, Any]:
    found = one.comparison
    return {
        "criterion": one.criterion,
        "crowds": [
            {
                "platform": name,
                "n_ratings": n,
                "n_workers": n_workers,
                "worker": parts.worker,
                "instance": parts.instance,
                "rest": parts.residual,
            }
            for name, n, n_workers, parts in one.crowds
        ],
        "systems": [
            {
                "system": line.system,
                "means": line.means,
                "difference": {"estimate": line.difference.estimate},
                "low": _finite(line.difference.low),
                "high": _finite(line.difference.high),
                "ranks": line.ranks,
            }
            for line in found.systems
        ],
        "correlation": found.correlation,
        "population": found.population,
    }


def _finite(value: float) -> float | None:
    # JSON has no infinity: unknown if one worker rated a system
    return value if abs(value) < float("inf") else None
