from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from leaderboard.submissions.models import Submission

_YES_NO = [("yes", "yes"), ("no", "no")]


class YesNo(admin.SimpleListFilter):
    """Split rows by whether `nothing` equals `field`."""

    field: str
    nothing: Any

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return _YES_NO

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Submission]
    ) -> QuerySet[Submission] | None:
        if self.value() == "yes":
            return queryset.exclude(**{self.field: self.nothing})
        if self.value() == "no":
            return queryset.filter(**{self.field: self.nothing})
        return None


class HasFailed(YesNo):
    title = "failed"
    parameter_name = "failed"
    field, nothing = "failure", ""


class HasWarnings(YesNo):
    title = "warnings"
    parameter_name = "warned"
    field, nothing = "warnings", []
