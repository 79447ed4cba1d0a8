from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import FileResponse, Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.template.defaultfilters import filesizeformat
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from genie.accounts import reads
from genie.accounts.task_admin import WorkOfTask
from genie.lib.admin import after_asking
from leaderboard.releases import queued
from leaderboard.releases.models import Release

if TYPE_CHECKING:
    from django.db.models import QuerySet


@admin.register(Release)
class ReleaseAdmin(WorkOfTask):
    # users who may request a release may download it
    needs = dict.fromkeys(("view", "change"), "leaderboard.change_task")
    list_display = [
        "task",
        "state",
        "progress",
        "requested_by",
        "created_at",
        "finished_at",
        "archive",
        "size",
        "failure",
    ]
    list_filter = ["state", "task"]
    list_select_related = ["task", "requested_by"]
    exclude = ["file", "n_done", "n_all", "n_bytes", "round"]
    readonly_fields = ["progress", "archive", "size"]
    actions = ["cancel_selected", "retry_selected", "remove_selected"]

    def get_urls(self) -> list[URLPattern]:
        download = path(
            "<int:pk>/download/",
            self.admin_site.admin_view(self.download_view),
            name="leaderboard_release_download",
        )
        return [download, *super().get_urls()]

    def download_view(self, request: HttpRequest, pk: int) -> FileResponse:
        ready = self.get_queryset(request).filter(state=Release.State.DONE)
        release = get_object_or_404(ready.select_related("task"), pk=pk)
        try:
            file = release.file.open("rb")
        except FileNotFoundError:
            raise Http404("The archive no longer exists.") from None
        reads.record(request, release, reads.Way.FILE, release.task.slug)
        return FileResponse(file, as_attachment=True, filename=release.file_name)

    @admin.display(description="progress")
    def progress(self, release: Release) -> str:
        return f"{100 * release.n_done // release.n_all} %" if release.n_all else "–"

    @admin.display(description="archive")
    def archive(self, release: Release) -> str:
        if release.state != Release.State.DONE:
            return "–"
        address = reverse("admin:leaderboard_release_download", args=[release.pk])
        return format_html('<a href="{}">{}</a>', address, release.file_name)

    @admin.display(description="size", ordering="n_bytes")
    def size(self, release: Release) -> str:
        return filesizeformat(release.n_bytes) if release.n_bytes else "–"

    @admin.action(description="Cancel the selected releases …", permissions=["view"])
    @after_asking(
        "Cancel releases", "What was written so far is thrown away.", "Cancel them"
    )
    def cancel_selected(
        self, request: HttpRequest, queryset: QuerySet[Any], reason: str
    ) -> None:
        self.act_on_rows(request, queryset, queued.cancel, "Cancelled", reason)

    @admin.action(description="Try the selected again …", permissions=["view"])
    @after_asking(
        "Try releases again", "Failed and cancelled ones begin again.", "Try again"
    )
    def retry_selected(
        self, request: HttpRequest, queryset: QuerySet[Any], reason: str
    ) -> None:
        self.act_on_rows(request, queryset, queued.retry, "Queued again", reason)

    @admin.action(
        description="Delete the archives of the selected …", permissions=["view"]
    )
    @after_asking(
        "Delete archives",
        "The files are deleted; their checksums and dates stay.",
        "Delete them",
    )
    def remove_selected(
        self, request: HttpRequest, queryset: QuerySet[Any], reason: str
    ) -> None:
        self.act_on_rows(request, queryset, queued.remove, "Archive deleted", reason)
