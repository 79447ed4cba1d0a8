from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import ModelAdmin
from django.db.models import Count, Q, QuerySet
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.defaultfilters import filesizeformat
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator

from crowd.money.services.budgets import budget_left
from genie.accounts import reads
from genie.accounts.task_admin import EditedOfTask, WorkOfTask
from genie.lib.admin import AsksWhy, plainly
from genie.lib.errors import GenieError
from genie.lib.staff_actions import Action
from leaderboard.boards.views.exports import public_table
from leaderboard.evaluation.selectors.ranked_scores import to_approve
from leaderboard.evaluation.services import qualification
from leaderboard.monitoring.admin import study_page
from leaderboard.releases import queued
from leaderboard.releases.models import Release
from leaderboard.releases.report import archive, report
from leaderboard.tasks.models import Task, TaskRevision
from leaderboard.teams.selectors import absolute


# The button that draws a task's qualification test as a draft to be published.
class DrawForm(forms.Form):
    n = forms.IntegerField(
        label="Questions", min_value=2, max_value=200, initial=qualification.N_QUESTIONS
    )
    n_asked = forms.IntegerField(
        label="Questions per attempt",
        min_value=0,
        initial=0,
        help_text="0 means all. With fewer, the next attempt has new questions.",
    )
    pass_percent = forms.IntegerField(min_value=1, max_value=100, initial=80)
    n_tries = forms.IntegerField(label="Attempts", min_value=1, max_value=20, initial=2)
    wait_hours = forms.IntegerField(
        min_value=0, initial=24, help_text="Between a failed attempt and the next one."
    )
    valid_days = forms.IntegerField(
        min_value=1, required=False, help_text="Leave empty for no expiry."
    )


def _draw(task: Task, by: object, n: int, **rules: Any) -> str:
    return f"Drawn: {qualification.draw_test(task, n, rules=rules)}."


def _draw_each(
    model_admin: ModelAdmin[Any], request: HttpRequest, tasks: list[Task], **rules: Any
) -> HttpResponse | None:
    n_drawn = DRAW.act(model_admin, request, tasks, **rules)
    return redirect("admin:crowd_qualificationtest_changelist") if n_drawn else None


DRAW = Action(
    "draw_test_selected",
    "Draw a qualification test for the selected tasks …",
    title="Draw a qualification test",
    sentence="Half of the questions show the instance's reference, the other half another "
    "instance's reference. All use instances outside the sample for human "
    "evaluation. The test is a draft until you publish it. Workers must pass it "
    "only if a requirement names it.",
    button="Draw test",
    form=DrawForm,
    permission="crowd.add_qualificationtest",
    every=_draw_each,
    service=_draw,
)


def report_page(
    model_admin: Any, request: HttpRequest, task: Task
) -> HttpResponse | FileResponse:
    made = report(public_table(request, task))
    if request.method == "POST" and made.methods:
        site = absolute("leaderboard:home").rstrip("/")
        name = f"{task.slug}-report.zip"
        try:
            file = archive(made, site)
        except GenieError as error:
            model_admin.message_user(request, error.message, messages.ERROR)
        else:
            return FileResponse(file, as_attachment=True, filename=name)
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "title": f"Report on {task.title}",
        "task": task,
        "report": made,
        # our own drawing, which escapes the names in it
        "figure": mark_safe(made.figure),  # noqa: S308
        "tables": made.tables,
    }
    return TemplateResponse(request, "admin/leaderboard/task/report.html", context)


_SHOWN = [
    "title",
    "slug",
    "kind",
    "n_instances",
    "sample_size",
    "left_in_budget",
    "licence",
    "homepage",
    "source_language",
    "target_language",
    "demo",
    "imported",
    "release_sha256",
    "release_files",
    "sample_seed",
    "config",
    "revisions",
    "created_at",
]


def _describe(revision: TaskRevision) -> str:
    changes = [
        f"{key}: {Truncator(str(old)).chars(80)} → {Truncator(str(new)).chars(80)}"
        for key, (old, new) in revision.changes.items()
    ]
    return "; ".join(changes) or "loaded"


def _release(model_admin: Any, request: HttpRequest, tasks: list[Task]) -> HttpResponse:
    for task in tasks:
        sentence = f"Requested {queued.request(task, by=request.user.pk)}."
        model_admin.log_change(request, task, sentence)
    model_admin.message_user(request, "The releases are being made.", messages.SUCCESS)
    return redirect("admin:leaderboard_release_changelist")


