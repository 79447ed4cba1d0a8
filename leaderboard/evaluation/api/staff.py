"""Data for staff: campaigns, workers under their pseudonyms, bans."""

from typing import Any

from django.db.models import Count, Q
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from crowd.hits.models import Assignment, Campaign
from crowd.hits.selectors import progress_of
from crowd.platforms.base import all_platforms
from crowd.workers.models.worker import Worker
from genie.accounts.models import AccessToken
from genie.accounts.permissions import IsStaff
from genie.accounts.staff import narrowed, staff_may
from leaderboard.api.base import View, problems
from leaderboard.api.pagination import Growing
from leaderboard.api.query import (
    Choice,
    OfTaskQuery,
    PageQuery,
    TaskField,
    one_of,
)
from leaderboard.submissions.selectors import Staff
from quality.detection.models import Ban


class CampaignSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="pk")
    key = serializers.CharField(help_text="Key of what the campaign is for.")
    title = serializers.CharField()
    task = serializers.CharField(source="pool")
    platform = serializers.CharField()
    state = serializers.ChoiceField(choices=Campaign.State.choices)
    simulated = serializers.BooleanField()
    notice = serializers.CharField(help_text="Notice for staff; often empty.")
    starts_at = serializers.DateTimeField()
    created_at = serializers.DateTimeField()
    completed_at = serializers.DateTimeField(allow_null=True)
    reward_cents = serializers.IntegerField(source="hit_type.reward_cents")
    n_hits = serializers.IntegerField(source="progress.n_hits")
    n_done = serializers.IntegerField(source="progress.n_done")
    n_open = serializers.IntegerField(source="progress.n_open")
    spent_cents = serializers.IntegerField(source="progress.spent_cents")
    committed_cents = serializers.IntegerField(source="progress.committed_cents")
    budget_cents = serializers.IntegerField()
    hourly_cents = serializers.IntegerField(
        source="progress.hourly_cents",
        allow_null=True,
        help_text="Median; human workers only.",
    )


class WorkerSerializer(serializers.Serializer[Any]):
    pseudonym = serializers.CharField()
    platform = serializers.CharField()
    simulated = serializers.BooleanField()
    excluded = serializers.BooleanField(help_text="Excluded from all tasks.")
    created_at = serializers.DateTimeField()
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


class BanSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="pk")
    worker = serializers.CharField(source="worker.pseudonym")
    task = serializers.CharField(source="pool")
    reason = serializers.CharField()
    by_detector = serializers.SerializerMethodField()
    p_noisy = serializers.FloatField(
        source="verdict.p_noisy", default=None, allow_null=True
    )
    created_at = serializers.DateTimeField()
    lifted_at = serializers.DateTimeField(allow_null=True)
    lifted_reason = serializers.CharField()

    def get_by_detector(self, ban: Any) -> bool:
        return ban.created_by_id is None


_REFUSALS = ("not-authenticated", "permission-denied")
_HANDED_IN = [
    Assignment.State.SUBMITTED,
    Assignment.State.APPROVED,
    Assignment.State.REJECTED,
]


class StaffView(View):
    permission_classes = [IsStaff]
    scope = AccessToken.Scope.STAFF
    staff_permission: Staff


class OfTaskView(StaffView):
    """Rows of tasks: who has roles on some tasks only gets those of these tasks."""

    of_tasks = True

    def get_queryset(self) -> Any:
        rows = super().get_queryset()
        return narrowed(rows, self.request.user, self.staff_permission, "pool")


def _with_progress(campaigns: list[Campaign]) -> list[Any]:
    progress_by_campaign = progress_of(campaigns)
    for campaign in campaigns:
        campaign.progress = progress_by_campaign[campaign.pk]  # type: ignore[attr-defined]
    return campaigns


class CampaignQuery(OfTaskQuery):
    state = Choice(Campaign.State.values, required=False)


