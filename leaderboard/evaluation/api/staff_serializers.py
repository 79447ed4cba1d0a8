from typing import Any

from rest_framework import serializers

from crowd.hits.models.campaign import Campaign


class CampaignSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="pk")
    key = serializers.CharField(help_text="Key of what the campaign is for.")
    title = serializers.CharField()
    task = serializers.CharField(source="pool")
    platform = serializers.CharField()
    state = serializers.ChoiceField(choices=Campaign.State.choices)
    simulated = serializers.BooleanField()
    notice = serializers.CharField(help_text="Notice for staff; often empty.")
    starts_at = serializers.DateTimeField()
    created_at = serializers.DateTimeField()
    completed_at = serializers.DateTimeField(allow_null=True)
    reward_cents = serializers.IntegerField(source="hit_type.reward_cents")
    n_hits = serializers.IntegerField(source="progress.n_hits")
    n_done = serializers.IntegerField(source="progress.n_done")
    n_open = serializers.IntegerField(source="progress.n_open")
    spent_cents = serializers.IntegerField(source="progress.spent_cents")
    committed_cents = serializers.IntegerField(source="progress.committed_cents")
    budget_cents = serializers.IntegerField()
    hourly_cents = serializers.IntegerField(
        source="progress.hourly_cents",
        allow_null=True,
        help_text="Median; human workers only.",
    )


class WorkerSerializer(serializers.Serializer[Any]):
    pseudonym = serializers.CharField()
    platform = serializers.CharField()
    simulated = serializers.BooleanField()
    excluded = serializers.BooleanField(help_text="Excluded from all tasks.")
    created_at = serializers.DateTimeField()
    n_handed_in = serializers.IntegerField(
        help_text="Assignments, approved, rejected or pending."
    )
    n_rejected = serializers.IntegerField()
    banned_from = serializers.ListField(
        child=serializers.CharField(),
        allow_null=True,
        help_text="Tasks that the worker is banned from; null for staff who may not see "
        "bans.",
    )


class BanSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="pk")
    worker = serializers.CharField(source="worker.pseudonym")
    task = serializers.CharField(source="pool")
    reason = serializers.CharField()
    by_detector = serializers.SerializerMethodField()
    p_noisy = serializers.FloatField(
        source="verdict.p_noisy", default=None, allow_null=True
    )
    created_at = serializers.DateTimeField()
    lifted_at = serializers.DateTimeField(allow_null=True)
    lifted_reason = serializers.CharField()

    def get_by_detector(self, ban: Any) -> bool:
        return ban.created_by_id is None