RELEASE = Action("release_selected", "Create a release of the data", run=_release)


@admin.register(Task)
class TaskAdmin(EditedOfTask, AsksWhy):
    pool_paths = ("slug",)
    change_form_template = "admin/leaderboard/task/change_form.html"
    list_display = [
        "title",
        "slug",
        "n_instances",
        "n_submissions",
        "n_waiting",
        "accepts_submissions",
        "hidden_references",
        "demo",
        "created_at",
    ]
    list_filter = [
        "kind",
        "demo",
        "imported",
        "accepts_submissions",
        "hidden_references",
    ]
    search_fields = ["title", "slug"]
    fields: ClassVar[Any] = [
        "accepts_submissions",
        "hidden_references",
        *plainly(Task, _SHOWN),
    ]
    actions = [RELEASE, DRAW]

    def get_urls(self) -> list[URLPattern]:
        campaigns = path(
            "<int:pk>/campaigns/",
            self.admin_site.admin_view(self.campaigns_view),
            name="leaderboard_task_campaigns",
        )
        report = path(
            "<int:pk>/report/",
            self.admin_site.admin_view(self.report_view),
            name="leaderboard_task_report",
        )
        return [campaigns, report, *super().get_urls()]

    def report_view(self, request: HttpRequest, pk: int) -> HttpResponse | FileResponse:
        task = get_object_or_404(self.get_queryset(request), pk=pk)
        # as for a release, which the archive contains
        self.insist(request, "change", task)
        reads.record(request, task, reads.Way.ADMIN, task.slug)
        return report_page(self, request, task)

    def campaigns_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        return study_page(self, request, get_object_or_404(Task, pk=pk))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return plainly(Task, _SHOWN)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Task]:
        waiting = Q(submissions__in=to_approve())
        rows: QuerySet[Task] = super().get_queryset(request)
        return rows.annotate(
            # both counts over one join, so that neither multiplies the other
            n_handed_in=Count("submissions"),
            n_to_approve=Count("submissions", filter=waiting),
        )

    @admin.display(description="submissions", ordering="n_handed_in")
    def n_submissions(self, task: Any) -> int:
        return int(task.n_handed_in)

    @admin.display(description="to approve", ordering="n_to_approve")
    def n_waiting(self, task: Any) -> int:
        return int(task.n_to_approve)

    @admin.display(description="changes of task.toml")
    def revisions(self, task: Task) -> SafeString:
        return format_html_join(
            "",
            "<p>{} {} {}: {}</p>",
            (
                (
                    row.number,
                    f"{row.created_at:%Y-%m-%d %H:%M}",
                    row.by or "",
                    _describe(row),
                )
                for row in task.revisions.select_related("by")
            ),
        )

    @admin.display(description="left in budget")
    def left_in_budget(self, task: Task) -> str:
        return f"${budget_left(task.slug) / 100:,.2f}"


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
            sentence="Partial files are deleted.",
            button="Cancel them",
            service=lambda release, by, reason: queued.cancel(release),
            history="Cancelled. Reason: {reason}",
            done="Cancelled: {n} of {n_all}.",
        ),
        Action(
            "retry_selected",
            "Try the selected again …",
            title="Try releases again",
            sentence="Failed and canceled releases start again.",
            button="Try again",
            service=lambda release, by, reason: queued.retry(release),
            history="Queued again. Reason: {reason}",
            done="Queued again: {n} of {n_all}.",
        ),
        Action(
            "remove_selected",
            "Delete the archives of the selected …",
            title="Delete archives",
            sentence="The files are deleted. Their checksums and dates are kept.",
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
        return f"{100 * release.n_done // release.n_all}%" if release.n_all else "–"

    @admin.display(description="archive")
    def archive(self, release: Release) -> str:
        if release.state != Release.State.DONE:
            return "–"
        address = reverse("admin:leaderboard_release_download", args=[release.pk])
        return format_html('<a href="{}">{}</a>', address, release.file_name)

    @admin.display(description="size", ordering="n_bytes")
    def size(self, release: Release) -> str:
        return filesizeformat(release.n_bytes) if release.n_bytes else "–"
