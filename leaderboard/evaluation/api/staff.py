"""Data for staff: campaigns, workers under their pseudonyms, bans."""

from collections.abc import Callable
from typing import Any, cast

from django.db import transaction
from django.db.models import Count, Q
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError

from crowd.hits.models import Assignment, Campaign
from crowd.hits.selectors import progress_of
from crowd.money.services.budgets import budget_left
from crowd.platforms.base import all_platforms
from crowd.workers.models.worker import Worker
from genie.accounts.authentication import IsStaff
from genie.accounts.models import AccessToken
from genie.accounts.staff import limit_to_tasks, staff_may
from genie.lib.admin import note
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.api.base import DetailView, Growing, ListView, View, operation
from leaderboard.api.query import LARGEST, Body, Choice, PageQuery, one_of
from leaderboard.api.records import Record
from leaderboard.evaluation import decide
from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.models.human_evaluation import (
    HumanEvaluation,
    JointEvaluation,
)
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import Staff
from leaderboard.tasks.api import OfTaskQuery, TaskField
from quality.bans.models import Ban

_HANDED_IN = [
    Assignment.State.SUBMITTED,
    Assignment.State.APPROVED,
    Assignment.State.REJECTED,
]


class CampaignSerializer(Record):
    record = Campaign
    shown = (
        "id key title task=pool_id platform state simulated notice starts_at created_at "
        "completed_at reward_cents=hit_type.reward_cents n_hits n_done n_open "
        "spent_cents committed_cents budget_cents hourly_cents"
    )
    n_hits = serializers.IntegerField(source="progress.n_hits")
    n_done = serializers.IntegerField(source="progress.n_done")
    n_open = serializers.IntegerField(source="progress.n_open")
    spent_cents = serializers.IntegerField(source="progress.spent_cents")
    committed_cents = serializers.IntegerField(source="progress.committed_cents")
    hourly_cents = serializers.IntegerField(
        source="progress.hourly_cents",
        allow_null=True,
        help_text="Median; human workers only.",
    )
    help_texts = {
        "key": "Key of what the campaign is for.",
        "notice": "Notice for staff; often empty.",
    }


class WorkerSerializer(Record):
    record = Worker
    shown = "pseudonym platform simulated excluded created_at"
    n_handed_in = serializers.IntegerField(
        help_text="Assignments, approved, rejected or pending."
    )
    n_rejected = serializers.IntegerField()
    banned_from = serializers.ListField(
        child=serializers.CharField(),
        allow_null=True,
        help_text="Tasks that the worker is banned from; null for staff who may not see "
        "bans.",
    )
    help_texts = {"excluded": "Excluded from all tasks."}


class BanSerializer(Record):
    record = Ban
    shown = (
        "id worker=worker.pseudonym task=pool_id reason by_detector p_noisy created_at "
        "lifted_at lifted_reason"
    )
    by_detector = serializers.SerializerMethodField()
    p_noisy = serializers.FloatField(
        source="verdict.p_noisy", default=None, allow_null=True
    )

    def get_by_detector(self, ban: Any) -> bool:
        return ban.created_by_id is None


class StaffView(View):
    permission_classes = [IsStaff]
    scope = AccessToken.Scope.STAFF
    staff_permission: Staff


class OfTaskView(StaffView):
    """Rows of tasks: who has roles on some tasks only gets those of these tasks."""

    of_tasks = True

    def get_queryset(self) -> Any:
        rows = super().get_queryset()
        return limit_to_tasks(rows, self.request.user, self.staff_permission, "pool")

    def filter_queryset(self, queryset: Any) -> Any:
        rows, task = super().filter_queryset(queryset), self.query.get("task")
        return rows.filter(pool=task.slug) if task else rows


class CampaignView(OfTaskView):
    staff_permission = Staff.SEE_CAMPAIGNS
    queryset = Campaign.objects.select_related("hit_type").order_by("-pk")
    serializer_class = CampaignSerializer

    def with_progress(self, campaigns: list[Any]) -> list[Any]:
        progress_by_campaign = progress_of(campaigns)
        for campaign in campaigns:
            campaign.progress = progress_by_campaign[campaign.pk]
        return campaigns


class CampaignQuery(OfTaskQuery):
    state = Choice(Campaign.State.values, required=False)


@operation("List campaigns with progress and cost, newest first")
class CampaignList(CampaignView, ListView):
    query_class = CampaignQuery
    filters = {"state": "state"}
    pagination_class = Growing

    def paginate_queryset(self, queryset: Any) -> Any:
        return self.with_progress(super().paginate_queryset(queryset) or [])


