from typing import Any

from rest_framework import serializers

from leaderboard.api.base import DetailView, operation
from leaderboard.api.query import LARGEST, PageQuery
from leaderboard.api.records import HtmlUrl, Record
from leaderboard.boards.api.tasks import BoardList, TaskView
from leaderboard.boards.selectors.certainty import (
    Agreement,
    Evidence,
    First,
    Link,
    RankSums,
    Shares,
    System,
    TwoPools,
    Workers,
    evidence_of,
    pools_of,
)
from leaderboard.boards.selectors.history import (
    Published,
    gains,
    read_results,
    results_of,
)
from leaderboard.boards.selectors.pairs import POWER, Pair, Pairs
from leaderboard.stats.crowds import Correlation, SamePopulation, SystemInBoth
from leaderboard.stats.ranking import RANK_RULE, RANK_SUMS_HELP

_ITS_ID = "Id of its submission."


class SharesSerializer(Record):
    record = Shares
    help_texts = {
        "system": "Null with fewer than five systems. The other shares then refer to the "
        "variance within a system.",
        "day": "Null if fewer than three days have ratings of several systems.",
    }


class LeniencySerializer(Record):
    record = Workers
    shown = "n_workers strict lenient rate typical_gap typical_factor"
    help_texts = {
        "strict": "Raters who rate significantly lower than the rest.",
        "lenient": "Raters who rate significantly higher than the rest.",
        "rate": "Largest expected share of chance among these two groups.",
        "typical_gap": "Mean difference in points between two workers' ratings of one output "
        "that is due to their strictness. Null with fewer than five workers.",
        "typical_factor": "The same for magnitudes, as a ratio.",
    }


class WorkersAgreementSerializer(Record):
    record = Agreement
    help_texts = {
        "alpha": "Krippendorff's alpha.",
        "level": "ordinal or interval.",
        "n_outputs": "Outputs that several workers rated.",
        "same": "Share of pairs of workers with the same answer.",
    }


class FirstPlaceSerializer(Record):
    record = First
    shown = "leader=leader.pk rival=rival.pk n_ratings share"
    help_texts = {
        "leader": _ITS_ID,
        "rival": "The system that would lead without these ratings.",
        "n_ratings": "Number of ratings whose removal would change the leader.",
        "share": "Share of all ratings of the ranked systems.",
    }


class RankSumsSerializer(Record):
    record = RankSums
    shown = "system=system.pk wins first last"
    help_texts = {
        "system": _ITS_ID,
        "wins": "Systems that it beats.",
        "first": "Best rank of its cluster.",
        "last": "Worst rank of its cluster.",
    }


class LinkSerializer(Record):
    record = Link
    shown = (
        "system=system.pk anchor estimate low high standard_error unit n_outputs "
        "n_ratings n_workers moved"
    )
    anchor = serializers.IntegerField(
        source="anchor.pk",
        default=None,
        allow_null=True,
        help_text="Id of the anchor: an earlier system whose outputs were rated again in "
        "this campaign.",
    )
    help_texts = {
        "system": _ITS_ID,
        "estimate": "The anchor's score here minus its earlier score.",
        "low": "Lower end of the 95% interval.",
        "high": "Upper end of the 95% interval.",
        "unit": "points of the score, or percent for ratios.",
        "moved": "yes, perhaps or no: whether it exceeds the task's anchor_tolerance.",
    }


class EvidenceSerializer(Record):
    record = Evidence
    shown = (
        "criterion n_systems n_ratings shares workers agreement first wmt links "
        "cannot_conclude"
    )
    shares = SharesSerializer(
        allow_null=True,
        help_text="Percentages of the variance of one rating. Null with few workers.",
    )
    workers = LeniencySerializer()
    agreement = WorkersAgreementSerializer(allow_null=True)
    first = FirstPlaceSerializer(allow_null=True)
    wmt = RankSumsSerializer(
        many=True,
        help_text="Rank-sum tests of z-scores as in WMT's findings, for this crowd. Empty "
        "if the task's scores are not z-scores.",
    )
    links = LinkSerializer(
        many=True,
        help_text="Whether later campaigns' crowds rate like the earlier crowd.",
    )
    help_texts = {"cannot_conclude": "Sentences for readers."}


class TaskEvidenceSerializer(serializers.Serializer[Any]):
    task = serializers.CharField()
    criteria = EvidenceSerializer(many=True)


@operation(
    "Show the evidence behind a leaderboard's scores",
    "Variance, strictness and agreement of workers, how many ratings the first place "
    "depends on, and what cannot be concluded. By criterion, the ranking criterion "
    "first.",
)
class TaskEvidence(TaskView, DetailView):
    serializer_class = TaskEvidenceSerializer

    def get_object(self) -> dict[str, Any]:
        task = self.task()
        return {"task": task.slug, "criteria": evidence_of(task)}


