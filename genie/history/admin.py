"""The public log in the admin: read by whoever may open what is sealed, changed by nobody."""

from __future__ import annotations

from django.contrib import admin

from genie.history.models import LogEntry
from genie.lib.admin.read_only import ReadOnlyAdmin


@admin.register(LogEntry)
class LogEntryAdmin(ReadOnlyAdmin):
    """Shows salt and data, with which others can check what a sealed entry says."""

    list_display = ["number", "at", "kind", "data"]
    list_filter = ["kind", "at"]
    search_fields = ["data"]
    fields = ["number", "at", "kind", "commitment", "salt", "data"]
    ordering = ["-pk"]
