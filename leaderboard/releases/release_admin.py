from django.contrib import admin
from django.http import FileResponse, Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.template.defaultfilters import filesizeformat
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from genie.accounts import reads
from genie.accounts.task_admin import WorkOfTask
from genie.lib.staff_actions import Action
from leaderboard.releases import queued
from leaderboard.releases.models import Release


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
    actions = [
        Action(
            "cancel_selected",
            "Cancel the selected releases …",
            title="Cancel releases",
            sentence="What was written so far is thrown away.",
            button="Cancel them",
            service=lambda release, by, reason: queued.cancel(release),
            history="Cancelled. Reason: {reason}",
            done="Cancelled: {n} of {n_all}.",
        ),
        Action(
            "retry_selected",
            "Try the selected again …",
            title="Try releases again",
            sentence="Failed and cancelled ones begin again.",
            button="Try again",
            service=lambda release, by, reason: queued.retry(release),
            history="Queued again. Reason: {reason}",
            done="Queued again: {n} of {n_all}.",
        ),
        Action(
            "remove_selected",
            "Delete the archives of the selected …",
            title="Delete archives",
            sentence="The files are deleted; their checksums and dates stay.",
            button="Delete them",
            danger=True,
            service=lambda release, by, reason: queued.remove(release),
            history="Archive deleted. Reason: {reason}",
            done="Archive deleted: {n} of {n_all}.",
        ),
    ]

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
