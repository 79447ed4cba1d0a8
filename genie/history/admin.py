from django.contrib import admin
from django.utils.text import Truncator

from genie.history.models import LogEntry
from genie.lib.admin import ReadOnlyAdmin


@admin.register(LogEntry)
class LogEntryAdmin(ReadOnlyAdmin):
    list_display = ["number", "at", "kind", "beginning"]
    list_filter = ["kind", "at"]
    search_fields = ["data"]
    fields = ["number", "at", "kind", "commitment", "salt", "data"]
    ordering = ["-pk"]

    @admin.display(description="content")
    def beginning(self, entry: LogEntry) -> str:
        return Truncator(entry.data).chars(120)
