from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Count, OuterRef, Subquery
from django.http import HttpRequest, HttpResponse

from crowd.hits.models import ELSEWHERE, Assignment
from crowd.messages.models import Message
from crowd.messages.services import send_many
from crowd.money.selectors.earnings import Earnings, earnings_of
from crowd.templatetags.crowd_money import dollars
from crowd.workers.admin.groups import GrantAction, HasQualification
from crowd.workers.models.qualification_attempt import QualificationGrant
from crowd.workers.models.requirement import Requirement
from crowd.workers.models.worker import Consent, Exclusion, Worker
from crowd.workers.services import exclusions, notes
from genie.accounts.task_admin import EditedOfTask
from genie.lib.admin import (
    AsksWhy,
    Line,
    Question,
    ReadOnlyAdmin,
    ReadOnlyInline,
    after_asking,
    confirmed_form,
    note,
    person,
)

if TYPE_CHECKING:
    from django.db.models import QuerySet


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


WRITE = Question(
    title="Write to workers",
    sentence="Each of them finds this message on the worker site.",
    button="Send",
    action="write_selected",
    form=MessageForm,
)


@admin.register(Worker)
class WorkerAdmin(GrantAction, ReadOnlyAdmin):
    act_permission = "crowd.change_worker"
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
        "write_selected",
        "note_selected",
        "grant_selected",
        "lift_limit_selected",
        "exclude_selected",
        "include_selected",
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

    @admin.action(description="Write to the selected workers …", permissions=["act"])
    def write_selected(
        self, request: HttpRequest, queryset: QuerySet[Worker]
    ) -> HttpResponse | None:
        rows = list(queryset)
        lines = [Line(row.pk, str(row)) for row in rows]
        form = confirmed_form(self, request, WRITE, lines)
        if isinstance(form, HttpResponse):
            return form
        with transaction.atomic():
            send_many(
                Message(worker=row, kind=Message.Kind.STAFF, **form.cleaned_data)
                for row in rows
            )
            for row in rows:
                note(person(request), row, f"Wrote: {form.cleaned_data['subject']}")
        self.message_user(request, f"Sent to {len(rows)}.", messages.SUCCESS)
        return None

    @admin.action(
        description="Note something about the selected workers …", permissions=["act"]
    )
    @after_asking(
        "Note something about workers",
        "Only staff read it, in the history of each worker.",
        "Keep the note",
    )
    def note_selected(
        self, request: HttpRequest, queryset: QuerySet[Worker], reason: str
    ) -> None:
        for worker in queryset:
            notes.write(worker, person(request), reason)
        self.message_user(request, "Noted.", messages.SUCCESS)

    @admin.action(
        description="Open all work to the selected workers …", permissions=["act"]
    )
    @after_asking(
        "Open all work",
        "Those who were invited to some tasks only see all work of this site.",
        "Open all work",
    )
    def lift_limit_selected(
        self, request: HttpRequest, queryset: QuerySet[Worker], reason: str
    ) -> None:
        limited = [worker for worker in queryset if worker.limited_to]
        with transaction.atomic():
            Worker.objects.filter(pk__in=[w.pk for w in limited]).update(limited_to=[])
            for worker in limited:
                note(person(request), worker, "Opened all work.", reason)
        self.message_user(request, f"Changed {len(limited)}.", messages.SUCCESS)

    @admin.action(
        description="Exclude the selected workers from all work …", permissions=["act"]
    )
    @after_asking(
        "Exclude workers",
        "They get no more work on this site. They read your reason and can appeal. "
        "Submitted work is still paid, and their ratings still count. To leave ratings "
        "out of the scores of a task, open a worker and choose Ratings and bans.",
        "Exclude workers",
    )
    def exclude_selected(
        self, request: HttpRequest, queryset: QuerySet[Worker], reason: str
    ) -> None:
        self._set_excluded(request, queryset, True, reason)

    @admin.action(description="Readmit the selected workers …", permissions=["act"])
    @after_asking(
        "Readmit workers", "They can work again and are told so.", "Readmit workers"
    )
    def include_selected(
        self, request: HttpRequest, queryset: QuerySet[Worker], reason: str
    ) -> None:
        self._set_excluded(request, queryset, False, reason)

    def _set_excluded(
        self,
        request: HttpRequest,
        queryset: QuerySet[Worker],
        excluded: bool,
        reason: str,
    ) -> None:
        by = person(request)
        n = sum(
            exclusions.from_all_work(worker, excluded, by, reason)
            for worker in queryset
        )
        self.message_user(request, f"Changed {n}.", messages.SUCCESS)


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
