from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.base import problems
from leaderboard.api.links import HtmlUrl
from leaderboard.api.query import LARGEST, PageQuery
from leaderboard.boards.api.tasks import TaskView
from leaderboard.boards.selectors.certainty import evidence_of
from leaderboard.boards.selectors.history import history
from leaderboard.boards.selectors.pairs import POWER, matrix
from leaderboard.boards.selectors.systems import ranked_pks
from leaderboard.evaluation.price import cents_per_rating
from leaderboard.stats.ranking import RANK_RULE, RANK_SUMS_HELP


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


# A board's history: its results in the order of publication, and who led.
class PublishedSerializer(serializers.Serializer[Any]):
    submission = serializers.IntegerField(source="result.pk", help_text="Its id.")
    html_url = HtmlUrl("submission", source="result")
    system = serializers.CharField(source="result.system")
    simulated = serializers.BooleanField(source="result.simulated")
    published_at = serializers.DateTimeField(source="result.at")
    mean = serializers.FloatField(
        source="result.mean", help_text="As it counts now, not as it was then."
    )
    low = serializers.FloatField(source="result.low")
    high = serializers.FloatField(source="result.high")
    n = serializers.IntegerField(source="result.n", help_text="Instances rated.")
    of = serializers.IntegerField(source="result.of", help_text="In the sample.")
    provisional = serializers.BooleanField(source="result.provisional")
    led = serializers.BooleanField(help_text="Whether it was the best when it came.")
    gain = serializers.FloatField(
        allow_null=True, help_text="Points over the best until then; null for others."
    )
    significant = serializers.BooleanField(
        allow_null=True, help_text="Whether the board's comparisons confirm the gain."
    )


class BoardHistory(TaskView):
    serializer_class = PublishedSerializer
    query_class = PageQuery

    @extend_schema(
        tags=["tasks"],
        operation_id="tasks_history_list",
        summary="Show a board's results in order of publication, and who led",
        description="`/leaderboard/?at=` gives the whole board of a past time.",
        responses={200: PublishedSerializer(many=True), **problems("not-found")},
    )
    def get(self, request: Request, slug: str) -> Response:
        found = history(self.task())
        leads = {lead.result.pk: lead for lead in found.leads}
        rows = [
            {
                "result": result,
                "led": (lead := leads.get(result.pk)) is not None,
                "gain": lead and lead.gain,
                "significant": lead.sure if lead and lead.gain is not None else None,
            }
            for result in found.results
        ]
        page: Any = self.paginate_queryset(rows)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class _Submission(serializers.IntegerField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=0, max_value=LARGEST, **kwargs)


class SystemSerializer(serializers.Serializer[Any]):
    submission = serializers.IntegerField(source="pk")
    system = serializers.CharField(source="name")
    mean = serializers.FloatField()


class PairSerializer(serializers.Serializer[Any]):
    """Two systems, the better-looking one first."""

    a = SystemSerializer()
    b = SystemSerializer()
    difference = serializers.FloatField(help_text="Of the scores, in points.")
    p_above = serializers.FloatField(help_text="Probability that a is better than b.")
    p_value = serializers.FloatField(
        help_text="Two-sided and adjusted for all pairs of the board; one-sided and of "
        "this pair alone where the task's `ranks` are rank sums."
    )
    significant = serializers.BooleanField(
        source="apart",
        help_text="Never true of systems that share no raters, day or anchors: these are "
        "not directly comparable.",
    )
    more_ratings = serializers.IntegerField(
        allow_null=True,
        help_text="Ratings still needed for the board's test to find this difference with "
        f"{POWER:.0%} power; 0 only if it is significant. Null: cannot be planned.",
    )
    more_workers = serializers.IntegerField(
        allow_null=True, help_text="Workers still needed for that."
    )
    more_cents = serializers.IntegerField(
        allow_null=True, help_text="What these ratings would cost."
    )
    more_instances = serializers.IntegerField(
        help_text="Instances that they take; the task may have fewer."
    )


class PairQuery(PageQuery):
    a = _Submission(required=False, help_text="Id of a submission: only its pairs.")
    b = _Submission(required=False, help_text="Id of another: only the pair of both.")


class DifferenceList(TaskView):
    serializer_class = PairSerializer
    query_class = PairQuery

    @extend_schema(
        tags=["results"],
        operation_id="tasks_differences_list",
        summary="Compare the ranked systems of a board in pairs",
        description=f"The comparisons behind the ranks. {RANK_RULE} {RANK_SUMS_HELP}",
        responses={200: PairSerializer(many=True), **problems("not-found")},
    )
    def get(self, request: Request, slug: str) -> Response:
        task = self.task()
        wanted = {self.query[name] for name in ("a", "b") if name in self.query}
        ranked = ranked_pks(task)
        pks = ranked if len(wanted) < 2 else [pk for pk in ranked if pk in wanted]
        found = matrix(task, pks, cents_per_rating=cents_per_rating(task))
        pairs = [
            pair
            for pair in (found.pairs if found else [])
            if wanted <= {pair.a.pk, pair.b.pk}
        ]
        page: Any = self.paginate_queryset(pairs)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)
