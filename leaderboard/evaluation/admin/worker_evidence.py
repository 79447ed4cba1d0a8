"""A page with all evidence about a worker; it decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from crowd.workers.models.worker import Worker
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.authenticity import worker_evidence
from quality.authenticity.evidence import summary
from quality.bans.models import HeldExclusion
from quality.detection.admin.workers import records
from quality.detection.models import Ban
from quality.test_questions.models import Grade

if TYPE_CHECKING:
    from django.contrib.admin import AdminSite


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
        "records": records(tested.order_by("pool").distinct()),
        "bans": Ban.objects.filter(worker=worker, lifted_at=None),
        "held": HeldExclusion.objects.filter(
            worker=worker, state=HeldExclusion.State.WAITING
        ).select_related("verdict__fit"),
        "evidence": evidence,
        "summary": summary(evidence),
    }
    return TemplateResponse(request, "admin/leaderboard/worker_evidence.html", context)
