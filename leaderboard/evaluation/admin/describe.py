"""Changes by staff to a system's description; only here a system becomes a baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse

from genie.lib.admin.questions import Line, Question, asking
from genie.lib.errors import GenieError
from leaderboard.submissions.forms.about_system import (
    AboutSystemForm,
    initial_of,
    said_at,
)
from leaderboard.submissions.models.submission import Submission
from leaderboard.submissions.services.about_system import describe

if TYPE_CHECKING:
    from django.db.models import QuerySet


class _StaffForm(AboutSystemForm):
    baseline = forms.ChoiceField(
        required=False,
        choices=[("", "a system like others"), *Submission.Baseline.choices],
        help_text="Shown as a mark beside the name; does not affect ranks.",
    )


QUESTION = Question(
    title="About the system",
    sentence="Shown on the board and on the submission's page, also of published systems.",
    button="Save",
    action="describe_selected",
    form=_StaffForm,
)


def describe_selected(
    model_admin: Any, request: HttpRequest, queryset: QuerySet[Submission]
) -> HttpResponse | None:
    submission = queryset.get()
    initial = {**initial_of(submission), "baseline": submission.baseline}
    form = _StaffForm(request.POST or None, initial=initial)
    if form.is_valid():
        try:
            changed = describe(submission, **form.cleaned_data)
        except GenieError as error:
            form.add_error(said_at(error), error.message)
        else:
            said = ", ".join(changed) or "nothing"
            model_admin.log_change(request, submission, f"Changed: {said}.")
            model_admin.message_user(request, f"Changed: {said}.", messages.SUCCESS)
            return None
    lines = [Line(submission.pk, submission.system_name)]
    return asking(model_admin, request, QUESTION, form, lines)
