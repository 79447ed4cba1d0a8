"""Admin pages for bans, and for exclusions that wait for a person's decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Case, Q, When
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path, reverse
from django.utils.html import format_html

from crowd.hits.models import Campaign
from crowd.workers.models.worker import Worker
from genie.accounts.staff import staff_may
from genie.accounts.task_admin import BY_TASK, OfTask
from genie.lib.admin import ReadOnlyAdmin, note, way_back
from genie.lib.errors import GenieError
from genie.lib.staff_actions import Action, Line
from quality.bans import services
from quality.bans.models import Ban, HeldExclusion
from quality.bans.services import confirm, refuse

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.urls import URLPattern
    from django.utils.safestring import SafeString

    from genie.lib.typing import Account


def impose(row: Worker, by: Account, reason: str, pool: str) -> str:
    with transaction.atomic():
        # The second of two clicks waits here and finds the ban of the first.
        worker = Worker.objects.select_for_update(of=("self",)).get(pk=row.pk)
        if Ban.in_force.filter(worker=worker, pool=pool).exists():
            raise GenieError(f"This worker is already banned from {pool}.")
        note(by, services.ban(worker, pool, by=by, reason=reason), f"Banned: {reason}")
    return f"{worker} is banned from {pool}."


IMPOSE = Action(
    "impose",
    "",
    title="Ban a worker",
    sentence=(
        "The worker gets no more work on this task, their ratings no longer count, "
        "and their HITs are reassigned as far as the campaigns' budgets allow. "
        "Submitted work stays paid. The worker reads your reason and can appeal. "
        "Published scores follow, at most once a day. Lifting the ban lets the ratings "
        "count again, at once."
    ),
    button="Ban worker",
    danger=True,
    service=impose,
)


class InForce(admin.SimpleListFilter):
    title = "in force"
    parameter_name = "in_force"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "in force"), ("no", "lifted")]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Ban]
    ) -> QuerySet[Ban] | None:
        if self.value() is None:
            return None
        return queryset.filter(state="IN_FORCE" if self.value() == "yes" else "LIFTED")


@admin.register(Ban)
class BanAdmin(OfTask, ReadOnlyAdmin):
    needs = {"impose": "quality.add_ban"}
    list_display = ["worker", "pool", "who", "reason", "created_at", "lifted_at"]
    list_filter = [InForce, BY_TASK]
    list_select_related = ["worker", "pool", "created_by"]
    search_fields = ["worker__pseudonym", "reason"]
    actions = [
        Action(
            "lift_selected",
            "Lift the selected bans, with a reason",
            title="Lift bans",
            sentence=(
                "These workers can work on the pool's HITs again, and their ratings "
                "count again, except those that others have replaced meanwhile."
            ),
            button="Lift bans",
            allowed=Q(state=Ban.State.IN_FORCE),
            otherwise="None of them is in force.",
            line=lambda ban: Line(ban.pk, str(ban), ban.reason),
            service=lambda ban, by, reason: services.lift(ban.pk, by=by, reason=reason),
            history="Ban lifted: {reason}",
            done="Bans lifted: {n}.",
            path="lift",
            on_page="Lift the ban",
        )
    ]

    @admin.display(description="banned by", empty_value="the detector")
    def who(self, ban: Ban) -> str | None:
        return ban.created_by.get_username() if ban.created_by else None

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        extra = [
            path(
                "impose/<int:worker_pk>/", view(self.impose), name="quality_ban_impose"
            )
        ]
        return [*extra, *super().get_urls()]

    def impose(self, request: HttpRequest, worker_pk: int) -> HttpResponse:
        pool = request.POST.get("pool") or request.GET.get("pool", "")
        if not staff_may(request.user, self.permission_to("impose"), pool):
            raise PermissionDenied
        worker = Worker.objects.filter(pk=worker_pk).first()
        if worker is None or not Campaign.objects.filter(pool=pool).exists():
            raise Http404
        lines = [Line(worker.pk, str(worker), pool)]
        answer = IMPOSE.ask(self, request, lines, hidden=[("pool", pool)])
        if isinstance(answer, HttpResponse):
            return answer
        IMPOSE.act(self, request, [worker], pool=pool, **answer.cleaned_data)
        page = reverse("admin:quality_grade_worker", args=[worker.pk])
        return way_back(request, page)


_DECIDED = "All of these have already been decided."


@admin.register(HeldExclusion)
class HeldExclusionAdmin(OfTask, ReadOnlyAdmin):
    list_display = [
        "worker",
        "pool",
        "why",
        "about",
        "state",
        "created_at",
    ]
    list_filter = ["state", BY_TASK]
    list_select_related = ["worker", "pool", "verdict__fit"]
    search_fields = ["worker__pseudonym"]
    # Open ones come first, the oldest on top.
    ordering = [Case(When(state=Ban.State.PROPOSED, then=0), default=1), "pk"]
    actions = [
        Action(
            "confirm_selected",
            "Exclude the selected workers, with a reason",
            title="Confirm exclusions",
            sentence=(
                "These workers get no more work in the pool, their ratings no longer "
                "count, and their HITs are reassigned as far as the campaigns' budgets "
                "allow."
            ),
            button="Exclude workers",
            danger=True,
            allowed=Q(state=Ban.State.PROPOSED),
            otherwise=_DECIDED,
            service=lambda held, by, reason: confirm(held.pk, by=by, reason=reason),
            history="Confirmed: {reason}",
            done="Confirmed: {n}.",
            path="confirm",
            on_page="Exclude",
        ),
        Action(
            "refuse_selected",
            "Keep the selected workers, with a reason",
            title="Refuse exclusions",
            sentence=(
                "These workers stay, and their ratings count. The detector will no "
                "longer exclude them automatically."
            ),
            button="Keep workers",
            allowed=Q(state=Ban.State.PROPOSED),
            otherwise=_DECIDED,
            service=lambda held, by, reason: refuse(held.pk, by=by, reason=reason),
            history="Refused: {reason}",
            done="Refused: {n}.",
            path="refuse",
            on_page="Keep",
        ),
    ]

    def line_of(self, held: HeldExclusion) -> Line:
        return Line(held.pk, str(held), held.why)

    @admin.display(description="worker’s page")
    def about(self, held: HeldExclusion) -> SafeString:
        page = reverse("admin:crowd_worker_change", args=[held.worker_id])
        return format_html('<a href="{}">work, tests and decisions</a>', page)
