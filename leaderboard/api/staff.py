"""What staff read by program: campaigns, workers under their pseudonyms, bans."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q
from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from crowd.models import Assignment, Campaign, Worker
from crowd.selectors.progress import progress_of
from genie.accounts.models import AccessToken
from genie.accounts.permissions import IsStaff
from genie.accounts.staff import staff_may
from genie.lib.errors import GenieError
from leaderboard.api.base import View, plain, problems
from leaderboard.api.staff_serializers import (
    BanSerializer,
    CampaignSerializer,
    WorkerSerializer,
)
from leaderboard.selectors.sight import Staff
from quality.models import Ban

_REFUSALS = ("not-authenticated", "permission-denied")
_TASK = OpenApiParameter("task", OpenApiTypes.STR, description="Slug of a task.")
_HANDED_IN = [
    Assignment.State.SUBMITTED,
    Assignment.State.APPROVED,
    Assignment.State.REJECTED,
]


class StaffView(View):
    permission_classes = [IsStaff]
    scope = AccessToken.Scope.STAFF
    staff_permission: Staff


def _with_progress(campaigns: list[Campaign]) -> list[Any]:
    found = progress_of(campaigns)
    for campaign in campaigns:
        campaign.progress = found[campaign.pk]  # type: ignore[attr-defined]
    return campaigns


class CampaignList(StaffView):
    staff_permission = Staff.SEE_CAMPAIGNS
    queryset = Campaign.objects.select_related("hit_type").order_by("-pk")
    serializer_class = CampaignSerializer

    @extend_schema(
        tags=["staff"],
        operation_id="campaigns_list",
        summary="List campaigns with progress and money, newest first",
        parameters=[
            _TASK,
            OpenApiParameter(
                "state", OpenApiTypes.STR, enum=list(Campaign.State.values)
            ),
        ],
        responses={
            200: CampaignSerializer(many=True),
            **problems(*_REFUSALS, "bad-page", "invalid"),
        },
    )
    def get(self, request: Request) -> Response:
        rows = self.get_queryset()
        if task := plain(request, "task"):
            rows = rows.filter(pool=task)
        if state := plain(request, "state"):
            if state not in Campaign.State.values:
                raise GenieError(
                    f"state must be one of {', '.join(Campaign.State.values)}.",
                    code="invalid",
                )
            rows = rows.filter(state=state)
        page: Any = _with_progress(list(self.paginate_queryset(rows) or []))
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class CampaignDetail(StaffView):
    staff_permission = Staff.SEE_CAMPAIGNS
    queryset = Campaign.objects.select_related("hit_type")
    serializer_class = CampaignSerializer

    @extend_schema(
        tags=["staff"],
        operation_id="campaigns_retrieve",
        summary="Say how one campaign stands",
        responses={200: CampaignSerializer, **problems(*_REFUSALS, "not-found")},
    )
    def get(self, request: Request, pk: int) -> Response:
        found = self.get_queryset().filter(pk=pk).first()
        if found is None:
            raise Http404
        return Response(self.get_serializer(_with_progress([found])[0]).data)


class WorkerList(StaffView):
    staff_permission = Staff.SEE_WORKERS
    serializer_class = WorkerSerializer
    queryset = Worker.objects.none()

    @extend_schema(
        tags=["staff"],
        operation_id="workers_list",
        summary="List workers under their pseudonyms",
        parameters=[
            OpenApiParameter("platform", OpenApiTypes.STR),
            OpenApiParameter(
                "banned_from",
                OpenApiTypes.STR,
                description="Slug of a task: only those whom a ban keeps from it.",
            ),
            OpenApiParameter("excluded", OpenApiTypes.STR, enum=["yes", "no"]),
        ],
        responses={
            200: WorkerSerializer(many=True),
            **problems(*_REFUSALS, "bad-page"),
        },
    )
    def get(self, request: Request) -> Response:
        handed_in = Q(assignments__state__in=_HANDED_IN)
        rejected = Q(assignments__state=Assignment.State.REJECTED)
        rows = Worker.objects.annotate(
            n_handed_in=Count("assignments", filter=handed_in),
            n_rejected=Count("assignments", filter=rejected),
        ).order_by("pk")
        if platform := plain(request, "platform"):
            rows = rows.filter(platform=platform)
        sees_bans = staff_may(request.user, Staff.SEE_BANS)
        if task := plain(request, "banned_from"):
            if not sees_bans:
                raise PermissionDenied(
                    f"banned_from takes the permission {Staff.SEE_BANS}, too."
                )
            banned = Ban.objects.filter(pool=task, lifted_at=None)
            rows = rows.filter(pk__in=banned.values("worker"))
        if (excluded := plain(request, "excluded")) in {"yes", "no"}:
            rows = rows.filter(excluded=excluded == "yes")
        page: Any = list(self.paginate_queryset(rows) or [])
        bans: dict[int, list[str]] = {}
        found = Ban.objects.filter(worker__in=page, lifted_at=None).order_by("pool")
        for worker_id, pool in found.values_list("worker_id", "pool"):
            bans.setdefault(worker_id, []).append(pool)
        for worker in page:
            worker.banned_from = bans.get(worker.pk, []) if sees_bans else None
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class BanList(StaffView):
    staff_permission = Staff.SEE_BANS
    serializer_class = BanSerializer
    queryset = Ban.objects.none()

    @extend_schema(
        tags=["staff"],
        operation_id="bans_list",
        summary="List bans with what they rest on, newest first",
        parameters=[
            _TASK,
            OpenApiParameter(
                "in_force",
                OpenApiTypes.STR,
                enum=["yes", "no"],
                description="yes: only those that have not been lifted.",
            ),
        ],
        responses={200: BanSerializer(many=True), **problems(*_REFUSALS, "bad-page")},
    )
    def get(self, request: Request) -> Response:
        rows = Ban.objects.select_related("worker", "verdict").order_by("-pk")
        if task := plain(request, "task"):
            rows = rows.filter(pool=task)
        if plain(request, "in_force") == "yes":
            rows = rows.filter(lifted_at=None)
        page: Any = self.paginate_queryset(rows)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)