@operation("Show one campaign")
class CampaignDetail(CampaignView, DetailView):
    def get_object(self) -> Any:
        return self.with_progress([super().get_object()])[0]


class WorkerQuery(PageQuery):
    platform = serializers.CharField(
        required=False, help_text="Such as selfhosted, mturk or prolific."
    )
    banned_from = TaskField(
        required=False, help_text="Slug of a task: only workers banned from it."
    )
    excluded = Choice(["yes", "no"], required=False)


@operation("List workers under their pseudonyms")
class WorkerList(StaffView, ListView):
    query_class = WorkerQuery
    filters = {"platform": "platform"}
    staff_permission = Staff.SEE_WORKERS
    serializer_class = WorkerSerializer
    queryset = Worker.objects.annotate(
        n_handed_in=Count("assignments", filter=Q(assignments__state__in=_HANDED_IN)),
        n_rejected=Count(
            "assignments", filter=Q(assignments__state=Assignment.State.REJECTED)
        ),
    ).order_by("pk")

    def get_queryset(self) -> Any:
        rows = super().get_queryset()
        if platform := self.query.get("platform"):
            one_of("platform", platform, list(all_platforms()))
        if task := self.query.get("banned_from"):
            # a filter discloses as much as a field: listed workers are banned
            if not staff_may(self.request.user, Staff.SEE_BANS):
                raise PermissionDenied(
                    f"banned_from also requires the permission {Staff.SEE_BANS}."
                )
            banned = Ban.in_force.filter(pool=task.slug)
            rows = rows.filter(pk__in=banned.values("worker"))
        if excluded := self.query.get("excluded"):
            rows = rows.filter(excluded=excluded == "yes")
        return rows

    def paginate_queryset(self, queryset: Any) -> Any:
        page: Any = super().paginate_queryset(queryset)
        bans: dict[int, list[str]] = {}
        current_bans = Ban.in_force.filter(worker__in=page)
        for worker_id, pool in current_bans.order_by("pool_id").values_list(
            "worker_id", "pool"
        ):
            bans.setdefault(worker_id, []).append(pool)
        sees_bans = staff_may(self.request.user, Staff.SEE_BANS)
        for worker in page:
            worker.banned_from = bans.get(worker.pk, []) if sees_bans else None
        return page


class BanQuery(OfTaskQuery):
    in_force = Choice(
        ["yes", "no"],
        required=False,
        help_text="yes: only bans that have not been lifted.",
    )


@operation("List bans with their evidence, newest first")
class BanList(OfTaskView, ListView):
    query_class = BanQuery
    pagination_class = Growing
    staff_permission = Staff.SEE_BANS
    serializer_class = BanSerializer
    queryset = Ban.objects.select_related("worker", "verdict").order_by("-pk")

    def get_queryset(self) -> Any:
        rows = super().get_queryset()
        in_force = self.query.get("in_force") == "yes"
        return rows.filter(state=Ban.State.IN_FORCE) if in_force else rows


# Decisions of staff over the API: the cost, and the actions of the admin's buttons.
#
# An approval repeats the cost to the cent, so that staff approve the amount they saw.
State = HumanEvaluation.State
APPROVE, DECLINE, STOP = "approve", "decline", "stop"
_TOO_EARLY = {APPROVE: "not-approvable", DECLINE: "not-declinable", STOP: "not-running"}
POSSIBLE: dict[str, list[str]] = {
    State.REQUESTED: [APPROVE, DECLINE],
    State.DECLINED: [APPROVE],
    State.APPROVED: [STOP],
    State.ANNOTATING: [STOP],
    State.ANNOTATED: [STOP],
}


class CostLineSerializer(serializers.Serializer[Any]):
    label = serializers.CharField()  # type: ignore[assignment]
    n = serializers.IntegerField()
    unit_cents = serializers.IntegerField()
    cents = serializers.IntegerField()


class DecisionSerializer(serializers.Serializer[Any]):
    """What can be decided now, and what it costs."""

    id = serializers.IntegerField()
    task = serializers.CharField()
    state = serializers.CharField()
    possible = serializers.ListField(
        child=serializers.CharField(),
        help_text="Of approve, decline and stop, what can be done in this state.",
    )
    cost_cents = serializers.IntegerField(
        allow_null=True,
        help_text="Repeat it to approve. Null if there is nothing to approve, or if "
        "`trouble` explains the obstacle.",
    )
    cost_lines = CostLineSerializer(many=True)
    budget_left_cents = serializers.IntegerField()
    approved_cents = serializers.IntegerField(allow_null=True)
    trouble = serializers.CharField(help_text="Why it has no price; usually empty.")

    def to_representation(self, subject: Any) -> Any:
        return super().to_representation(_state_of(subject))


