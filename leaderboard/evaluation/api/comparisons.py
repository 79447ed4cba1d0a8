import json
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, cast

from django.db import transaction
from django.db.models import Count, Max, Prefetch, QuerySet
from django.http import HttpResponse
from rest_framework import serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError

from genie.accounts.authentication import ScopeFits
from genie.accounts.models import AccessToken
from genie.lib.serving.caches import computed_once
from genie.lib.typing import Account
from leaderboard.api.base import (
    IDEMPOTENCY_KEY,
    DetailView,
    Growing,
    ListView,
    View,
    operation,
)
from leaderboard.api.query import LARGEST, Body
from leaderboard.evaluation import decide
from leaderboard.evaluation.api.serializers import (
    AllPairsMadeSerializer,
    ComparisonDetailSerializer,
    ComparisonSerializer,
    JointDetailSerializer,
    JointSerializer,
)
from leaderboard.evaluation.models.comparison import Comparison, ComparisonSet
from leaderboard.evaluation.models.human_evaluation import (
    HumanEvaluation,
    JointEvaluation,
    Score,
)
from leaderboard.evaluation.selectors.comparisons import (
    comparisons_seen_by,
    refuse_who_has_none,
    seen_and_comparable,
)
from leaderboard.evaluation.selectors.joint import joint_seen_by
from leaderboard.evaluation.services import comparison, joint
from leaderboard.stats.stopping.sequential import RULES
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import Staff
from leaderboard.submissions.services import idempotency
from leaderboard.tasks.api import OfTaskQuery

# Ask which of several systems is better.
_SMALL = 100_000
# Rendered results of a joint evaluation are kept under all that they show.
_KEPT_SECONDS = 600
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
        max_length=50, help_text="A criterion that the task compares systems by."
    )
    delta = serializers.FloatField(
        default=0.05, help_text="Error probability, two-sided; above 0 and below 1."
    )
    rule = serializers.ChoiceField(
        choices=[*RULES],
        required=False,
        help_text="Stopping rule. By default, the task's rule, or beta-mixture if "
        "pairs get several answers.",
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
        help_text="Systems on a page, 2 to 8. By default, all. If set, up to 100 "
        "systems can take part.",
    )


