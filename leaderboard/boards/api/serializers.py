from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from leaderboard.api.links import HtmlUrl
from leaderboard.boards.api.submission_serializers import (
    JudgedSerializer,
    TeamSerializer,
)
from leaderboard.boards.selectors.judged import JUDGED_HELP
from leaderboard.boards.selectors.rows import Row
from leaderboard.evaluation.api.serializers import Fields, result_field
from leaderboard.evaluation.result_columns import board_columns
from leaderboard.stats.ranking import RANK_RULE, RANK_SUMS_HELP
from leaderboard.submissions.models import Submission


class HumanScoreSerializer(serializers.Serializer[Any]):
    """Human score for one criterion, from 0 to 100, with its 95 % interval."""

    def get_fields(self) -> Fields:
        return {
            column.name: result_field(column, plain=column.name in {"low", "high"})
            for column in board_columns("api")
        }


class PartialSerializer(serializers.Serializer[Any]):
    """A score from too few instances, ranked only if staff decided so."""

    n = serializers.IntegerField(help_text="Instances that were rated.")
    of = serializers.IntegerField(help_text="Instances in the sample.")
    said = serializers.CharField(
        source="__str__", help_text='In words, such as "stopped at 154 of 800".'
    )


class PendingSerializer(serializers.Serializer[Any]):
    n = serializers.IntegerField(help_text="Instances rated so far.")
    of = serializers.IntegerField(help_text="Instances to be rated.")


class StandingSerializer(serializers.Serializer[Any]):
    submission = serializers.IntegerField(source="pk", help_text="Its id.")
    url = serializers.SerializerMethodField()
    html_url = HtmlUrl("submission")
    rank_first = serializers.IntegerField(
        allow_null=True, help_text=f"Best rank. {RANK_RULE} {RANK_SUMS_HELP}"
    )
    rank_last = serializers.IntegerField(allow_null=True, help_text="Worst rank.")
    cluster = serializers.IntegerField(
        allow_null=True,
        help_text="1 for the best group: each of its systems, or by rank sums the last of "
        "them, is significantly better than every system of the next group.",
    )
    system = serializers.CharField()
    team = TeamSerializer(allow_null=True, help_text="Null while anonymous.")
    submitted_at = serializers.DateTimeField()
    state = serializers.ChoiceField(choices=Submission.State.choices)
    baseline = serializers.ChoiceField(
        choices=["", *Submission.Baseline.values],
        help_text="What it is beside a system: a human reference or a baseline.",
    )
    private = serializers.BooleanField(help_text="Only your team can see this row.")
    simulated = serializers.BooleanField(
        help_text="Rated by simulated annotators, not by people."
    )
    imported = serializers.BooleanField(
        help_text="Judged elsewhere; the task's `imported` says where."
    )
    human = HumanScoreSerializer(allow_null=True)
    partial = PartialSerializer(  # type: ignore[assignment]
        allow_null=True,
        help_text="Set if too few instances were rated; such a score has a rank "
        "only if staff decided so.",
    )
    pending = PendingSerializer(allow_null=True)
    best_of = serializers.IntegerField(
        allow_null=True,
        help_text="Set if it is the best of so many rated attempts of its team, withdrawn "
        "and private ones included; null while anonymous.",
    )
    criteria = serializers.DictField(child=HumanScoreSerializer())
    with_judges = serializers.DictField(
        source="judged",
        child=JudgedSerializer(),
        help_text=f"By criterion, where licensed judges help. {JUDGED_HELP} Ranks are by "
        "people's ratings alone unless the task's `judges.rank` says otherwise.",
    )
    metrics = serializers.DictField(child=serializers.FloatField())

    @extend_schema_field(serializers.URLField())
    def get_url(self, row: Row) -> str:
        return reverse(
            "api:submission-detail", args=[row.pk], request=self.context.get("request")
        )
