"""Teams: quotas count per team, and a private submission belongs to one."""

from typing import Any

from django.contrib import admin
from django.db.models import Count
from django.http import HttpRequest

from genie.lib.admin.reasons import AsksWhy
from leaderboard.submissions.models.submission import Team
from leaderboard.teams.models.team import Membership


class MembershipInline(admin.TabularInline):  # type: ignore[type-arg]
    model = Membership
    autocomplete_fields = ["user"]
    fields = ["user", "role", "joined_at"]
    readonly_fields = ["joined_at"]
    extra = 1


@admin.register(Team)
class TeamAdmin(AsksWhy):
    list_display = ["name", "slug", "n_members", "created_at"]
    search_fields = ["name", "slug", "members__username"]
    prepopulated_fields = {"slug": ["name"]}
    inlines = [MembershipInline]

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).annotate(n=Count("members"))

    @admin.display(description="members", ordering="n")
    def n_members(self, team: Any) -> int:
        n: int = team.n
        return n
