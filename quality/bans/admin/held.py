"""Exclusions that wait for a person: who, why, confirmed or refused with a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html

from crowd.hits.models.campaign import Campaign
from genie.accounts.task_admin import OfTask
from genie.lib.admin.questions import (
    Line,
    Question,
    ReasonForm,
    act_on_each,
    confirmed_form,
)
from genie.lib.admin.read_only import ReadOnlyAdmin
from quality.bans.models import HeldExclusion
from quality.bans.services import held_exclusions as service

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet
    from django.utils.safestring import SafeString

    from genie.lib.typing import Account

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
    # those that wait come first, the oldest of them on top
    ordering = [F("decided_at").desc(nulls_first=True), "pk"]
    actions = ["confirm_selected", "refuse_selected"]

    @admin.display(description="has answered in")
    def campaigns(self, held: HeldExclusion) -> str:
        """Name the newest campaigns whose results may change."""
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
        # a page of the room above, which knows whose outputs were rated
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
        return self._decide(request, queryset, CONFIRM, service.confirm, "Confirmed")

    @admin.action(
        description="Keep the selected workers, with a reason",
        permissions=["decide"],
    )
    def refuse_selected(
        self, request: HttpRequest, queryset: QuerySet[HeldExclusion]
    ) -> HttpResponse | None:
        return self._decide(request, queryset, REFUSE, service.refuse, "Refused")

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
