from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Max, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path

from crowd.hits.models import Assignment, Pool
from crowd.workers.models.worker import Worker
from genie.accounts import reads
from genie.accounts.task_admin import BY_TASK, OfTask
from genie.lib.admin import COUNTED, ReadOnlyAdmin
from genie.lib.serving.pages import page_of
from genie.lib.staff_actions import Action, Line
from quality.bans.models import Ban
from quality.detection.models import DetectorFit, Standing, Verdict
from quality.detection.services.assess_pool import restore
from quality.test_questions.models import Grade, Polarity, RetiredQuestion
from quality.test_questions.selectors import MOST, graded_answers, shown_fields

if TYPE_CHECKING:
    from django.db.models import QuerySet


# Admin pages for retired test questions, which staff can restore.
@admin.register(RetiredQuestion)
class RetiredQuestionAdmin(OfTask, ReadOnlyAdmin):
    pool_paths = ("campaign__pool_id",)
    shows_outputs = True
    list_display = [
        "__str__",
        "campaign__pool",
        "polarity",
        "question_shown",
        "retired_because",
        "retired_at",
        "restored_at",
    ]
    list_filter = ["polarity", "campaign__pool"]
    list_select_related = ["item", "campaign"]
    fields = [
        "polarity",
        "retired_by_fit",
        "retired_because",
        "restored_at",
        "restored_by",
        "restored_reason",
    ]
    actions = [
        Action(
            "restore_selected",
            "Restore the selected test questions, with a reason",
            title="Restore test questions",
            sentence=(
                "The answers to these test questions count again, and they will not be "
                "retired a second time."
            ),
            button="Restore",
            allowed=Q(restored_at=None),
            otherwise="All of these have already been restored.",
            service=lambda question, by, reason: restore(
                question.pk, by=by, reason=reason
            ),
            history="Restored: {reason}",
            done="Restored: {n}.",
        )
    ]

    @admin.display(description="what it shows")
    def question_shown(self, question: RetiredQuestion) -> str:
        fields = shown_fields(question.item.data)
        return " / ".join(f"{label}: {text}" for label, text in fields)

    def line_of(self, question: RetiredQuestion) -> Line:
        return Line(question.pk, str(question), question.retired_because)


# Admin pages for fits of the detector and their verdicts on workers.


@admin.register(DetectorFit)
class DetectorFitAdmin(OfTask, ReadOnlyAdmin):
    list_display = ["pool", "polarity", "detector", "n_workers", "created_at"]
    list_filter = [BY_TASK, "polarity", "detector"]


@admin.register(Verdict)
class VerdictAdmin(OfTask, ReadOnlyAdmin):
    pool_paths = ("fit__pool_id",)
    list_display = [
        "worker",
        "fit__pool",
        "polarity",
        "right",
        "wrong",
        "p",
        "noisy",
        "fit__created_at",
    ]
    list_filter = ["noisy", "fit__polarity", "fit__pool", "fit__detector"]
    list_select_related = ["worker", "fit"]
    search_fields = ["worker__pseudonym"]
    ordering = ["-fit", "-p_noisy"]

    @admin.display(description="polarity", ordering="fit__polarity")
    def polarity(self, verdict: Verdict) -> str:
        return verdict.fit.polarity.lower()

    @admin.display(description="right", ordering="n_correct")
    def right(self, verdict: Verdict) -> int:
        return verdict.n_correct

    @admin.display(description="wrong")
    def wrong(self, verdict: Verdict) -> int:
        return verdict.n_questions - verdict.n_correct

    @admin.display(description="P(noisy)", ordering="p_noisy")
    def p(self, verdict: Verdict) -> str:
        return f"{verdict.p_noisy:.4f}"


# Admin pages for workers and their test questions, by task and polarity.
PER_PAGE = 100
POOL = "hit__campaign__pool_id"
SENT_IN = (
    Assignment.State.SUBMITTED,
    Assignment.State.APPROVED,
    Assignment.State.REJECTED,
)


@dataclass(frozen=True)
class Tally:
    """Test questions of one polarity, and the verdict of the newest fit."""

    polarity: str
    right: int
    n_asked: int
    verdict: Verdict | None

    @property
    def wrong(self) -> int:
        return self.n_asked - self.right


@dataclass(frozen=True)
class Record:
    worker: Worker
    # none for an appeal that concerns no task
    pool: Pool | None
    # submitted HITs
    n_answered: int
    tallies: list[Tally]
    ban: Ban | None
    # how much their answers count, in later campaigns, too
    weight: float | None


