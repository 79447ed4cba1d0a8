import json

from django.contrib import admin
from django.utils.text import Truncator

from genie.history.models import LogEntry
from genie.lib.admin import ReadOnlyAdmin, arguments, structure


@admin.register(LogEntry)
class LogEntryAdmin(ReadOnlyAdmin):
    list_display = ["number", "at", "kind", "first_words"]
    list_filter = ["kind", "at"]
    search_fields = ["data"]
    fields = ["number", "at", "kind", "commitment", "salt", "content"]
    ordering = ["-pk"]

    @admin.display(description="content")
    def first_words(self, entry: LogEntry) -> str:
        return Truncator(arguments(json.loads(entry.data or "{}"))).chars(120)

    @admin.display
    def content(self, entry: LogEntry) -> str:
        return structure(json.loads(entry.data or "{}"))
