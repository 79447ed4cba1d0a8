"""Admin pages for bans, and for exclusions that wait for a person's decision."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import F
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils.html import format_html

from crowd.hits.models import Campaign
from crowd.workers.models.worker import Worker
from genie.accounts.staff import staff_may
from genie.accounts.task_admin import OfTask
from genie.lib.admin import Line, Question, ReasonForm, act_on_each, confirmed_form
from genie.lib.admin import PlainReadOnlyAdmin as ReadOnlyAdmin
from genie.lib.errors import GenieError
from quality.bans import services
from quality.bans.models import HeldExclusion
from quality.bans.services import confirm, refuse
from quality.detection.models import Ban

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet
    from django.urls import URLPattern
    from django.utils.safestring import SafeString

    from genie.lib.typing import Account


LIFT = Question(
    title="Lift bans",
    sentence=(
        "These workers can work on the pool's HITs again, and their ratings count "
        "again, except those that others have replaced meanwhile."
    ),
    button="Lift bans",
    action="lift_selected",
    form=ReasonForm,
)
IMPOSE = Question(
    title="Ban a worker",
    sentence=(
        "The worker gets no more work on this task, their ratings no longer count, "
        "and their HITs are reassigned as far as the campaigns' budgets allow. "
        "Submitted work stays paid. The worker reads your reason and can appeal. "
        "Published scores follow, at most once a day. Lifting the ban lets the ratings "
        "count again, at once."
    ),
    button="Ban worker",
    action="impose",
    form=ReasonForm,
    danger=True,
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
        return queryset.filter(lifted_at__isnull=self.value() == "yes")


@admin.register(Ban)
class BanAdmin(OfTask, ReadOnlyAdmin):
    needs = {"lift": "quality.change_ban", "impose": "quality.add_ban"}
    list_display = ["worker", "pool", "who", "reason", "created_at", "lifted_at"]
    list_filter = [InForce, "pool"]
    list_select_related = ["worker", "created_by"]
    search_fields = ["worker__pseudonym", "reason"]
    actions = ["lift_selected"]

    @admin.display(description="banned by", empty_value="the detector")
    def who(self, ban: Ban) -> str | None:
        return ban.created_by.get_username() if ban.created_by else None

    def has_lift_permission(self, request: HttpRequest) -> bool:
        return self.may(request, "lift")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        extra = [
            path(
                "impose/<int:worker_pk>/", view(self.impose), name="quality_ban_impose"
            ),
            path("<int:pk>/lift/", view(self.lift), name="quality_ban_lift"),
        ]
        return [*extra, *super().get_urls()]

    @admin.action(
        description="Lift the selected bans, with a reason", permissions=["lift"]
    )
    def lift_selected(
        self, request: HttpRequest, queryset: QuerySet[Ban]
    ) -> HttpResponse | None:
        bans = list(queryset.filter(lifted_at=None).select_related("worker"))
        if not bans:
            self.message_user(request, "None of them is in force.", messages.WARNING)
            return None
        lines = [Line(ban.pk, str(ban), ban.reason) for ban in bans]
        answer = confirmed_form(self, request, LIFT, lines)
        if isinstance(answer, HttpResponse):
            return answer
        reason = answer.cleaned_data["reason"]
        by = cast("Account", request.user)

        def lift(ban: Ban) -> tuple[Ban, str]:
            return services.lift(ban.pk, by=by, reason=reason), f"Ban lifted: {reason}"

        n = act_on_each(self, request, bans, lift)
        self.message_user(request, f"Bans lifted: {n}.", messages.SUCCESS)
        return None

    def lift(self, request: HttpRequest, pk: int) -> HttpResponse:
        if not self.has_lift_permission(request):
            raise PermissionDenied
        bans = self.get_queryset(request).filter(pk=pk)
        for ban in bans:
            self.insist(request, "lift", ban)
        answer = self.lift_selected(request, bans)
        return answer or redirect("admin:quality_ban_changelist")

    def impose(self, request: HttpRequest, worker_pk: int) -> HttpResponse:
        """Ban one worker from the pool in the query string."""
        pool = request.GET.get("pool", "")
        if not staff_may(request.user, self.permission_to("impose"), pool):
            raise PermissionDenied
        worker = Worker.objects.filter(pk=worker_pk).first()
        if worker is None or not Campaign.objects.filter(pool=pool).exists():
            raise Http404
        answer = confirmed_form(
            self, request, IMPOSE, [Line(worker.pk, str(worker), pool)]
        )
        if isinstance(answer, HttpResponse):
            return answer
        self._impose(request, worker, pool, answer.cleaned_data["reason"])
        return redirect(reverse("admin:quality_grade_worker", args=[worker.pk]))

    def _impose(
        self, request: HttpRequest, worker: Worker, pool: str, reason: str
    ) -> None:
        by = cast("Account", request.user)
        in_force = Ban.objects.filter(worker=worker, pool=pool, lifted_at=None)
        try:
            with transaction.atomic():
                # The second of two clicks waits here and finds the ban of the first.
                Worker.objects.select_for_update(of=("self",)).get(pk=worker.pk)
                if in_force.exists():
                    sentence = f"{worker} is already banned from {pool}."
                    self.message_user(request, sentence, messages.WARNING)
                    return
                ban = services.ban(worker, pool, by=by, reason=reason)
                self.log_addition(request, ban, f"Banned: {reason}")
        except GenieError as error:
            self.message_user(request, str(error), messages.ERROR)
        else:
            self.message_user(request, f"{worker} is banned from {pool}.")


N_NAMED = 3
CONFIRM = Question(
    title="Confirm exclusions",
    sentence=(
        "These workers get no more work in the pool, their ratings no longer count, "
        "and their HITs are reassigned as far as the campaigns' budgets allow."
    ),
    button="Exclude workers",
    action="confirm_selected",
    form=ReasonForm,
    danger=True,
)
REFUSE = Question(
    title="Refuse exclusions",
    sentence=(
        "These workers stay, and their ratings count. The detector will no longer "
        "exclude them automatically."
    ),
    button="Keep workers",
    action="refuse_selected",
    form=ReasonForm,
)


@admin.register(HeldExclusion)
class HeldExclusionAdmin(OfTask, ReadOnlyAdmin):
    needs = {"decide": "quality.change_heldexclusion"}
    list_display = [
        "worker",
        "pool",
        "campaigns",
        "why",
        "answers",
        "state",
        "created_at",
    ]
    list_filter = ["state", "pool"]
    list_select_related = ["worker", "verdict__fit"]
    search_fields = ["worker__pseudonym"]
    # Open ones come first, the oldest on top.
    ordering = [F("decided_at").desc(nulls_first=True), "pk"]
    actions = ["confirm_selected", "refuse_selected"]

    @admin.display(description="has answered in")
    def campaigns(self, held: HeldExclusion) -> str:
        answered = Campaign.objects.filter(
            pool=held.pool, hits__assignments__worker=held.worker_id
        )
        titles = list(
            answered.distinct().order_by("-pk").values_list("title", flat=True)
        )
        more = f" and {len(titles) - N_NAMED} more" if len(titles) > N_NAMED else ""
        return ", ".join(titles[:N_NAMED]) + more

    @admin.display(description="why")
    def why(self, held: HeldExclusion) -> str:
        return held.verdict.sentence

    @admin.display(description="answers")
    def answers(self, held: HeldExclusion) -> SafeString:
        tests = reverse("admin:quality_grade_worker", args=[held.worker_id])
        # This page belongs to leaderboard, which knows whose outputs were rated.
        evidence = reverse("admin:leaderboard_worker_evidence", args=[held.worker_id])
        return format_html(
            '<a href="{}">test questions</a>, <a href="{}">all evidence</a>',
            tests,
            evidence,
        )

    @admin.action(
        description="Exclude the selected workers, with a reason",
        permissions=["decide"],
    )
    def confirm_selected(
        self, request: HttpRequest, queryset: QuerySet[HeldExclusion]
    ) -> HttpResponse | None:
        return self._decide(request, queryset, CONFIRM, confirm, "Confirmed")

    @admin.action(
        description="Keep the selected workers, with a reason",
        permissions=["decide"],
    )
    def refuse_selected(
        self, request: HttpRequest, queryset: QuerySet[HeldExclusion]
    ) -> HttpResponse | None:
        return self._decide(request, queryset, REFUSE, refuse, "Refused")

    def _decide(
        self,
        request: HttpRequest,
        queryset: QuerySet[HeldExclusion],
        question: Question,
        decide: Callable[..., Model],
        word: str,
    ) -> HttpResponse | None:
        waiting = list(
            queryset.filter(state=HeldExclusion.State.WAITING).select_related(
                "worker", "verdict__fit"
            )
        )
        if not waiting:
            self.message_user(
                request, "All of these have already been decided.", messages.WARNING
            )
            return None
        lines = [Line(held.pk, str(held), held.verdict.sentence) for held in waiting]
        answer = confirmed_form(self, request, question, lines)
        if isinstance(answer, HttpResponse):
            return answer
        reason = answer.cleaned_data["reason"]
        by = cast("Account", request.user)

        def act(held: HeldExclusion) -> tuple[Any, str]:
            decide(held.pk, by=by, reason=reason)
            return held, f"{word}: {reason}"

        n = act_on_each(self, request, waiting, act)
        self.message_user(request, f"{word}: {n}.", messages.SUCCESS)
        return None