@admin.register(Grade)
class GradeAdmin(OfTask, ReadOnlyAdmin):
    """The list shows workers, not single answers, which are on a worker's page."""

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
        seen = self.pools_seen(request)
        pools = Pool.objects.filter(campaign__isnull=False).distinct()
        answered = answered_by(seen)
        pool, name = request.GET.get("pool", ""), request.GET.get("q", "").strip()
        # Sorting the workers of all tasks would add up every answer.
        many = answered.order_by()[: COUNTED + 1].count() > COUNTED
        if many and not pool and not name:
            pool = answered.latest("pk").hit.campaign.pool_id
        page = page_of(_pairs(answered, pool, name), PER_PAGE, request.GET.get("p"))
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "Workers, their answers and test questions",
            "pools": pools if seen is None else pools.filter(pk__in=seen),
            "pool": pool,
            "many": many,
            "q": name,
            "page": page,
            "records": records(page.object_list),
        }
        return TemplateResponse(request, "admin/quality/grade/workers.html", context)

    def worker_page(self, request: HttpRequest, pk: int) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        worker = Worker.objects.filter(pk=pk).first()
        if worker is None:
            raise Http404
        seen = self.pools_seen(request)
        bans = Ban.objects.filter(worker=worker).prefetch_related("created_by", "pool")
        answered = answered_by(seen).filter(worker=worker)
        if seen is not None and not answered.exists():
            raise Http404
        # answers are shown with the rated texts
        reads.record(request, worker, reads.Way.ADMIN)
        pools = answered.values_list("worker", POOL)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"Worker {worker}",
            "worker": worker,
            "records": records(pools.order_by(POOL).distinct()),
            "bans": bans if seen is None else bans.filter(pool__in=seen),
            "answers": graded_answers(worker, seen),
            "sees_all": seen is None,
            "n_answers": MOST,
        }
        return TemplateResponse(request, "admin/quality/grade/worker.html", context)


def answered_by(pools: Collection[str] | None) -> QuerySet[Assignment]:
    # imported work may have no submission time
    sent_in = Assignment.objects.filter(state__in=SENT_IN)
    return sent_in if pools is None else sent_in.filter(**{f"{POOL}__in": pools})


def _pairs(
    answered: QuerySet[Assignment], pool: str, name: str
) -> QuerySet[Assignment, tuple[int, str]]:
    """List (worker, pool) of all who answered, most wrong test questions first."""
    condition = Q()
    if pool:
        condition &= Q(**{POOL: pool})
    if name:
        condition &= Q(worker__pseudonym__icontains=name)
    wrong = Grade.objects.filter(
        worker=OuterRef("worker"), pool=OuterRef(POOL), correct=False
    )
    n_wrong = wrong.order_by().values("worker").annotate(n=Count("pk")).values("n")
    found: QuerySet[Assignment, tuple[int, str]] = (
        answered.filter(condition)
        .order_by()
        .values("worker", POOL)
        .distinct()
        .annotate(n_wrong=Coalesce(Subquery(n_wrong), 0))
        .order_by("-n_wrong", "worker", POOL)
        .values_list("worker", POOL)
    )
    return found


def records(pairs: Iterable[tuple[int, str]]) -> list[Record]:
    """Return the records of workers in pools, in eight queries for any number of them."""
    listed = list(pairs)
    worker_pks = {worker for worker, _ in listed}
    workers = Worker.objects.select_related("user").in_bulk(worker_pks)
    answers = answered_by({pool for _, pool in listed}).filter(worker__in=worker_pks)
    sums = answers.order_by().values_list("worker", POOL).annotate(n=Count("pk"))
    n_answered = {(worker, pool): n for worker, pool, n in sums}
    counts = _counts(worker_pks)
    verdicts = _newest_verdicts(worker_pks)
    bans = {
        (ban.worker_id, ban.pool_id): ban
        for ban in Ban.in_force.filter(worker__in=worker_pks)
    }
    standings = Standing.objects.filter(worker__in=worker_pks)
    weights = {(row.worker_id, row.pool_id): row.weight for row in standings}
    pools = Pool.objects.in_bulk({pool for _, pool in listed})
    return [
        Record(
            worker=workers[worker],
            pool=pools.get(pool),
            n_answered=n_answered.get((worker, pool), 0),
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
            weight=weights.get((worker, pool)),
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
    if of_polarity is None or of_all is None:
        return of_polarity or of_all
    return max(of_polarity, of_all, key=lambda verdict: verdict.pk)


def _newest_verdicts(worker_pks: set[int]) -> dict[tuple[int, str, str], Verdict]:
    """Return the verdicts of each worker's newest fit, by (worker, pool, polarity)."""
    newest = (
        Verdict.objects.filter(worker__in=worker_pks)
        .order_by()
        .values("worker", "fit__pool", "fit__polarity")
        .annotate(newest=Max("pk"))
        .values_list("newest", flat=True)
    )
    rows = Verdict.objects.filter(pk__in=list(newest)).select_related("fit")
    return {(row.worker_id, row.fit.pool_id, row.fit.polarity): row for row in rows}
