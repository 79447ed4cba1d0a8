"""Workers and invitations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Model, OuterRef, Subquery
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse

from crowd.hits.models.assignment import Assignment
from crowd.money.selectors.earnings import Earnings, earnings_of
from crowd.templatetags.crowd_money import dollars
from crowd.workers.models.worker import Consent, Exclusion, Invitation, Worker
from crowd.workers.services import exclusions, invitations
from genie.lib.admin.questions import after_asking
from genie.lib.admin.read_only import ReadOnlyInline
from genie.lib.admin.rows import ReadOnlyAdmin, person

if TYPE_CHECKING:
    from django.db.models import QuerySet


# counted for all workers only when somebody sorts by it
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


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
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
        "excluded",
    ]
    list_filter = ["platform", "simulated", "excluded"]
    list_select_related = ["user"]
    search_fields = ["pseudonym", "user__username", "platform_worker_id"]
    # grouped rows have no order of their own, and the search for a worker wants one
    ordering = ["-pk"]
    readonly_fields = ["pending", "approved", "paid"]
    inlines = [ExclusionInline, ConsentInline]
    actions = ["exclude_selected", "include_selected"]

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

    @admin.action(
        description="Exclude the selected workers from all work …", permissions=["act"]
    )
    @after_asking(
        "Exclude workers",
        "They get no more work on this site and are told so, without your reason. "
        "Submitted work is still paid.",
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


class InvitationForm(forms.Form):
    note = forms.CharField(
        max_length=200, required=False, help_text="Who it is for; only staff see this."
    )
    days = forms.IntegerField(min_value=1, max_value=365, initial=14, label="Valid for")
    places = forms.IntegerField(
        min_value=1,
        max_value=10_000,
        initial=1,
        required=False,
        label="Places",
        help_text="How many people can become workers by this link.",
    )

    def clean_places(self) -> int:
        return self.cleaned_data["places"] or 1


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "created_by", "created_at", "expires_at", "n_taken", "places", "used_at", "worker"]  # fmt: skip
    list_select_related = ["created_by", "worker"]
    list_filter = [("used_at", admin.EmptyFieldListFilter)]
    search_fields = ["note"]
    exclude = ["token_sha256"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("crowd.add_invitation")

    def has_delete_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow to take back what nobody has used."""
        unused = not isinstance(obj, Invitation) or not (obj.used_at or obj.n_taken)
        return unused and request.user.has_perm("crowd.delete_invitation")

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Offer no deletion of many: used invitations say who came by them."""
        return {}

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Make an invitation and show its link, this once."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = InvitationForm(request.POST or None)
        link = ""
        if request.method == "POST" and form.is_valid():
            token = invitations.invite(person(request), **form.cleaned_data)
            link = request.build_absolute_uri(reverse("work:invitation", args=[token]))
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "Invite a worker",
            "form": form,
            "link": link,
            "places": form.cleaned_data["places"] if link else 1,
            "media": self.media,
        }
        return TemplateResponse(request, "admin/crowd/invitation/add.html", context)
