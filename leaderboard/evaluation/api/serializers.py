from collections.abc import Callable
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from leaderboard.api.records import HtmlUrl, Record, field_of
from leaderboard.evaluation.estimates import Estimate
from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.models.human_evaluation import (
    HumanEvaluation,
    JointEvaluation,
)
from leaderboard.evaluation.result_columns import Column, columns_of
from leaderboard.evaluation.selectors.comparison_labels import AnswerShare
from leaderboard.evaluation.selectors.comparisons import (
    Standing,
    concerns,
    standing_of,
    verdict,
)
from leaderboard.evaluation.selectors.joint import (
    JointChange,
    Row,
    criterion_results,
    joint_changes_of,
    joint_concerns,
    joint_progress,
)
from leaderboard.evaluation.services import joint
from leaderboard.tasks.api import ImportedField

_STATE_HELP = f"One of {', '.join(HumanEvaluation.State.values)}."
_SIMULATED_HELP = "Rated by simulated annotators, not by people."
Fields = dict[str, serializers.Field[Any, Any, Any, Any]]


def result_field(
    column: Column, *, plain: bool = False, source: str | None = None
) -> serializers.Field[Any, Any, Any, Any]:
    kind, options = field_of(column.field)
    if column.name in _CHILDREN:
        kind, options["child"] = serializers.DictField, _CHILDREN[column.name]()
    words = None if plain or column.plain else column.description
    field: serializers.Field[Any, Any, Any, Any] = kind(
        **options, source=source, help_text=words
    )
    return field


class EstimateSerializer(Record):
    """One estimate with its intervals of 95% and 50%."""

    record = Estimate


_CHILDREN: dict[str, Callable[[], serializers.Field[Any, Any, Any, Any]]] = {
    "estimates": EstimateSerializer,
    "histogram": serializers.IntegerField,
}


class ComparedSystemSerializer(serializers.Serializer[Any]):
    """A compared system, given by its submission."""

    submission = serializers.IntegerField(source="pk", help_text="Its id.")
    system = serializers.CharField(source="system_name")


class AllPairsSerializer(serializers.Serializer[Any]):
    """The comparisons of every system with every other that this one is one of."""

    id = serializers.IntegerField(source="pk")
    delta = serializers.FloatField(
        help_text="Upper bound on the probability that any decision in the set is wrong."
    )


class ComparisonSerializer(Record):
    record = Comparison
    shown = (
        "id html_url task=task.slug criterion a b state better delta rule strategy "
        "n_workers wave_size max_pairs all_pairs simulated imported"
    )
    html_url = HtmlUrl("comparison")
    state = serializers.CharField(help_text=_STATE_HELP)
    a = ComparedSystemSerializer()
    b = ComparedSystemSerializer()
    better = serializers.ChoiceField(
        choices=["", "A", "B"],
        help_text="Which system is better; empty while undecided or inconclusive.",
    )
    all_pairs = AllPairsSerializer(
        source="within", allow_null=True, help_text="Null for a single comparison."
    )
    imported = ImportedField()
    help_texts = {
        "delta": "Error probability, two-sided.",
        "rule": "The stopping rule.",
        "n_workers": "For the majority strategy.",
        "wave_size": "Pairs posted together.",
        "max_pairs": "The budget, in pairs.",
        "simulated": _SIMULATED_HELP,
    }


class AllPairsMadeSerializer(AllPairsSerializer):
    comparisons = ComparisonSerializer(many=True)


class AnswerShareSerializer(Record):
    """How often people preferred A: single answers, also for other raters."""

    record = AnswerShare
    shown = "share=estimate low high covers n_answers n_workers"
    help_texts = {
        "share": "Ties count half.",
        "low": "Ends of the 95% interval for a fixed number of answers.",
        "covers": "Sources of variation that the interval covers.",
        "n_answers": "Answers behind the labels that the rule used.",
    }


class ComparisonStandingSerializer(Record):
    """How often A was preferred: by the stopping rule, and for other raters."""

    record = Standing
    shown = (
        "n_labels n_votes estimate low=now.low high=now.high answers "
        "anytime_valid=now.anytime_valid needed spent_cents still_cents approved_cents"
    )
    estimate = serializers.FloatField(
        allow_null=True,
        help_text="Share of labels in favor of A; null before the first.",
    )
    answers = AnswerShareSerializer(
        allow_null=True, help_text="Null before the first label."
    )
    spent_cents = serializers.IntegerField(
        allow_null=True, help_text="Null for readers who may not see the cost."
    )
    approved_cents = serializers.IntegerField(allow_null=True)
    help_texts = {
        "n_votes": "Answers from which the labels are derived.",
        "low": "Ends of the stopping rule's interval; they leave 0.5 when it decides.",
        "anytime_valid": "Whether the interval stays valid no matter how often it is "
        "checked.",
        "needed": "Total number of labels at which it would end if the share stayed the "
        "same.",
        "still_cents": "Cost of the labels still needed.",
    }


