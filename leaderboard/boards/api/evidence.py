from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.base import problems
from leaderboard.boards.api.tasks import TaskView
from leaderboard.boards.selectors.certainty import evidence_of


class SharesSerializer(serializers.Serializer[Any]):
    system = serializers.IntegerField(
        allow_null=True,
        help_text="Null with fewer than five systems; the others are then shares of the "
        "variance within a system.",
    )
    worker = serializers.IntegerField()
    instance = serializers.IntegerField()
    day = serializers.IntegerField(
        allow_null=True,
        help_text="Null where fewer than three days have ratings of several systems.",
    )
    rest = serializers.IntegerField()


class LeniencySerializer(serializers.Serializer[Any]):
    n_workers = serializers.IntegerField()
    strict = serializers.IntegerField(
        help_text="Workers who rate significantly lower than the others."
    )
    lenient = serializers.IntegerField(
        help_text="Workers who rate significantly higher than the others."
    )
    rate = serializers.FloatField(
        help_text="Largest expected share of chance among these two groups."
    )
    typical_gap = serializers.FloatField(
        allow_null=True,
        help_text="Mean difference in points between two workers' ratings of one output "
        "that comes from their strictness; null with fewer than five workers.",
    )
    typical_factor = serializers.FloatField(
        allow_null=True, help_text="The same for magnitudes, as a ratio."
    )


class WorkersAgreementSerializer(serializers.Serializer[Any]):
    alpha = serializers.FloatField(help_text="Krippendorff's alpha.")
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    level = serializers.CharField(help_text="ordinal or interval.")
    n_outputs = serializers.IntegerField(
        help_text="Outputs that several workers rated."
    )
    same = serializers.FloatField(
        allow_null=True, help_text="Share of pairs of workers with the same answer."
    )


class FirstPlaceSerializer(serializers.Serializer[Any]):
    leader = serializers.IntegerField(
        source="leader.pk", help_text="Id of its submission."
    )
    rival = serializers.IntegerField(
        source="rival.pk", help_text="Who would lead without these ratings."
    )
    n_ratings = serializers.IntegerField(
        help_text="Ratings whose removal changes who comes first."
    )
    share = serializers.FloatField(help_text="Of all ratings of the ranked systems.")


class RankSumsSerializer(serializers.Serializer[Any]):
    system = serializers.IntegerField(
        source="system.pk", help_text="Id of its submission."
    )
    wins = serializers.IntegerField(help_text="Systems that it beats.")
    first = serializers.IntegerField(help_text="Best rank of its cluster.")
    last = serializers.IntegerField(help_text="Worst rank of its cluster.")


class LinkSerializer(serializers.Serializer[Any]):
    system = serializers.IntegerField(
        source="system.pk", help_text="Id of its submission."
    )
    anchor = serializers.IntegerField(
        source="anchor.pk",
        default=None,
        allow_null=True,
        help_text="Id of the settled system whose outputs its campaign carried.",
    )
    estimate = serializers.FloatField(
        help_text="What the anchor's outputs got here, less what they had got before."
    )
    low = serializers.FloatField(help_text="Lower end of the 95 % interval.")
    high = serializers.FloatField(help_text="Upper end of the 95 % interval.")
    standard_error = serializers.FloatField()
    unit = serializers.CharField(
        help_text="points of the score, or percent for ratios."
    )
    n_outputs = serializers.IntegerField()
    n_ratings = serializers.IntegerField()
    n_workers = serializers.IntegerField()
    moved = serializers.CharField(
        help_text="yes, perhaps or no: by more than the task's anchor_tolerance."
    )


class EvidenceSerializer(serializers.Serializer[Any]):
    criterion = serializers.CharField()
    n_systems = serializers.IntegerField()
    n_ratings = serializers.IntegerField()
    shares = SharesSerializer(
        allow_null=True,
        help_text="Percent of the variance of one rating; null with few workers.",
    )
    workers = LeniencySerializer()
    agreement = WorkersAgreementSerializer(allow_null=True)
    first = FirstPlaceSerializer(allow_null=True)
    wmt = RankSumsSerializer(
        many=True,
        help_text="Rank-sum tests of z-scores as in WMT's findings, for this crowd; empty "
        "where the task's scores are not z-scores.",
    )
    links = LinkSerializer(
        many=True,
        help_text="Whether the crowds of later campaigns rate as the earlier one did.",
    )
    cannot_conclude = serializers.ListField(
        child=serializers.CharField(), help_text="Sentences for readers."
    )


class TaskEvidenceSerializer(serializers.Serializer[Any]):
    task = serializers.CharField()
    criteria = EvidenceSerializer(many=True)


class TaskEvidence(TaskView):
    serializer_class = TaskEvidenceSerializer

    @extend_schema(
        tags=["tasks"],
        operation_id="tasks_evidence_retrieve",
        summary="Show what a leaderboard's scores rest on",
        description=(
            "Where ratings differ, how strict workers are, how far they agree, how few "
            "ratings the first place hangs on, and what cannot be concluded; criterion "
            "by criterion, the ranking one first."
        ),
        responses={200: TaskEvidenceSerializer, **problems("not-found")},
    )
    def get(self, request: Request, slug: str) -> Response:
        task = self.task()
        found = {"task": task.slug, "criteria": evidence_of(task)}
        return Response(self.get_serializer(found).data)
