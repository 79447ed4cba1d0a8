from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.html import format_html

from crowd.workers.models.worker import Worker
from genie.accounts.task_admin import OfTask
from genie.lib.admin import PlainReadOnlyAdmin as ReadOnlyAdmin
from leaderboard.evaluation.admin.decisions import (
    DecisionAdmin,
    cost_shown,
    links_to_campaigns,
    page_of,
)
from leaderboard.evaluation.admin.submission import YesNo
from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.models.joint_evaluation import JointEvaluation
from leaderboard.evaluation.selectors.authenticity import worker_evidence
from quality.authenticity.evidence import summary
from quality.bans.models import HeldExclusion
from quality.detection.admin import records
from quality.detection.models import Ban
from quality.test_questions.models import Grade

if TYPE_CHECKING:
    from django.contrib.admin import AdminSite
    from django.db.models import QuerySet
    from django.urls import URLPattern


# A page with all evidence about a worker; it decides nothing.


def evidence_page(site: AdminSite, request: HttpRequest, pk: int) -> HttpResponse:
    if not request.user.has_perm("quality.view_grade"):
        raise PermissionDenied
    worker = Worker.objects.filter(pk=pk).first()
    if worker is None:
        raise Http404
    tested = Grade.objects.filter(worker=worker).values_list("worker", "pool")
    evidence = worker_evidence(worker)
    context = {
        **site.each_context(request),
        "opts": HumanEvaluation._meta,
        "title": f"Evidence about {worker}",
        "worker": worker,
        "records": records(tested.order_by("pool_id").distinct()),
        "bans": Ban.objects.filter(worker=worker, lifted_at=None),
        "held": HeldExclusion.objects.filter(
            worker=worker, state=HeldExclusion.State.WAITING
        ).select_related("verdict__fit"),
        "evidence": evidence,
        "summary": summary(evidence),
    }
    return TemplateResponse(request, "admin/leaderboard/worker_evidence.html", context)


class HasFailed(YesNo):
    title = "failed"
    parameter_name = "failed"
    field, nothing = "evaluation__failure", ""


class SeveralSystemsAdmin(DecisionAdmin):
    readonly_fields = [
        "task",
        "state",
        "cost",
        "asked_by",
        "decision_reason",
        "failure",
        "campaigns",
    ]

    @admin.display(description="campaigns")
    def campaigns(self, row: Any) -> str:
        return links_to_campaigns(row.evaluation)

    @admin.display(description="task", ordering="evaluation__task")
    def task(self, row: Any) -> str:
        return str(row.task)

    @admin.display(description="state", ordering="evaluation__state")
    def state(self, row: Any) -> str:
        return str(row.get_state_display())

    @admin.display(description="requested by")
    def asked_by(self, row: Any) -> str:
        return str(row.evaluation.requested_by)

    @admin.display(description="failure", ordering="evaluation__failure")
    def failure(self, row: Any) -> str:
        return str(row.failure)

    @admin.display(description="reason for the decision")
    def decision_reason(self, row: Any) -> str:
        return str(row.decision_reason)

    @admin.display(description="cost")
    def cost(self, row: Any) -> str:
        return cost_shown(row)


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
    list_filter = [
        "evaluation__state",
        HasFailed,
        "rule",
        "strategy",
        "evaluation__simulated",
        "evaluation__task",
    ]
    list_select_related = ["evaluation__task", "evaluation__requested_by", "a", "b"]
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
        "n_instances",
        "n_workers",
        "per_page",
        "cost",
        "failure",
    ]
    list_filter = [
        "evaluation__state",
        HasFailed,
        "evaluation__simulated",
        "evaluation__task",
    ]
    list_select_related = ["evaluation__task", "evaluation__requested_by"]
    search_fields = ["evaluation__systems__submission__system_name"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[JointEvaluation]:
        rows: QuerySet[JointEvaluation] = super().get_queryset(request)
        return rows.prefetch_related("evaluation__systems__submission")


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
        "strategy",
        "state",
        "design",
        "n_instances",
        "campaigns",
        "created_at",
    ]
    list_filter = ["strategy", "state", "design", "simulated", "task"]
    list_select_related = [
        "task",
        "submission",
        "comparison__a",
        "comparison__b",
        "joint__evaluation__task",
    ]
    search_fields = ["systems__submission__system_name"]
    readonly_fields = ["about", "campaigns"]
    ordering = ["-pk"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[HumanEvaluation]:
        rows: QuerySet[HumanEvaluation] = super().get_queryset(request)
        return rows.prefetch_related(
            "campaigns", "joint__evaluation__systems__submission"
        )

    @admin.display(description="evaluates")
    def about(self, row: HumanEvaluation) -> str:
        return format_html('<a href="{}">{}</a>', page_of(row.subject), row.subject)

    @admin.display(description="campaigns")
    def campaigns(self, row: HumanEvaluation) -> str:
        return links_to_campaigns(row)