def _systems(request: Request, field: str, pks: Sequence[int]) -> list[Submission]:
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

    def receive(also: Callable[[Any], None]) -> HumanEvaluation:
        with transaction.atomic():
            made: HumanEvaluation = ask()
            also(made)
        return made

    if (key := request.headers.get("Idempotency-Key")) is None:
        return receive(lambda made: None), False
    sent = idempotency.fingerprint({"path": request.path, "sent": json.dumps(fields)})
    return idempotency.receive_once(
        by, idempotency.checked_key(key), sent, receive, made="evaluation"
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
    return cast("Comparison", made.specific), repeated


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
    return cast("ComparisonSet", cast("Comparison", first.specific).within), repeated


def ask_joint(request: Request, fields: dict[str, Any]) -> tuple[JointEvaluation, bool]:
    systems = _systems(request, "systems", fields["systems"])
    refuse_who_has_none(request.user, systems, Staff.ASK_JOINT_EVALUATIONS)
    plan = {name: value for name, value in fields.items() if name != "systems"}
    by = cast("Account", request.user)
    made, repeated = asked_once(
        request, fields, partial(joint.request, systems, by=by, **plan)
    )
    return cast("JointEvaluation", made.specific), repeated


def created_response(body: Any, repeated: bool) -> Response:
    headers = {"Idempotent-Replayed": "true"} if repeated else {}
    return Response(body, status=status.HTTP_201_CREATED, headers=headers)


_NEEDS_AGREEMENT = "One of the systems must be your team's. Staff approve the cost{}."
_NEEDS_SCOPE = "The token needs the scope `withdraw`."


class TakingBack(View):
    """Withdraw a question that has not been agreed to; for who asked it."""

    permission_classes = [IsAuthenticated, ScopeFits]
    scope = AccessToken.Scope.WITHDRAW

    def get_queryset(self) -> QuerySet[Any]:
        return super().get_queryset().filter(requested_by=self.request.user.pk)

    def post(self, request: Request, pk: int) -> Response:
        question = self.get_object()
        decide.take_back(question, by=cast("Account", request.user))
        return Response(self.get_serializer(question).data)


class ComparisonView(View):
    tag = "comparisons"
    serializer_class: Any = ComparisonDetailSerializer

    def get_queryset(self) -> QuerySet[Comparison]:
        return comparisons_seen_by(self.request.user)


@operation("List comparisons of two systems, newest first")
class ComparisonList(ComparisonView, ListView):
    serializer_class = ComparisonSerializer
    query_class = OfTaskQuery
    filters = {"task": "task"}
    pagination_class = Growing
    body_class = NewComparisonSerializer

    @operation(
        "Request a comparison of two systems",
        _NEEDS_AGREEMENT.format(""),
        *ASKING,
        parameters=[IDEMPOTENCY_KEY],
        responses={201: ComparisonDetailSerializer},
    )
    def post(self, request: Request) -> Response:
        made, repeated = ask_comparison(request, self.body())
        context = self.get_serializer_context()
        return created_response(
            ComparisonDetailSerializer(made, context=context).data, repeated
        )


class AllPairs(ComparisonView):
    serializer_class = AllPairsMadeSerializer
    body_class = NewAllPairsSerializer

    @operation(
        "Request comparisons of every system with every other",
        _NEEDS_AGREEMENT.format(" of each comparison"),
        *ASKING,
        operation_id="comparisons_create_all_pairs",
        parameters=[IDEMPOTENCY_KEY],
    )
    def post(self, request: Request) -> Response:
        made, repeated = ask_all_pairs(request, self.body())
        return created_response(self.get_serializer(made).data, repeated)


@operation("Show one comparison")
class ComparisonDetail(ComparisonView, DetailView):
    pass


@operation(
    "Withdraw a comparison that you requested, before it is approved",
    _NEEDS_SCOPE,
    *("not-withdrawable", "unsupported-media-type"),
    method="post",
    operation_id="comparisons_withdraw",
)
class ComparisonWithdrawal(TakingBack, ComparisonView):
    pass


class JointView(View):
    tag = "comparisons"
    serializer_class: Any = JointDetailSerializer

    def get_queryset(self) -> QuerySet[JointEvaluation]:
        named = Submission.objects.only("system_name")
        # those of many systems are large
        rows = joint_seen_by(self.request.user).defer("results")
        return rows.prefetch_related(
            Prefetch("systems__submission", named), "campaigns"
        )


@operation("List joint evaluations of several systems, newest first")
class JointList(JointView, ListView):
    serializer_class = JointSerializer
    query_class = OfTaskQuery
    filters = {"task": "task"}
    pagination_class = Growing
    body_class = NewJointSerializer

    @operation(
        "Request a joint evaluation of several systems",
        _NEEDS_AGREEMENT.format(""),
        *ASKING,
        parameters=[IDEMPOTENCY_KEY],
        responses={201: JointDetailSerializer},
    )
    def post(self, request: Request) -> Response:
        made, repeated = ask_joint(request, self.body())
        body = JointDetailSerializer(made, context=self.get_serializer_context()).data
        return created_response(body, repeated)


@operation("Show one joint evaluation: magnitudes, ranking, preferences and agreement")
class JointDetail(JointView, DetailView):
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Any:
        one, kind = self.get_object(), str(request.accepted_media_type)

        def make() -> bytes:
            return bytes(JSONRenderer().render(self.get_serializer(one).data, kind))

        shown: Any = self.get_serializer(one)
        scores = Score._base_manager.filter(evaluation=one.pk).order_by()
        counted = Count("pk"), Max("pk"), Max("superseded_at")
        parts = [
            # results change with the time of scoring
            *(f"{name} {value}" for name, value in vars(one).items() if name[0] != "_"),
            *(f"{x.submission_id} {x.submission}" for x in one.systems.all()),
            *(one.task.config, one.workers_each, scores.aggregate(*counted)),
            *(shown.get_approved_cents(one), shown.get_spent_cents(one)),
            *(request.build_absolute_uri(), kind),
        ]
        key = sha256(json.dumps(parts, default=str).encode()).hexdigest()
        answer = computed_once(f"joint-{key}", make, _KEPT_SECONDS)
        return HttpResponse(answer, content_type=JSONRenderer.media_type)


@operation(
    "Withdraw a joint evaluation that you requested, before it is approved",
    _NEEDS_SCOPE,
    *("not-withdrawable", "unsupported-media-type"),
    method="post",
    operation_id="joint_evaluations_withdraw",
)
class JointWithdrawal(TakingBack, JointView):
    pass
