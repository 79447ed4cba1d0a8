from typing import Any

from rest_framework import serializers

from leaderboard.boards.api.submission_serializers import ScoreSerializer


class ScoreRowSerializer(ScoreSerializer):
    submission = serializers.IntegerField(source="submission_id", help_text="Its id.")
    system = serializers.CharField(source="submission.system_name")
    simulated = serializers.BooleanField(source="submission.simulated")
    superseded_at = serializers.DateTimeField(
        allow_null=True,
        help_text="When it was replaced by another score; null if it is current.",
    )


class MetricResultSerializer(serializers.Serializer[Any]):
    submission = serializers.IntegerField(source="submission_id", help_text="Its id.")
    system = serializers.CharField(source="submission.system_name")
    metric = serializers.CharField()
    value = serializers.FloatField()
    signature = serializers.CharField()
    computed_at = serializers.DateTimeField()


class MetricPerInstanceSerializer(serializers.Serializer[Any]):
    metric = serializers.CharField()
    value = serializers.FloatField()
    signature = serializers.CharField()
    computed_at = serializers.DateTimeField()
    per_instance = serializers.ListField(
        child=serializers.FloatField(allow_null=True),
        help_text="In the order of the task's instances.",
    )


class JudgmentSerializer(serializers.Serializer[Any]):
    instance = serializers.CharField(help_text="The instance's id.")
    worker = serializers.CharField(help_text="Pseudonym, specific to the task.")
    criterion = serializers.CharField()
    value = serializers.FloatField(help_text="Rating of this system, on the scale.")
    counts = serializers.BooleanField(
        help_text="False if excluded because of the worker, or replaced."
    )