class CampaignList(OfTaskView):
    query_class = CampaignQuery
    pagination_class = Growing
    staff_permission = Staff.SEE_CAMPAIGNS
    queryset = Campaign.objects.select_related("hit_type").order_by("-pk")
    serializer_class = CampaignSerializer

    @extend_schema(
        tags=["staff"],
        operation_id="campaigns_list",
        summary="List campaigns with progress and cost, newest first",
        responses={
            200: CampaignSerializer(many=True),
            **problems(*_REFUSALS, "not-found", "unknown-task"),
        },
    )
    def get(self, request: Request) -> Response:
        rows = self.get_queryset()
        if task := self.query.get("task"):
            rows = rows.filter(pool=task.slug)
        if state := self.query.get("state"):
            rows = rows.filter(state=state)
        page: Any = _with_progress(list(self.paginate_queryset(rows) or []))
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class CampaignDetail(OfTaskView):
    staff_permission = Staff.SEE_CAMPAIGNS
    queryset = Campaign.objects.select_related("hit_type")
    serializer_class = CampaignSerializer

    @extend_schema(
        tags=["staff"],
        operation_id="campaigns_retrieve",
        summary="Show one campaign",
        responses={200: CampaignSerializer, **problems(*_REFUSALS, "not-found")},
    )
    def get(self, request: Request, pk: int) -> Response:
        campaign = self.get_queryset().filter(pk=pk).first()
        if campaign is None:
            raise Http404
        return Response(self.get_serializer(_with_progress([campaign])[0]).data)


class WorkerQuery(PageQuery):
    platform = serializers.CharField(
        required=False, help_text="Such as selfhosted, mturk or prolific."
    )
    banned_from = TaskField(
        required=False,
        help_text="Slug of a task: only workers banned from it.",
    )
    excluded = Choice(["yes", "no"], required=False)


class WorkerList(StaffView):
    query_class = WorkerQuery
    staff_permission = Staff.SEE_WORKERS
    serializer_class = WorkerSerializer
    queryset = Worker.objects.none()

    @extend_schema(
        tags=["staff"],
        operation_id="workers_list",
        summary="List workers under their pseudonyms",
        responses={
            200: WorkerSerializer(many=True),
            **problems(*_REFUSALS, "not-found", "unknown-task"),
        },
    )
    def get(self, request: Request) -> Response:
        handed_in = Q(assignments__state__in=_HANDED_IN)
        rejected = Q(assignments__state=Assignment.State.REJECTED)
        rows = Worker.objects.annotate(
            n_handed_in=Count("assignments", filter=handed_in),
            n_rejected=Count("assignments", filter=rejected),
        ).order_by("pk")
        if platform := self.query.get("platform"):
            one_of("platform", platform, list(all_platforms()))
            rows = rows.filter(platform=platform)
        sees_bans = staff_may(request.user, Staff.SEE_BANS)
        if task := self.query.get("banned_from"):
            # a filter discloses as much as a field: listed workers are banned
            if not sees_bans:
                raise PermissionDenied(
                    f"banned_from also requires the permission {Staff.SEE_BANS}."
                )
            banned = Ban.objects.filter(pool=task.slug, lifted_at=None)
            rows = rows.filter(pk__in=banned.values("worker"))
        if excluded := self.query.get("excluded"):
            rows = rows.filter(excluded=excluded == "yes")
        page: Any = list(self.paginate_queryset(rows) or [])
        bans: dict[int, list[str]] = {}
        current_bans = Ban.objects.filter(worker__in=page, lifted_at=None).order_by(
            "pool"
        )
        for worker_id, pool in current_bans.values_list("worker_id", "pool"):
            bans.setdefault(worker_id, []).append(pool)
        for worker in page:
            worker.banned_from = bans.get(worker.pk, []) if sees_bans else None
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class BanQuery(OfTaskQuery):
    in_force = Choice(
        ["yes", "no"],
        required=False,
        help_text="yes: only bans that have not been lifted.",
    )


class BanList(OfTaskView):
    query_class = BanQuery
    pagination_class = Growing
    staff_permission = Staff.SEE_BANS
    serializer_class = BanSerializer
    queryset = Ban.objects.select_related("worker", "verdict").order_by("-pk")

    @extend_schema(
        tags=["staff"],
        operation_id="bans_list",
        summary="List bans with their evidence, newest first",
        responses={
            200: BanSerializer(many=True),
            **problems(*_REFUSALS, "not-found", "unknown-task"),
        },
    )
    def get(self, request: Request) -> Response:
        rows = self.get_queryset()
        if task := self.query.get("task"):
            rows = rows.filter(pool=task.slug)
        if self.query.get("in_force") == "yes":
            rows = rows.filter(lifted_at=None)
        page: Any = self.paginate_queryset(rows)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)
