from typing import Any

from django.contrib import messages
from django.http import FileResponse, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.safestring import mark_safe

from genie.lib.errors import GenieError
from leaderboard.boards.exports.board import as_latex
from leaderboard.boards.exports.markdown import as_markdown
from leaderboard.boards.views.exports import public_table
from leaderboard.releases.report import archive, report
from leaderboard.tasks.models import Task
from leaderboard.teams.selectors.site_urls import absolute


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
        "latex": as_latex(made.table),
        "markdown": as_markdown(made.table),
    }
    return TemplateResponse(request, "admin/leaderboard/task/report.html", context)
