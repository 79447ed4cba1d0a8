"""What staff know of workers, for work that requires it."""

from __future__ import annotations

from django.contrib import admin

from crowd.requester.models.records import WorkerRecord
from genie.lib.admin.reasons import AsksWhy


@admin.register(WorkerRecord)
class WorkerRecordAdmin(AsksWhy):
    list_display = ["worker", "country", "subdivision", "adult", "master"]
    list_filter = ["adult", "master", "country"]
    list_select_related = ["worker"]
    search_fields = ["worker__pseudonym", "worker__user__username"]
    autocomplete_fields = ["worker"]