class ComparisonDetailSerializer(ComparisonSerializer):
    verdict = serializers.SerializerMethodField(help_text="The result in one sentence.")
    standing = serializers.SerializerMethodField()
    seed = serializers.SerializerMethodField(
        help_text="Seed of the order of pairs and outputs; shown once the comparison is "
        "over, because it also reveals which pairs are test questions."
    )

    def get_verdict(self, comparison: Comparison) -> str:
        return verdict(comparison, standing_of(comparison))

    def get_seed(self, comparison: Comparison) -> int | None:
        return comparison.seed if comparison.finished_at else None

    @extend_schema_field(ComparisonStandingSerializer)
    def get_standing(self, comparison: Comparison) -> dict[str, Any]:
        standing = standing_of(comparison)
        found = {
            **vars(standing),
            "estimate": standing.now.estimate if standing.now.n else None,
            "approved_cents": comparison.approved_cents,
        }
        if not concerns(self.context["request"].user, comparison):
            found |= dict.fromkeys(("spent_cents", "still_cents", "approved_cents"))
        return ComparisonStandingSerializer(found).data


class JointSerializer(Record):
    record = JointEvaluation
    shown = (
        "id html_url task=task.slug design state systems n_instances=n_asked n_workers per_page "
        "simulated imported provisional=is_provisional"
    )
    html_url = HtmlUrl("joint")
    state = serializers.CharField(help_text=_STATE_HELP)
    systems = serializers.SerializerMethodField()
    n_workers = serializers.SerializerMethodField(
        help_text="Raters per instance. If criteria differ, the smallest number."
    )
    imported = ImportedField()
    help_texts = {
        "per_page": "Systems on a page. Null means all.",
        "simulated": _SIMULATED_HELP,
        "provisional": "Whether it is still being checked which ratings count.",
    }

    def get_n_workers(self, joint_evaluation: JointEvaluation) -> int:
        return joint_evaluation.workers_each[0]

    @extend_schema_field(ComparedSystemSerializer(many=True))
    def get_systems(self, joint_evaluation: JointEvaluation) -> Any:
        systems = [row.submission for row in joint_evaluation.systems.all()]
        return ComparedSystemSerializer(systems, many=True).data


class AgreementSerializer(serializers.Serializer[Any]):
    form = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class GamesField(serializers.ListField):
    """A line of a matrix, shown as it is stored: 300 systems have 90,000 entries."""

    child = serializers.ListField(child=serializers.IntegerField(), allow_null=True)

    def to_representation(self, data: Any) -> Any:
        return data


class JointRowSerializer(Record):
    record = Row
    shown = "submission games"
    submission = ComparedSystemSerializer()
    games = GamesField(
        help_text="Wins, ties and losses against each system in this order."
    )

    def get_fields(self) -> Fields:
        columns = columns_of("api", "joint_results")
        numbers = {column.name: result_field(column) for column in columns}
        fields = super().get_fields()
        return {"submission": fields.pop("submission"), **numbers, **fields}


class JointCriterionSerializer(serializers.Serializer[Any]):
    criterion = serializers.CharField()
    question = serializers.CharField()
    n_judgements = serializers.IntegerField(source="about.n_judgements")
    n_instances = serializers.IntegerField(source="about.n_instances", default=0)
    n_workers = serializers.IntegerField(
        source="about.n_workers", default=0, help_text="Raters whose ratings count."
    )
    n_excluded_workers = serializers.IntegerField(
        source="about.n_excluded_workers",
        default=0,
        help_text="Raters whose ratings are excluded.",
    )
    normalised = serializers.CharField(source="about.normalised", default="")
    covers = serializers.CharField(
        source="about.covers",
        default="",
        help_text="Sources of variation that intervals, ranks and clusters of magnitudes cover.",
    )
    no_strengths = serializers.CharField(
        source="about.no_strengths",
        default="",
        help_text="Why there are no Bradley–Terry strengths; empty if there are.",
    )
    agreement = AgreementSerializer(source="about.agreement", default=None)
    signature = serializers.CharField(source="about.signature")
    rows = JointRowSerializer(many=True)


class JointChangeSerializer(Record):
    record = JointChange
    shown = "at submission criterion reason before after"
    submission = ComparedSystemSerializer()
    help_texts = {"after": "Null if no rating counts any more."}


class JointDetailSerializer(JointSerializer):
    changes = JointChangeSerializer(
        source="all_changes",
        many=True,
        read_only=True,
        help_text="Magnitudes that changed after the first results, oldest first.",
    )
    criteria = JointCriterionSerializer(
        source="all_results", many=True, read_only=True, help_text="Best systems first."
    )
    approved_cents = serializers.SerializerMethodField(
        help_text="Null for readers who may not see the cost."
    )
    spent_cents = serializers.SerializerMethodField()

    def to_representation(self, instance: Any) -> Any:
        instance.all_changes = joint_changes_of(instance)
        questions = joint.criteria_of(instance.task)
        instance.all_results = criterion_results(instance, questions)
        return super().to_representation(instance)

    def get_approved_cents(self, joint_evaluation: JointEvaluation) -> int | None:
        concerned = joint_concerns(self.context["request"].user, joint_evaluation)
        return joint_evaluation.approved_cents if concerned else None

    def get_spent_cents(self, joint_evaluation: JointEvaluation) -> int | None:
        concerned = joint_concerns(self.context["request"].user, joint_evaluation)
        return joint_progress(joint_evaluation)["spent_cents"] if concerned else None
