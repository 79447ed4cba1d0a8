"""Data for staff: campaigns, workers under their pseudonyms, bans."""

from typing import Any

from django.db.models import Count, Q
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied

from crowd.hits.models import Assignment, Campaign
from crowd.hits.selectors import progress_of
from crowd.platforms.base import all_platforms
from crowd.workers.models.worker import Worker
from genie.accounts.models import AccessToken
from genie.accounts.permissions import IsStaff
from genie.accounts.staff import narrowed, staff_may
from leaderboard.api.base import DetailView, ListView, View, operation
from leaderboard.api.pagination import Growing
from leaderboard.api.query import (
    Choice,
    OfTaskQuery,
    PageQuery,
    TaskField,
    one_of,
)
from leaderboard.api.records import Record
from leaderboard.submissions.selectors import Staff
from quality.detection.models import Ban

_HANDED_IN = [
    Assignment.State.SUBMITTED,
    Assignment.State.APPROVED,
    Assignment.State.REJECTED,
]


class CampaignSerializer(Record):
    record = Campaign
    shown = (
        "id key title task=pool platform state simulated notice starts_at created_at "
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
        "id worker=worker.pseudonym task=pool reason by_detector p_noisy created_at "
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
        return narrowed(rows, self.request.user, self.staff_permission, "pool")

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
        required=False,
        help_text="Slug of a task: only workers banned from it.",
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
            banned = Ban.objects.filter(pool=task.slug, lifted_at=None)
            rows = rows.filter(pk__in=banned.values("worker"))
        if excluded := self.query.get("excluded"):
            rows = rows.filter(excluded=excluded == "yes")
        return rows

    def paginate_queryset(self, queryset: Any) -> Any:
        page: Any = super().paginate_queryset(queryset)
        bans: dict[int, list[str]] = {}
        current_bans = Ban.objects.filter(worker__in=page, lifted_at=None)
        for worker_id, pool in current_bans.order_by("pool").values_list(
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
        return rows.filter(lifted_at=None) if in_force else rows
