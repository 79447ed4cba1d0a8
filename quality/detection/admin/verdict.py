"""Admin pages for fits of the detector and their verdicts on workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse

from genie.accounts.task_admin import OfTask
from genie.lib.admin.questions import (
    Line,
    Question,
    ReasonForm,
    act_on_each,
    confirmed_form,
)
from genie.lib.admin.read_only import ReadOnlyAdmin
from quality.bans.services import ban as service
from quality.detection.models import Ban, DetectorFit, Verdict

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from genie.lib.typing import Account

BAN = Question(
    title="Ban workers",
    sentence=(
        "These workers get no more work in the pool, their ratings no longer count, "
        "and their HITs are reassigned as far as the campaigns' budgets allow."
    ),
    button="Ban workers",
    action="ban_selected",
    form=ReasonForm,
    danger=True,
)


@admin.register(DetectorFit)
class DetectorFitAdmin(OfTask, ReadOnlyAdmin):
    list_display = ["pool", "polarity", "detector", "n_workers", "created_at"]
    list_filter = ["pool", "polarity", "detector"]


@admin.register(Verdict)
class VerdictAdmin(OfTask, ReadOnlyAdmin):
    pool_paths = ("fit__pool",)
    needs = {"ban": "quality.add_ban"}
    list_display = ["worker", "pool", "polarity", "right", "wrong", "p", "noisy", "at"]
    list_filter = ["noisy", "fit__polarity", "fit__pool", "fit__detector"]
    list_select_related = ["worker", "fit"]
    search_fields = ["worker__pseudonym"]
    ordering = ["-fit", "-p_noisy"]
    actions = ["ban_selected"]

    @admin.display(description="pool", ordering="fit__pool")
    def pool(self, verdict: Verdict) -> str:
        return verdict.fit.pool

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

    @admin.display(description="fitted at", ordering="fit__created_at")
    def at(self, verdict: Verdict) -> object:
        return verdict.fit.created_at

    def has_ban_permission(self, request: HttpRequest) -> bool:
        return self.may(request, "ban")

    @admin.action(
        description="Ban the workers of the selected verdicts, with a reason",
        permissions=["ban"],
    )
    def ban_selected(
        self, request: HttpRequest, queryset: QuerySet[Verdict]
    ) -> HttpResponse | None:
        verdicts = _one_each(queryset)
        if not verdicts:
            self.message_user(
                request, "All of them are already banned.", messages.WARNING
            )
            return None
        lines = [Line(v.pk, str(v.worker), v.fit.pool) for v in verdicts]
        answer = confirmed_form(self, request, BAN, lines)
        if isinstance(answer, HttpResponse):
            return answer
        reason = answer.cleaned_data["reason"]
        by = cast("Account", request.user)

        def ban(verdict: Verdict) -> tuple[Ban, str]:
            pool = verdict.fit.pool
            new = service.ban(
                verdict.worker, pool, by=by, reason=reason, verdict=verdict
            )
            return new, f"Banned: {reason}"

        n = act_on_each(self, request, verdicts, ban)
        self.message_user(request, f"Workers banned: {n}.", messages.SUCCESS)
        return None


def _one_each(queryset: QuerySet[Verdict]) -> list[Verdict]:
    """Return the last verdict of each worker and pool, without banned workers."""
    banned = set(Ban.objects.filter(lifted_at=None).values_list("worker", "pool"))
    # In the order of the keys, so that the newest verdict of each is kept.
    newest = {
        (verdict.worker_id, verdict.fit.pool): verdict
        for verdict in queryset.select_related("worker", "fit").order_by("pk")
    }
    return [verdict for key, verdict in newest.items() if key not in banned]
