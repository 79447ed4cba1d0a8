"""Workers as their test questions show them, by task and polarity."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Max, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path

from crowd.workers.models.worker import Worker
from genie.accounts import reads
from genie.accounts.task_admin import OfTask
from genie.lib.admin.lists import COUNTED
from genie.lib.admin.read_only import ReadOnlyAdmin
from genie.lib.serving.pages import page_of
from quality.detection.models import Ban, Verdict
from quality.test_questions.models import Grade, Placement, Polarity
from quality.test_questions.planted import of_worker
from quality.test_questions.selectors import MOST, graded_answers

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.urls import URLPattern

PER_PAGE = 100


@dataclass(frozen=True)
class Tally:
    """Test questions of one polarity, and what the newest fit makes of them."""

    polarity: str
    right: int
    n_asked: int
    verdict: Verdict | None

    @property
    def wrong(self) -> int:
        return self.n_asked - self.right


@dataclass(frozen=True)
class Record:
    """One worker in one pool."""

    worker: Worker
    pool: str
    tallies: list[Tally]
    ban: Ban | None


@admin.register(Grade)
class GradeAdmin(OfTask, ReadOnlyAdmin):
    """The list shows workers, not single answers: these stand on a worker's page."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        extra = [
            path(
                "worker/<int:pk>/", view(self.worker_page), name="quality_grade_worker"
            )
        ]
        return [*extra, *super().get_urls()]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        grades = self.get_queryset(request)
        pool, name = request.GET.get("pool", ""), request.GET.get("q", "").strip()
        # to put the worst of all tasks first is to add up every grade
        many = grades.order_by()[: COUNTED + 1].count() > COUNTED
        if many and not pool and not name:
            pool = grades.latest("pk").pool
        pairs = _pairs(grades, pool, name)
        page = page_of(pairs, PER_PAGE, request.GET.get("p"))
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "Workers and their test questions",
            "pools": self._pools(request),
            "pool": pool,
            "many": many,
            "q": name,
            "page": page,
            "records": records(page.object_list),
        }
        return TemplateResponse(request, "admin/quality/grade/workers.html", context)

    def _pools(self, request: HttpRequest) -> list[str]:
        """List the pools with test questions, without a look at every grade."""
        pools = set(
            Placement.objects.order_by().values_list("campaign__pool", flat=True)
        )
        seen = self.pools_seen(request)
        return sorted(pools if seen is None else pools & seen)

    def worker_page(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show one worker's test questions in all pools, answer by answer."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        worker = Worker.objects.filter(pk=pk).first()
        if worker is None:
            raise Http404
        seen = self.pools_seen(request)
        bans = Ban.objects.filter(worker=worker).select_related("created_by")
        grades = self.get_queryset(request).filter(worker=worker)
        if seen is not None and not grades.exists():
            raise Http404
        # answers are shown with the texts that they were given on
        reads.record(request, worker, reads.Way.ADMIN)
        pools = grades.values_list("worker", "pool")
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"Worker {worker}",
            "worker": worker,
            "records": records(pools.order_by("pool").distinct()),
            "bans": bans if seen is None else bans.filter(pool__in=seen),
            "answers": graded_answers(worker, seen),
            "planted": of_worker(worker, seen),
            "sees_all": seen is None,
            "n_answers": MOST,
        }
        return TemplateResponse(request, "admin/quality/grade/worker.html", context)


def _pairs(
    grades: QuerySet[Grade], pool: str, name: str
) -> QuerySet[Grade, tuple[int, str]]:
    """List worker and pool of everybody who was asked a test question, worst first."""
    condition = Q()
    if pool:
        condition &= Q(pool=pool)
    if name:
        condition &= Q(worker__pseudonym__icontains=name)
    return (
        grades.filter(condition)
        .values("worker", "pool")
        .annotate(n_wrong=Count("pk", filter=Q(correct=False)))
        .order_by("-n_wrong", "worker", "pool")
        .values_list("worker", "pool")
    )


def records(pairs: Iterable[tuple[int, str]]) -> list[Record]:
    """Gather the records of workers in pools, in five queries however many there are."""
    listed = list(pairs)
    worker_pks = {worker for worker, _ in listed}
    workers = Worker.objects.in_bulk(worker_pks)
    counts = _counts(worker_pks)
    verdicts = _newest_verdicts(worker_pks)
    bans = {
        (ban.worker_id, ban.pool): ban
        for ban in Ban.objects.filter(worker__in=worker_pks, lifted_at=None)
    }
    return [
        Record(
            worker=workers[worker],
            pool=pool,
            tallies=[
                Tally(
                    Polarity(polarity).value.lower(),
                    *counts.get((worker, pool, polarity), (0, 0)),
                    _newer(
                        verdicts.get((worker, pool, polarity)),
                        verdicts.get((worker, pool, "")),
                    ),
                )
                for polarity in Polarity.values
            ],
            ban=bans.get((worker, pool)),
        )
        for worker, pool in listed
    ]


def _counts(worker_pks: set[int]) -> dict[tuple[int, str, str], tuple[int, int]]:
    rows = (
        Grade.objects.filter(worker__in=worker_pks)
        .order_by()
        .values_list("worker", "pool", "polarity")
        .annotate(right=Count("pk", filter=Q(correct=True)), n=Count("pk"))
    )
    return {(worker, pool, side): (right, n) for worker, pool, side, right, n in rows}


def _newer(of_polarity: Verdict | None, of_all: Verdict | None) -> Verdict | None:
    """Choose between a verdict on one polarity and one on all evidence."""
    if of_polarity is None or of_all is None:
        return of_polarity or of_all
    return max(of_polarity, of_all, key=lambda verdict: verdict.pk)


def _newest_verdicts(worker_pks: set[int]) -> dict[tuple[int, str, str], Verdict]:
    """Take the verdicts of each worker's newest fit, by pool and polarity."""
    newest = (
        Verdict.objects.filter(worker__in=worker_pks)
        .order_by()
        .values("worker", "fit__pool", "fit__polarity")
        .annotate(newest=Max("pk"))
        .values_list("newest", flat=True)
    )
    rows = Verdict.objects.filter(pk__in=list(newest)).select_related("fit")
    return {(row.worker_id, row.fit.pool, row.fit.polarity): row for row in rows}