class NewDecisionSerializer(Body):
    decision = serializers.ChoiceField(choices=[APPROVE, DECLINE, STOP])
    cost_cents = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=LARGEST,
        help_text="Required to approve: the cost that you have seen. If the cost has "
        "changed, the request fails (`cost-moved`).",
    )
    reason = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=1000,
        help_text="Shown to who asked; required to decline and to stop.",
    )
    start_now = serializers.BooleanField(
        default=False, help_text="Do not wait for the next scheduled start."
    )
    despite = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=500,
        help_text="Reason to start even though test questions stand out; for staff only.",
    )
    publish = serializers.BooleanField(
        default=False, help_text="On stopping a submission: publish the partial result."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["decision"] == APPROVE and "cost_cents" not in attrs:
            raise ValidationError(
                {"cost_cents": "Repeat the cost in cents to approve it."}
            )
        return attrs


class DecisionView(DetailView):
    """The admin's permission, on the site or on the task."""

    permission_classes = [IsStaff]
    scope = AccessToken.Scope.STAFF
    staff_permission = decide.MAY_DECIDE
    of_tasks = True
    serializer_class = DecisionSerializer
    body_class = NewDecisionSerializer
    to_task = "task__slug"

    def get_queryset(self) -> Any:
        rows: Any = super().get_queryset()
        return limit_to_tasks(rows, self.request.user, decide.MAY_DECIDE, self.to_task)

    def post(self, request: Request, pk: int) -> Response:
        subject, wish = self.get_object(), self.body()
        by = cast("Account", request.user)
        evaluation = decide.require_evaluation(subject, _TOO_EARLY[wish["decision"]])
        if wish["decision"] == APPROVE:
            decide.prepare(evaluation)
        with transaction.atomic():
            done = f"{_decide(evaluation, wish, by)}, by program."
            note(by, subject, done, wish.get("reason", ""))
        return self.retrieve(request)


def _decide(evaluation: HumanEvaluation, wish: dict[str, Any], by: Account) -> str:
    reason = wish.get("reason", "")
    if wish["decision"] == DECLINE:
        decide.decline(evaluation, by=by, reason=reason)
        return "Declined"
    if wish["decision"] == STOP:
        decide.stop(evaluation, by=by, reason=reason, publish=wish["publish"] or None)
        return "Stopped"
    decide.approve(
        evaluation,
        by=by,
        reason=reason,
        start_now=wish["start_now"],
        despite=wish.get("despite", ""),
        cost_cents=wish["cost_cents"],
    )
    return f"Approved up to ${wish['cost_cents'] / 100:,.2f}"


def _state_of(subject: Any) -> dict[str, Any]:
    evaluation = decide.evaluation_about(subject)
    possible = POSSIBLE.get(evaluation.state, []) if evaluation else []
    quote, trouble = None, ""
    if evaluation is not None and APPROVE in possible:
        try:
            quote = decide.quote(evaluation)
        except GenieError as error:
            trouble = error.message
    return {
        "id": subject.pk,
        "task": subject.task.slug,
        "state": evaluation.state if evaluation else subject.state,
        "possible": possible,
        "cost_cents": quote and quote.total_cents,
        "cost_lines": quote.lines if quote else [],
        "budget_left_cents": budget_left(subject.task.slug),
        "approved_cents": evaluation.approved_cents if evaluation else None,
        "trouble": trouble,
    }


_REFUSED = (
    *("reason-missing", "cost-moved", "over-budget", "tests-stand-out"),
    *("tests-not-measured", "not-approvable", "not-declinable", "not-running"),
    *("decided-meanwhile", "nothing-to-publish"),
)


def _describe(of: str, name: str) -> Callable[[Any], Any]:
    read = operation(f"Show what can be decided on {of}, and what it costs")
    write = operation(
        f"Approve the cost of {of}, decline or stop it",
        f"For staff with the permission {decide.MAY_DECIDE}. To approve, repeat "
        "`cost_cents`.",
        *_REFUSED,
        method="post",
        operation_id=f"{name}_decide",
    )
    return lambda view: read(write(view))


@_describe("a submission", "submissions")
class SubmissionDecision(DecisionView):
    queryset = Submission.objects.all()


@_describe("a comparison", "comparisons")
class ComparisonDecision(DecisionView):
    queryset = Comparison.objects.all()


@_describe("a joint evaluation", "joint_evaluations")
class JointDecision(DecisionView):
    queryset = JointEvaluation.objects.all()
