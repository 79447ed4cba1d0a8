"""How money is split between people and a judge, for programs of staff."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.base import problems
from leaderboard.api.query import LARGEST, Query
from leaderboard.judges.api import REFUSALS, JudgeRunView
from leaderboard.judges.selectors.plans import Plan, plans_by


class BudgetQuery(Query):
    cents = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=LARGEST,
        help_text="For one system; the task's own price where it is not said.",
    )


class SplitSerializer(serializers.Serializer[Any]):
    """How a budget is split by what people's ratings so far say of the judge."""

    criterion = serializers.CharField()
    budget_cents = serializers.IntegerField(help_text="For one system.")
    usable = serializers.BooleanField(
        help_text="Whether a licence stands; without one the scores may not be used."
    )
    why_not = serializers.CharField(
        help_text="Why there is no plan; empty where there is one."
    )
    people_alone = serializers.IntegerField(
        allow_null=True, help_text="Instances that people rate for it without a judge."
    )
    n_people = serializers.IntegerField(allow_null=True)
    n_judge = serializers.IntegerField(
        allow_null=True, help_text="0: the judge is not worth its money."
    )
    half_width_alone = serializers.FloatField(
        allow_null=True, help_text="Expected, of a 95 % interval, in points."
    )
    half_width = serializers.FloatField(allow_null=True, help_text="With the judge.")
    explained = serializers.FloatField(
        allow_null=True,
        help_text="Share of the variance of people's ratings that the judge foretells.",
    )
    words = serializers.ListField(child=serializers.CharField())


class SplitsSerializer(serializers.Serializer[Any]):
    plans = SplitSerializer(many=True)


class JudgeRunPlan(JudgeRunView):
    serializer_class: Any = SplitsSerializer
    query_class = BudgetQuery

    @extend_schema(
        tags=["staff"],
        operation_id="judge_runs_plan",
        summary="Split money for one system between people and the judge of a run",
        responses={200: SplitsSerializer, **problems(*REFUSALS)},
    )
    def get(self, request: Request, pk: int) -> Response:
        run = self.run(pk)
        plans = plans_by(run, self.query.get("cents"))
        said = {"plans": [_told(plan) for plan in plans]}
        return Response(self.get_serializer(said).data)


def _told(plan: Plan) -> dict[str, Any]:
    plain = ("criterion", "budget_cents", "usable", "why_not", "half_width")
    split, pilot = plan.split, plan.pilot
    return {
        **{name: getattr(plan, name) for name in plain},
        "people_alone": plan.alone,
        "n_people": split.n_people if split else None,
        "n_judge": split.n_judge if split else None,
        "half_width_alone": plan.half_width_alone,
        "explained": pilot.explained if pilot else None,
        "words": plan.sentences,
    }
