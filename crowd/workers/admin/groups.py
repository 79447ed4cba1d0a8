from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone

from crowd.workers.models.qualification_attempt import QualificationGrant
from crowd.workers.models.qualification_test import QualificationTest
from crowd.workers.models.worker import Worker
from crowd.workers.services import test_attempts
from genie.lib.admin import person
from genie.lib.staff_actions import Action

if TYPE_CHECKING:
    from django.db.models import QuerySet


def qualification_names() -> list[tuple[str, str]]:
    tests = QualificationTest.objects.order_by().values_list("name", flat=True)
    groups = QualificationGrant.objects.order_by().values_list("name", flat=True)
    return [(name, name) for name in sorted({*tests.distinct(), *groups.distinct()})]


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
    title="Grant a qualification, or put into a group",
    sentence="Each of them gets it without a test and is told so.",
    button="Grant",
    form=WhichForm,
    permission="crowd.add_qualificationgrant",
    every=_grant,
)