# A board's history: its results in the order of publication, and who led.
class PublishedSerializer(Record):
    record = Published
    shown = (
        "submission=pk html_url system simulated published_at=at mean low high n of "
        "provisional led gain significant"
    )
    html_url = HtmlUrl("submission", source="result")
    led = serializers.BooleanField(
        help_text="Whether it was the best when it was published."
    )
    gain = serializers.FloatField(
        allow_null=True, help_text="Points above the previous best. Null for others."
    )
    significant = serializers.BooleanField(
        allow_null=True, help_text="Whether the board's comparisons confirm the gain."
    )
    help_texts = {
        "submission": "Its id.",
        "mean": "The current score, not the score at that time.",
        "n": "Instances rated.",
        "of": "In the sample.",
    }


@operation(
    "Show a board's results in order of publication, with the leaders",
    "For the whole board at a past time, use `/leaderboard/?at=`.",
)
class BoardHistory(BoardList):
    serializer_class = PublishedSerializer
    query_class = PageQuery

    def get_queryset(self) -> Any:
        return results_of(self.task())

    def paginate_queryset(self, queryset: Any) -> Any:
        page: Any = super().paginate_queryset(queryset)
        leads = gains(self.task())
        return [
            {
                **vars(result),
                "result": result,
                "led": result.pk in leads,
                "gain": (lead := leads.get(result.pk, (None, None)))[0],
                "significant": None if lead[0] is None else lead[1],
            }
            for result in read_results(page)
        ]


class _Submission(serializers.IntegerField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=0, max_value=LARGEST, **kwargs)


class SystemSerializer(Record):
    record = System
    shown = "submission=pk system=name mean"


class PairSerializer(Record):
    """Two systems, the better-looking one first."""

    record = Pair
    shown = (
        "a b difference p_above p_value significant=apart more_ratings more_workers "
        "more_cents more_instances"
    )
    a = SystemSerializer()
    b = SystemSerializer()
    help_texts = {
        "difference": "Of the scores, in points.",
        "p_above": "Probability that a is better than b.",
        "p_value": "Two-sided and adjusted for all pairs of the board. If the task's `ranks` "
        "are rank sums, one-sided and for this pair alone.",
        "significant": "Never true for systems that neither raters nor anchors connect. These "
        "are not directly comparable.",
        "more_ratings": "Ratings still needed for the board's test to detect this difference with "
        f"{POWER:.0%} power. 0 only if it is significant; null if it cannot be "
        "planned.",
        "more_workers": "Workers still needed.",
        "more_cents": "Cost of these ratings.",
        "more_instances": "Instances needed. The task may have fewer.",
    }


class PairQuery(PageQuery):
    a = _Submission(
        required=False, help_text="Id of a submission. Only its pairs are shown."
    )
    b = _Submission(
        required=False,
        help_text="Id of a second submission. Only the pair of both is shown.",
    )


@operation(
    "Compare the ranked systems of a board in pairs",
    f"The comparisons behind the ranks. {RANK_RULE} {RANK_SUMS_HELP}",
)
class DifferenceList(BoardList):
    tag = "results"
    serializer_class = PairSerializer
    query_class = PairQuery
    staff_see_more = False

    def get_queryset(self) -> Any:
        return Pairs(self.task(), {*self.pick("a", "b").values()})


class FiniteField(serializers.FloatField):
    """A number, or null for infinity (unknown), which JSON cannot express."""

    def to_representation(self, value: float) -> Any:
        return value if abs(value) < float("inf") else None


class SystemInBothSerializer(Record):
    record = SystemInBoth
    shown = "system means difference low high ranks"
    difference = serializers.FloatField(
        source="difference.estimate", help_text="Second minus first."
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
    rest = serializers.FloatField(help_text="Remaining variance.")

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
        "p_value": "p-value of the hypothesis that both crowds are drawn from one population.",
        "p_means": "Uses only the levels of ratings.",
        "p_spread": "Uses only the spread of ratings.",
        "detectable": "Smallest difference of levels detected with 80% power at the 5% level.",
        "n_both": "Workers in both crowds, who are left out.",
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
    "For every two platforms, on the systems that both rated: differences, ranks, "
    "correlation, variances, and a test of whether their workers are drawn from one "
    "population. Empty if there is only one platform.",
)
class TaskCrowds(TaskView, DetailView):
    serializer_class = TaskCrowdsSerializer

    def get_object(self) -> dict[str, Any]:
        task = self.task()
        return {"task": task.slug, "comparisons": pools_of(task)}
