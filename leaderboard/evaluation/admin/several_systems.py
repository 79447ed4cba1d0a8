from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.html import format_html

from crowd.workers.models.worker import Worker
from genie.accounts.task_admin import OfTask
from genie.lib.admin import ReadOnlyAdmin
from leaderboard.evaluation.admin.decisions import (
    DecisionAdmin,
    links_to_campaigns,
    page_of,
)
from leaderboard.evaluation.admin.submission import HasFailed
from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.models.human_evaluation import (
    HumanEvaluation,
    JointEvaluation,
)
from leaderboard.evaluation.selectors.authenticity import worker_evidence
from quality.authenticity.evidence import summary

if TYPE_CHECKING:
    from django.contrib.admin import AdminSite
    from django.db.models import QuerySet
    from django.urls import URLPattern


# A page with all evidence about a worker; it decides nothing.


def evidence_page(site: AdminSite, request: HttpRequest, pk: int) -> HttpResponse:
    if not request.user.has_perm("quality.view_grade"):
        raise PermissionDenied
    worker = get_object_or_404(Worker, pk=pk)
    evidence = worker_evidence(worker)
    context = {
        **site.each_context(request),
        "opts": HumanEvaluation._meta,
        "title": f"Evidence about {worker}",
        "worker": worker,
        "evidence": evidence,
        "summary": summary(evidence),
    }
    return TemplateResponse(request, "admin/leaderboard/worker_evidence.html", context)


class SeveralSystemsAdmin(DecisionAdmin):
    readonly_fields = [
        *("task", "state", "cost", "requested_by", "reason", "failure", "campaigns")
    ]

    @admin.display(description="reason for the decision")
    def reason(self, row: Any) -> str:
        return str(row.decision_reason)


_OF_JOINT = ("criteria", "n_asked", "n_workers", "per_page", "results")


@admin.register(Comparison)
class ComparisonAdmin(SeveralSystemsAdmin):
    list_display = [
        "__str__",
        "task",
        "state",
        "better",
        "n_labels",
        "asked_how",
        "cost",
        "failure",
    ]
    list_filter = ["state", HasFailed, "rule", "strategy", "simulated", "task"]
    list_select_related = ["task", "requested_by", "a", "b"]
    fields = [
        *("evaluation", "criterion", "a", "b", "within", "delta", "rule", "strategy"),
        *("n_workers", "wave_size", "max_pairs", "n_waves", "better", "n_labels"),
        *("result", *SeveralSystemsAdmin.readonly_fields),
    ]
    search_fields = ["a__system_name", "b__system_name"]

    @admin.display(description="rule, error probability, strategy", ordering="rule")
    def asked_how(self, row: Comparison) -> str:
        return f"{row.rule}, {row.delta:g}, {row.get_strategy_display()}"


@admin.register(JointEvaluation)
class JointEvaluationAdmin(SeveralSystemsAdmin):
    list_display = [
        "__str__",
        "task",
        "state",
        "n_asked",
        "n_workers",
        "per_page",
        "cost",
        "failure",
    ]
    fields = [*_OF_JOINT, *SeveralSystemsAdmin.readonly_fields]
    list_filter = ["state", HasFailed, "simulated", "task"]
    list_select_related = ["task", "requested_by"]
    search_fields = ["systems__submission__system_name"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[JointEvaluation]:
        rows: QuerySet[JointEvaluation] = super().get_queryset(request)
        return rows.prefetch_related("systems__submission")


@admin.register(HumanEvaluation)
class HumanEvaluationAdmin(OfTask, ReadOnlyAdmin):
    pool_paths = ("task__slug",)

    def get_urls(self) -> list[URLPattern]:
        evidence = path(
            "worker/<int:pk>/",
            self.admin_site.admin_view(self.evidence_about),
            name="leaderboard_worker_evidence",
        )
        return [evidence, *super().get_urls()]

    def evidence_about(self, request: HttpRequest, pk: int) -> HttpResponse:
        return evidence_page(self.admin_site, request, pk)

    list_display_links = ["created_at"]
    list_display = [
        "about",
        "task",
        "kind",
        "state",
        "design",
        "n_instances",
        "campaigns",
        "created_at",
    ]
    list_filter = ["kind", "state", "design", "simulated", "task"]
    list_select_related = ["task", "comparison__a", "comparison__b"]
    search_fields = ["systems__submission__system_name"]
    readonly_fields = ["about", "campaigns"]
    exclude = _OF_JOINT
    ordering = ["-pk"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[HumanEvaluation]:
        rows: QuerySet[HumanEvaluation] = super().get_queryset(request)
        return rows.prefetch_related("submissions", "campaigns", "systems__submission")

    @admin.display(description="evaluates")
    def about(self, row: HumanEvaluation) -> str:
        return format_html('<a href="{}">{}</a>', page_of(row.specific.listed_as), row)

    @admin.display(description="campaigns")
    def campaigns(self, row: HumanEvaluation) -> str:
        return links_to_campaigns(row)
