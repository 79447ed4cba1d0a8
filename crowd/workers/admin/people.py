from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Count, Model, OuterRef, Q, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from crowd.hits.models import ELSEWHERE, Assignment, Pool
from crowd.messages.models import Message
from crowd.messages.services import send_many
from crowd.money.selectors.earnings import earnings_of
from crowd.templatetags.crowd_money import dollars
from crowd.workers.models.qualification_attempt import QualificationGrant
from crowd.workers.models.qualification_test import QualificationTest
from crowd.workers.models.requirement import Requirement
from crowd.workers.models.worker import Invitation, Worker
from crowd.workers.services import exclusions, invitations, notes, test_attempts
from genie.accounts.task_admin import BY_TASK, EditedOfTask
from genie.lib.admin import (
    AsksWhy,
    Imported,
    ReadOnlyAdmin,
    add_page,
    filled_in,
    note,
    person,
)
from genie.lib.errors import GenieError
from genie.lib.staff_actions import Action

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from genie.lib.typing import Account


def qualification_names() -> list[tuple[str, str]]:
    tests = QualificationTest.objects.order_by("version").values_list("name", "title")
    groups = QualificationGrant.objects.order_by().values_list("name", flat=True)
    titles = {name: name for name in groups.distinct()}
    return sorted({**titles, **dict(tests)}.items())


def names_or_none() -> list[tuple[str, str]]:
    return [("", "–"), *qualification_names()]


class WhichForm(forms.Form):
    name = forms.ChoiceField(
        label="Qualification or group", choices=qualification_names, required=False
    )
    new_group = forms.SlugField(
        max_length=100,
        required=False,
        help_text=(
            "Counts instead of the choice above: a group is a qualification without a "
            "test, which requirements can name like any other."
        ),
    )
    days = forms.IntegerField(
        min_value=1,
        required=False,
        label="Days",
        help_text="How long it is valid; leave empty for no expiry.",
    )

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean() or {}
        name = cleaned.pop("new_group", "") or cleaned.get("name")
        if not name and not self.errors:
            self.add_error("name", "Choose one, or name a new group.")
        return {**cleaned, "name": name}


def in_force(path: str = "") -> Q:
    open_end = Q(**{f"{path}expires_at": None})
    later = Q(**{f"{path}expires_at__gt": timezone.now()})
    return Q(**{f"{path}ended_at": None}) & (open_end | later)


class HasQualification(admin.SimpleListFilter):
    title = "qualification"
    parameter_name = "qualification"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return qualification_names()

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Worker]
    ) -> QuerySet[Worker] | None:
        if not (name := self.value()):
            return None
        have = QualificationGrant.objects.filter(in_force(), name=name)
        return queryset.filter(pk__in=have.values("worker"))


def _grant(
    model_admin: Any,
    request: HttpRequest,
    workers: list[Worker],
    name: str,
    days: int | None,
) -> None:
    until = timezone.now() + timedelta(days=days) if days else None
    have = QualificationGrant.objects.filter(in_force(), name=name, worker__in=workers)
    left_out = set(have.values_list("worker", flat=True))
    for worker in workers:
        if worker.pk not in left_out:
            test_attempts.grant_by_hand(
                worker, name, by=person(request), expires_at=until
            )
    n = len(workers) - len(left_out)
    sentence = f"{name}: granted to {n}; {len(left_out)} had it already."
    model_admin.message_user(request, sentence, messages.SUCCESS)


GRANT = Action(
    "grant_selected",
    "Grant a qualification to the selected workers, or put them into a group …",
    path="grant",
    on_page="Grant a qualification",
    title="Grant a qualification, or put into a group",
    sentence="Each of them gets it without a test and receives a message.",
    button="Grant",
    form=WhichForm,
    permission="crowd.add_qualificationgrant",
    every=_grant,
)


