from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from leaderboard.api.links import HtmlUrl
from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.models.joint_evaluation import JointEvaluation
from leaderboard.evaluation.selectors.comparisons import concerns, standing_of, verdict
from leaderboard.evaluation.selectors.joint import (
    CriterionResult,
    criterion_results,
    joint_changes_of,
    joint_concerns,
    joint_progress,
)
from leaderboard.evaluation.services import joint
from leaderboard.stats.stopping.rules import ASSUMES
from leaderboard.tasks.api import ImportedField

_STATES = HumanEvaluation.State.values


class ComparedSystemSerializer(serializers.Serializer[Any]):
    """A compared system, given by its submission."""

    submission = serializers.IntegerField(source="pk", help_text="Its id.")
    system = serializers.CharField(source="system_name")


class AllPairsSerializer(serializers.Serializer[Any]):
    """The comparisons of every system with every other that this one is one of."""

    id = serializers.IntegerField(source="pk")
    delta = serializers.FloatField(
        help_text="Chance that any of the set's decisions is wrong, at most."
    )


class ComparisonSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="pk")
    html_url = HtmlUrl("comparison")
    task = serializers.CharField(source="task.slug")
    criterion = serializers.CharField()
    a = ComparedSystemSerializer()
    b = ComparedSystemSerializer()
    state = serializers.CharField(help_text="One of " + ", ".join(_STATES) + ".")
    better = serializers.ChoiceField(
        choices=["", "A", "B"],
        help_text="Which system is better; empty while undecided or inconclusive.",
    )
    delta = serializers.FloatField(help_text="Error probability, two-sided.")
    rule = serializers.CharField(help_text="The stopping rule.")
    strategy = serializers.ChoiceField(choices=Comparison.Strategy.choices)
    n_workers = serializers.IntegerField(help_text="For the majority strategy.")
    wave_size = serializers.IntegerField(help_text="Pairs posted together.")
    max_pairs = serializers.IntegerField(help_text="The budget, in pairs.")
    all_pairs = AllPairsSerializer(
        source="within", allow_null=True, help_text="Null for a single comparison."
    )
    simulated = serializers.BooleanField(
        help_text="Rated by simulated annotators, not by people."
    )
    imported = ImportedField()


class AllPairsMadeSerializer(AllPairsSerializer):
    comparisons = ComparisonSerializer(many=True)


class AnswerShareSerializer(serializers.Serializer[Any]):
    """How often people preferred A: single answers, for other workers too."""

    share = serializers.FloatField(help_text="Ties count half.")
    low = serializers.FloatField(
        help_text="Ends of the 95 % interval for a fixed number of answers."
    )
    high = serializers.FloatField()
    covers = serializers.CharField(help_text="What the interval covers.")
    n_answers = serializers.IntegerField(
        help_text="Answers behind the labels that the rule used."
    )
    n_workers = serializers.IntegerField()


class ComparisonStandingSerializer(serializers.Serializer[Any]):
    """How often A was preferred: by the stopping rule, and for other workers."""

    n_labels = serializers.IntegerField()
    n_votes = serializers.IntegerField(
        help_text="Answers from which the labels are derived."
    )
    estimate = serializers.FloatField(
        allow_null=True,
        help_text="Share of labels in favour of A; null before the first.",
    )
    low = serializers.FloatField(
        help_text="Ends of the stopping rule's interval. " + ASSUMES
    )
    high = serializers.FloatField()
    answers = AnswerShareSerializer(
        allow_null=True, help_text="Null before the first label."
    )
    anytime_valid = serializers.BooleanField(
        help_text="Whether the interval stays valid no matter how often it is checked."
    )
    needed = serializers.IntegerField(
        allow_null=True,
        help_text="Total number of labels at which it would end if the share stayed the "
        "same.",
    )
    spent_cents = serializers.IntegerField(
        allow_null=True, help_text="Null for readers who may not see the cost."
    )
    still_cents = serializers.IntegerField(
        allow_null=True, help_text="Cost of the labels still needed."
    )
    approved_cents = serializers.IntegerField(allow_null=True)


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
        inner = concerns(self.context["request"].user, comparison)
        return {
            "n_labels": standing.n_labels,
            "n_votes": standing.n_votes,
            "estimate": standing.now.estimate if standing.now.n else None,
            "low": standing.now.low,
            "high": standing.now.high,
            "answers": None
            if standing.answers is None
            else AnswerShareSerializer(standing.answers).data,
            "anytime_valid": standing.now.anytime_valid,
            "needed": standing.needed,
            "spent_cents": standing.spent_cents if inner else None,
            "still_cents": standing.still_cents if inner else None,
            "approved_cents": comparison.approved_cents if inner else None,
        }


class JointSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="pk")
    html_url = HtmlUrl("joint")
    task = serializers.CharField(source="task.slug")
    design = serializers.CharField()
    state = serializers.CharField(help_text="One of " + ", ".join(_STATES) + ".")
    systems = serializers.SerializerMethodField()
    n_instances = serializers.IntegerField()
    n_workers = serializers.SerializerMethodField(
        help_text="Workers per instance; the least where criteria differ."
    )
    per_page = serializers.IntegerField(
        allow_null=True, help_text="Systems on a page; null: all of them."
    )
    simulated = serializers.BooleanField(
        help_text="Rated by simulated annotators, not by people."
    )
    imported = ImportedField()
    provisional = serializers.BooleanField(
        source="is_provisional",
        help_text="Whether it is still being checked which ratings count.",
    )

    def get_n_workers(self, joint_evaluation: JointEvaluation) -> int:
        return joint_evaluation.workers_each[0]

    @extend_schema_field(ComparedSystemSerializer(many=True))
    def get_systems(self, joint_evaluation: JointEvaluation) -> Any:
        systems = [row.submission for row in joint_evaluation.evaluation.systems.all()]
        return ComparedSystemSerializer(systems, many=True).data


class AgreementSerializer(serializers.Serializer[Any]):
    form = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class JointRowSerializer(serializers.Serializer[Any]):
    submission = ComparedSystemSerializer()
    mean = serializers.FloatField(
        help_text="Geometric mean magnitude; 100 is as good as the reference output."
    )
    low = serializers.FloatField()
    high = serializers.FloatField()
    cluster = serializers.IntegerField(
        help_text="Every system of a cluster is significantly better than every system "
        "of the next; 1 is the best."
    )
    rank_first = serializers.IntegerField()
    rank_last = serializers.IntegerField()
    skill = serializers.FloatField(
        help_text="TrueSkill, as the difference to the mean of these systems; its 95 % "
        "interval covers other workers."
    )
    skill_low = serializers.FloatField(
        allow_null=True, help_text="Null if one worker made all comparisons."
    )
    skill_high = serializers.FloatField(allow_null=True)
    skill_cluster = serializers.IntegerField()
    skill_rank_first = serializers.IntegerField(
        help_text="Best TrueSkill rank over 20 random orders of the comparisons."
    )
    skill_rank_last = serializers.IntegerField()
    skill_rank_kept = serializers.FloatField(
        help_text="Share of these orders in which the system has the rank that `skill`, "
        "their mean, gives it.",
    )
    strength = serializers.FloatField(
        allow_null=True,
        help_text="Bradley–Terry strength, ties after Davidson: log-odds of being "
        "preferred to the average system; its 95 % interval covers other workers. Null "
        "where the comparisons give none: see `no_strengths`.",
    )
    strength_low = serializers.FloatField(allow_null=True)
    strength_high = serializers.FloatField(allow_null=True)
    games = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField(), allow_null=True),
        help_text="Wins, ties and losses against each system in this order.",
    )


class JointCriterionSerializer(serializers.Serializer[Any]):
    criterion = serializers.CharField()
    question = serializers.CharField()
    n_judgements = serializers.IntegerField(source="about.n_judgements")
    n_instances = serializers.IntegerField(source="about.n_instances", default=0)
    n_workers = serializers.IntegerField(
        source="about.n_workers", default=0, help_text="Workers whose ratings count."
    )
    n_excluded_workers = serializers.IntegerField(
        source="about.n_excluded_workers",
        default=0,
        help_text="Workers whose ratings are excluded.",
    )
    normalised = serializers.CharField(source="about.normalised", default="")
    covers = serializers.CharField(
        source="about.covers",
        default="",
        help_text="What intervals, ranks and clusters of magnitudes cover.",
    )
    no_strengths = serializers.CharField(
        source="about.no_strengths",
        default="",
        help_text="Why there are no Bradley–Terry strengths; empty if there are.",
    )
    agreement = AgreementSerializer(source="about.agreement", default=None)
    signature = serializers.CharField(source="about.signature")
    rows = JointRowSerializer(many=True)


class JointChangeSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    submission = ComparedSystemSerializer()
    criterion = serializers.CharField()
    reason = serializers.CharField()
    before = serializers.FloatField(allow_null=True)
    after = serializers.FloatField(
        allow_null=True, help_text="Null if no rating counts any more."
    )


class JointDetailSerializer(JointSerializer):
    changes = serializers.SerializerMethodField(
        help_text="Magnitudes that changed after the first results, oldest first."
    )
    criteria = serializers.SerializerMethodField(help_text="Best systems first.")
    approved_cents = serializers.SerializerMethodField(
        help_text="Null for readers who may not see the cost."
    )
    spent_cents = serializers.SerializerMethodField()

    @extend_schema_field(JointChangeSerializer(many=True))
    def get_changes(self, joint_evaluation: JointEvaluation) -> Any:
        changes = joint_changes_of(joint_evaluation)
        return JointChangeSerializer(changes, many=True).data

    def get_approved_cents(self, joint_evaluation: JointEvaluation) -> int | None:
        concerned = joint_concerns(self.context["request"].user, joint_evaluation)
        return joint_evaluation.approved_cents if concerned else None

    def get_spent_cents(self, joint_evaluation: JointEvaluation) -> int | None:
        concerned = joint_concerns(self.context["request"].user, joint_evaluation)
        return joint_progress(joint_evaluation)["spent_cents"] if concerned else None

    @extend_schema_field(JointCriterionSerializer(many=True))
    def get_criteria(self, joint_evaluation: JointEvaluation) -> Any:
        results: list[CriterionResult] = criterion_results(
            joint_evaluation, joint.criteria_of(joint_evaluation.task)
        )
        return JointCriterionSerializer(results, many=True).data
