from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.base import problems
from leaderboard.api.query import LARGEST, PageQuery
from leaderboard.boards.api.tasks import TaskView
from leaderboard.boards.selectors.pairs import POWER, matrix
from leaderboard.boards.selectors.systems import ranked_pks
from leaderboard.evaluation.price import cents_per_rating
from leaderboard.stats.ranking import RANK_RULE, RANK_SUMS_HELP


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
