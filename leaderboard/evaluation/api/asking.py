"""Ask which of several systems is better."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from django.db import transaction
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError

from genie.lib.typing import Account
from leaderboard.api.body import Body
from leaderboard.api.query import LARGEST
from leaderboard.evaluation.models.comparison import Comparison, ComparisonSet
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.models.joint_evaluation import JointEvaluation
from leaderboard.evaluation.selectors.comparisons import (
    refuse_who_has_none,
    seen_and_comparable,
)
from leaderboard.evaluation.services import comparison, joint
from leaderboard.stats.stopping.sequential import RULES
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import Staff
from leaderboard.submissions.services import idempotency

_SMALL = 100_000
ASKING = (
    *("bad-key", "key-reused", "not-a-member", "not-comparable", "same-submission"),
    *("different-tasks", "unusable-question", "wrong-number-of-systems"),
)


class Id(serializers.IntegerField):
    """An id as databases keep it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=1, max_value=LARGEST, **options)


class NewComparisonSerializer(Body):
    a = Id(help_text="Id of a submission.")
    b = Id(help_text="Id of another submission of the same task.")
    criterion = serializers.CharField(
        max_length=50, help_text="One of those that the task compares by."
    )
    delta = serializers.FloatField(
        default=0.05, help_text="Error probability, two-sided; above 0 and below 1."
    )
    rule = serializers.ChoiceField(
        choices=[*RULES], default=comparison.DEFAULT_RULE, help_text="Stopping rule."
    )
    strategy = serializers.ChoiceField(
        choices=Comparison.Strategy.choices, default=Comparison.Strategy.ONE
    )
    n_workers = serializers.IntegerField(
        default=1, min_value=1, max_value=_SMALL, help_text="For the majority strategy."
    )
    wave_size = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=_SMALL,
        help_text="Pairs posted together; the task's own number if left out.",
    )
    max_pairs = serializers.IntegerField(
        default=400, min_value=1, max_value=_SMALL, help_text="The budget, in pairs."
    )


class NewAllPairsSerializer(NewComparisonSerializer):
    a = b = None  # type: ignore[assignment]
    systems = serializers.ListField(
        child=Id(),
        min_length=3,
        max_length=comparison.MOST_SYSTEMS,
        help_text="Ids of submissions of one task.",
    )
    delta = serializers.FloatField(
        default=0.05,
        help_text="Chance that any of the decisions is wrong; above 0 and below 1.",
    )
    max_pairs = serializers.IntegerField(
        default=400,
        min_value=1,
        max_value=_SMALL,
        help_text="The budget of each comparison, in pairs of outputs.",
    )


class NewJointSerializer(Body):
    systems = serializers.ListField(
        child=Id(),
        max_length=joint.MOST_SYSTEMS,
        help_text="Ids of submissions of one task.",
    )
    criteria = serializers.ListField(
        child=serializers.CharField(max_length=50),
        required=False,
        max_length=50,
        help_text="All that the task has if left out.",
    )
    n_instances = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=_SMALL,
        help_text="The task's sample if left out.",
    )
    n_workers = serializers.IntegerField(
        default=1, min_value=1, max_value=_SMALL, help_text="Per instance."
    )
    per_page = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=_SMALL,
        help_text="Systems on a page, 2 to 8; all of them if left out. With it, up to 100 "
        "systems take part.",
    )


def _systems(request: Request, field: str, pks: Sequence[int]) -> list[Submission]:
    """Return the submissions in this order, without those that the user may not see."""
    found = {row.pk: row for row in seen_and_comparable(request.user, pks)}
    if missing := [pk for pk in pks if pk not in found]:
        raise ValidationError(
            {field: f"There is no measured submission {missing[0]} that you can see."}
        )
    return [found[pk] for pk in pks]


def asked_once(
    request: Request, fields: dict[str, Any], ask: Callable[[], Any]
) -> tuple[HumanEvaluation, bool]:
    """Ask; a repeated idempotency key returns the evaluation that it created before."""
    by = cast("Account", request.user)

    def received(also: Callable[[Any], None]) -> HumanEvaluation:
        with transaction.atomic():
            made: HumanEvaluation = ask().evaluation
            also(made)
        return made

    if (key := request.headers.get("Idempotency-Key")) is None:
        return received(lambda made: None), False
    sent = idempotency.fingerprint({"path": request.path, "sent": json.dumps(fields)})
    return idempotency.receive_once(
        by, idempotency.checked_key(key), sent, received, made="evaluation"
    )


def ask_comparison(request: Request, fields: dict[str, Any]) -> tuple[Comparison, bool]:
    question = {name: fields[name] for name in fields if name not in {"a", "b"}}
    (a,) = _systems(request, "a", [fields["a"]])
    (b,) = _systems(request, "b", [fields["b"]])
    refuse_who_has_none(request.user, [a, b], Staff.ASK_COMPARISONS)
    made, repeated = asked_once(
        request,
        fields,
        partial(
            comparison.request,
            a,
            b,
            comparison.Question(**question),
            by=cast("Account", request.user),
        ),
    )
    return made.comparison, repeated


def ask_all_pairs(
    request: Request, fields: dict[str, Any]
) -> tuple[ComparisonSet, bool]:
    systems = _systems(request, "systems", fields["systems"])
    refuse_who_has_none(request.user, systems, Staff.ASK_COMPARISONS)
    question = comparison.Question(
        **{name: value for name, value in fields.items() if name != "systems"}
    )
    by = cast("Account", request.user)

    def ask() -> Comparison | None:
        made = comparison.request_all_pairs(systems, question, by=by)
        return made.comparisons.order_by("pk").first()

    first, repeated = asked_once(request, fields, ask)
    return cast("ComparisonSet", first.comparison.within), repeated


def ask_joint(request: Request, fields: dict[str, Any]) -> tuple[JointEvaluation, bool]:
    systems = _systems(request, "systems", fields["systems"])
    refuse_who_has_none(request.user, systems, Staff.ASK_JOINT_EVALUATIONS)
    plan = {name: value for name, value in fields.items() if name != "systems"}
    by = cast("Account", request.user)
    made, repeated = asked_once(
        request, fields, partial(joint.request, systems, by=by, **plan)
    )
    return made.joint, repeated


def created(body: Any, repeated: bool) -> Response:
    headers = {"Idempotent-Replayed": "true"} if repeated else {}
    return Response(body, status=status.HTTP_201_CREATED, headers=headers)
