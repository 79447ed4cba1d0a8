from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db import transaction
from django.db.models import Count, OuterRef, Subquery
from django.http import HttpRequest

from crowd.hits.models import ELSEWHERE, Assignment
from crowd.messages.models import Message
from crowd.messages.services import send_many
from crowd.money.selectors.earnings import Earnings, earnings_of
from crowd.templatetags.crowd_money import dollars
from crowd.workers.admin.groups import GRANT, HasQualification
from crowd.workers.models.qualification_attempt import QualificationGrant
from crowd.workers.models.requirement import Requirement
from crowd.workers.models.worker import Consent, Exclusion, Worker
from crowd.workers.services import exclusions, notes
from genie.accounts.task_admin import EditedOfTask
from genie.lib.admin import AsksWhy, ReadOnlyAdmin, ReadOnlyInline, note, person
from genie.lib.staff_actions import Action

if TYPE_CHECKING:
    from genie.lib.typing import Account


# counted for all workers only when sorted by it
SENT_IN = Subquery(
    Assignment.objects.filter(worker=OuterRef("pk"), submitted_at__isnull=False)
    .order_by()
    .values("worker")
    .annotate(n=Count("pk"))
    .values("n")
)


class ExclusionInline(ReadOnlyInline):
    model = Exclusion
    fields = readonly_fields = ("pool", "message", "created_at")


class ConsentInline(ReadOnlyInline):
    model = Consent
    fields = readonly_fields = ("pool", "text_sha256", "given_at")


class GrantInline(ReadOnlyInline):
    model = QualificationGrant
    fk_name = "worker"
    fields = readonly_fields = ("name", "version", "granted_at", "expires_at")


class MessageInline(ReadOnlyInline):
    model = Message
    fk_name = "worker"
    fields = readonly_fields = ("created_at", "kind", "subject", "read_at")


class MessageForm(forms.Form):
    subject = forms.CharField(max_length=200)
    text = forms.CharField(
        max_length=5000, widget=forms.Textarea(attrs={"rows": 6, "cols": 80})
    )


def _write(
    model_admin: Any, request: HttpRequest, workers: list[Worker], **words: str
) -> int:
    with transaction.atomic():
        send_many(
            Message(worker=worker, kind=Message.Kind.STAFF, **words)
            for worker in workers
        )
        for worker in workers:
            note(person(request), worker, f"Wrote: {words['subject']}")
    return len(workers)


def _lift_limit(worker: Worker, by: Account, reason: str) -> bool:
    rows = Worker.objects.filter(pk=worker.pk)
    return bool(worker.limited_to and rows.update(limited_to=[]))


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = [
        "pseudonym",
        "platform",
        "user",
        "simulated",
        "n_sent_in",
        "pending",
        "approved",
        "paid",
        "n_pools",
        "without_work",
    ]
    list_filter = ["platform", "simulated", "excluded", HasQualification]
    list_select_related = ["user"]
    search_fields = ["pseudonym", "user__username", "platform_worker_id"]
    # grouped rows have no default order, and the search for a worker needs one
    ordering = ["-pk"]
    readonly_fields = ["pending", "approved", "paid", "without_work"]
    exclude = ["excluded"]
    inlines = [GrantInline, ExclusionInline, ConsentInline, MessageInline]
    actions = [
        Action(
            "write_selected",
            "Write to the selected workers …",
            title="Write to workers",
            sentence="Each of them finds this message on the worker site.",
            button="Send",
            form=MessageForm,
            every=_write,
            done="Sent to {n}.",
        ),
        Action(
            "note_selected",
            "Note something about the selected workers …",
            title="Note something about workers",
            sentence="Only staff read it, in the history of each worker.",
            button="Keep the note",
            service=lambda worker, by, reason: notes.write(worker, by, reason),
            done="Noted.",
        ),
        GRANT,
        Action(
            "lift_limit_selected",
            "Open all work to the selected workers …",
            title="Open all work",
            sentence=(
                "Those who were invited to some tasks only see all work of this site."
            ),
            button="Open all work",
            service=_lift_limit,
            history="Opened all work. Reason: {reason}",
            done="Changed {n}.",
        ),
        Action(
            "exclude_selected",
            "Exclude the selected workers from all work …",
            title="Exclude workers",
            sentence=(
                "They get no more work on this site. They read your reason and can "
                "appeal. Submitted work is still paid, and their ratings still count. "
                "To leave ratings out of the scores of a task, open a worker and choose "
                "Ratings and bans."
            ),
            button="Exclude workers",
            service=lambda worker, by, reason: exclusions.from_all_work(
                worker, True, by, reason
            ),
            danger=True,
            done="Changed {n}.",
        ),
        Action(
            "include_selected",
            "Readmit the selected workers …",
            title="Readmit workers",
            sentence="They can work again and are told so.",
            button="Readmit workers",
            service=lambda worker, by, reason: exclusions.from_all_work(
                worker, False, by, reason
            ),
            done="Changed {n}.",
        ),
    ]

    def look_up(self, rows: list[Worker]) -> None:
        earnings = earnings_of(rows)
        n_exclusions = dict(
            Exclusion.objects.filter(worker__in=[row.pk for row in rows])
            .order_by()
            .values_list("worker")
            .annotate(n=Count("pk"))
        )
        work = dict(
            Worker.objects.filter(pk__in=[row.pk for row in rows])
            .order_by()
            .values_list("pk")
            .annotate(n=Count("assignments__submitted_at"))
        )
        for row in rows:
            row.n_work = work[row.pk]  # type: ignore[attr-defined]
            row.earned = earnings[row.pk]  # type: ignore[attr-defined]
            row.n_exclusions = n_exclusions.get(row.pk, 0)  # type: ignore[attr-defined]

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        worker = super().get_object(request, *args, **kwargs)
        if worker is not None:
            self.look_up([worker])
        return worker

    @admin.display(description="submitted", ordering=SENT_IN)
    def n_sent_in(self, worker: Worker) -> int:
        count: int = worker.n_work  # type: ignore[attr-defined]
        return count

    @admin.display(description="pending")
    def pending(self, worker: Worker) -> str:
        return dollars(_earned(worker).pending)

    @admin.display(description="approved")
    def approved(self, worker: Worker) -> str:
        return dollars(_earned(worker).approved)

    @admin.display(description="paid")
    def paid(self, worker: Worker) -> str:
        return dollars(_earned(worker).paid)

    @admin.display(description="pools excluded from")
    def n_pools(self, worker: Worker) -> int:
        count: int = worker.n_exclusions  # type: ignore[attr-defined]
        return count

    @admin.display(description="excluded", ordering="excluded")
    def without_work(self, worker: Worker) -> str:
        if worker.platform == ELSEWHERE:
            return "imported"
        return "yes" if worker.excluded else "no"


def _earned(worker: Worker) -> Earnings:
    earned: Earnings = worker.earned  # type: ignore[attr-defined]
    return earned


@admin.register(Requirement)
class RequirementAdmin(EditedOfTask, AsksWhy):
    pool_paths = (
        "pool",
        "campaign__pool",
    )
    list_display = ["__str__", "pool", "campaign", "kind"]
    list_filter = ["kind", "pool"]
    list_select_related = ["campaign"]
    search_fields = ["pool", "campaign__title", "test_name"]
    autocomplete_fields = ["campaign"]