# counted for all workers only when sorted by it
SENT_IN = Subquery(
    Assignment.objects.filter(worker=OuterRef("pk"), submitted_at__isnull=False)
    .order_by()
    .values("worker")
    .annotate(n=Count("pk"))
    .values("n")
)


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
        "pending_money",
        "approved_money",
        "paid",
        "without_work",
    ]
    list_filter = ["platform", "simulated", "excluded", HasQualification, Imported.where(platform=ELSEWHERE)]  # fmt: skip
    list_select_related = ["user"]
    search_fields = ["pseudonym", "user__username", "platform_worker_id"]
    # grouped rows have no default order, and the search for a worker needs one
    ordering = ["-pk"]
    readonly_fields = ["pending_money", "approved_money", "paid", "without_work"]
    exclude = ["excluded"]
    actions = [
        Action(
            "write_selected",
            "Write to the selected workers …",
            path="write",
            on_page="Send a message",
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
            path="note",
            on_page="Note something",
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
            path="open",
            on_page="Open all work",
            allowed=~Q(limited_to=[]),
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
            path="exclude",
            on_page="Exclude here and on the platform",
            allowed=Q(excluded=False),
            title="Exclude workers",
            sentence=(
                "They get no more work, here and in this site’s campaigns on their "
                "platform. They read your reason and can appeal. Submitted work is "
                "still paid, and their ratings still count, unless you ban them from "
                "a task."
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
            path="include",
            on_page="Readmit",
            allowed=Q(excluded=True),
            title="Readmit workers",
            sentence="They can work again and receive a message.",
            button="Readmit workers",
            service=lambda worker, by, reason: exclusions.from_all_work(
                worker, False, by, reason
            ),
            done="Changed {n}.",
        ),
    ]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """Open the worker at once whose whole id or pseudonym was searched for."""
        id_ = request.GET.get("q", "").strip()
        named = Q(platform_worker_id=id_) | Q(pseudonym=id_)
        found = list(self.get_queryset(request).filter(named)[:2]) if id_ else []
        if len(found) == 1 and self.has_view_permission(request):
            return redirect("admin:crowd_worker_change", found[0].pk)
        return super().changelist_view(request, extra_context)

    def look_up(self, rows: list[Worker]) -> None:
        earnings = earnings_of(rows)
        work = dict(
            Worker.objects.filter(pk__in=[row.pk for row in rows])
            .order_by()
            .values_list("pk")
            .annotate(n=Count("assignments__submitted_at"))
        )
        for row in rows:
            row.n_work = work[row.pk]  # type: ignore[attr-defined]
            row.earned = earnings[row.pk]  # type: ignore[attr-defined]

    @admin.display(description="submitted", ordering=SENT_IN)
    def n_sent_in(self, worker: Any) -> int:
        return int(worker.n_work)

    @admin.display(description="pending")
    def pending_money(self, worker: Any) -> str:
        return dollars(worker.earned.pending)

    @admin.display(description="approved")
    def approved_money(self, worker: Any) -> str:
        return dollars(worker.earned.approved)

    @admin.display(description="paid")
    def paid(self, worker: Any) -> str:
        return dollars(worker.earned.paid)

    @admin.display(description="excluded", ordering="excluded")
    def without_work(self, worker: Worker) -> str:
        if worker.platform == ELSEWHERE:
            return "imported"
        return "yes" if worker.excluded else "no"


@admin.register(Requirement)
class RequirementAdmin(EditedOfTask, AsksWhy):
    pool_paths = ("pool_id", "campaign__pool_id")
    list_display = ["__str__", "pool", "campaign", "kind"]
    list_filter = ["kind", BY_TASK]
    list_select_related = ["campaign", "pool"]
    search_fields = ["pool__slug", "campaign__title", "test_name"]
    autocomplete_fields = ["campaign"]


MAX_FILE_BYTES = 1 << 20


class InvitationForm(forms.Form):
    note = forms.CharField(
        max_length=200, required=False, help_text="Who it is for; only staff see this."
    )
    places = forms.IntegerField(
        min_value=1,
        max_value=10_000,
        initial=1,
        label="People for each link",
        help_text="With more than one, everybody uses the same link.",
    )
    n_links = forms.IntegerField(
        min_value=1, max_value=500, initial=1, label="Number of links"
    )
    code = forms.CharField(
        max_length=40,
        required=False,
        help_text="Optional: newcomers must type it in, where strangers could see the link.",
    )
    days = forms.IntegerField(
        min_value=1, max_value=365, initial=14, label="Days until it expires"
    )

    limited_to = forms.MultipleChoiceField(
        choices=lambda: [(pool.pk, str(pool)) for pool in Pool.objects.all()],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Only for the work of",
        help_text="Leave empty for all work, requesters' work included.",
    )
    group = forms.ChoiceField(
        choices=names_or_none,
        required=False,
        label="Qualification or group",
        help_text="Newcomers have it from the start.",
    )
    people = forms.FileField(
        required=False,
        label="Invite by e-mail",
        help_text=(
            "CSV, a line for each person: e-mail address, and if you like a note and the "
            "language of the letter (de, fr, …). Each gets a personal link, instead of "
            "the links above."
        ),
    )

    def clean_people(self) -> list[tuple[str, str, str]]:
        file = self.cleaned_data["people"]
        if not file:
            return []
        if file.size > MAX_FILE_BYTES:
            raise forms.ValidationError("The file is larger than 1 MB.")
        try:
            return invitations.addresses(file.read().decode("utf-8"))
        except UnicodeDecodeError:
            raise forms.ValidationError("The file is not UTF-8 text.") from None
        except GenieError as error:
            raise forms.ValidationError(error.message) from error


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "created_by", "created_at", "expires_at", "places", "n_taken", "group", "limited_to", "came"]  # fmt: skip
    list_select_related = ["created_by"]
    readonly_fields = ["came"]
    list_filter = [("used_at", admin.EmptyFieldListFilter)]
    search_fields = ["note"]
    exclude = ["token_sha256", "guests"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Invitation]:
        return super().get_queryset(request).prefetch_related("workers")

    @admin.display(description="workers")
    def came(self, invitation: Invitation) -> str:
        return ", ".join(map(str, invitation.workers.all())) or "–"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("crowd.add_invitation")

    def has_delete_permission(
        self, request: HttpRequest, obj: Model | None = None
    ) -> bool:
        """Allow deleting unused ones, except the last that keeps work closed."""
        unused = not isinstance(obj, Invitation) or (
            obj.n_taken == 0
            and obj.campaign_id is None
            and (
                not obj.pool_id
                or Invitation.objects.filter(pool=obj.pool_id)
                .exclude(pk=obj.pk)
                .exists()
            )
        )
        return unused and request.user.has_perm("crowd.delete_invitation")

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        return {}

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        form, right = filled_in(self, request, InvitationForm)
        links: list[str] = []
        n_mails = 0
        if right:
            links, n_mails = self._make_links(request, form.cleaned_data)
        return add_page(
            self,
            request,
            form,
            title="Invite workers",
            button="Create",
            page="admin/crowd/invitation/add.html",
            links=links,
            n_mails=n_mails,
        )

    def _make_links(
        self, request: HttpRequest, wanted: dict[str, Any]
    ) -> tuple[list[str], int]:
        by, people, n_links = person(request), wanted.pop("people"), wanted.pop("n_links")  # fmt: skip
        with transaction.atomic():
            for mail, note, language in people:
                one = {"places": 1, "mail": mail, "note": note or mail}
                one["language"] = language
                invitations.invite(by, **{**wanted, **one})
            if people:
                return [], len(people)
            tokens = [invitations.invite(by, **wanted) for _ in range(n_links)]
        address = request.build_absolute_uri
        return [address(reverse("work:invitation", args=[one])) for one in tokens], 0
