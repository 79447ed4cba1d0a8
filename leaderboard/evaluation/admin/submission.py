from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path

from genie.lib.admin import ReadOnlyInline
from genie.lib.errors import GenieError
from genie.lib.staff_actions import Action, Line
from genie.lib.typing import Account
from leaderboard.evaluation import decide
from leaderboard.evaluation.admin import partial
from leaderboard.evaluation.admin.approve_page import approve_page
from leaderboard.evaluation.admin.campaign_links import (
    links_to_campaigns,
    links_to_others,
)
from leaderboard.evaluation.admin.decisions import (
    APPROVE,
    DECLINE,
    RETRY,
    DecisionAdmin,
)
from leaderboard.evaluation.admin.filters import HasFailed, HasWarnings
from leaderboard.evaluation.admin.money import cost_shown
from leaderboard.evaluation.models.confirmed_output import ConfirmedOutput
from leaderboard.evaluation.selectors.anchors import remembered
from leaderboard.evaluation.services.hidden.preview import previews
from leaderboard.submissions.forms import AboutSystemForm, initial_of, said_at
from leaderboard.submissions.models import Prediction, Submission, SubmissionEvent
from leaderboard.submissions.services.about_system import describe


# Changes by staff to a system's description; only here a system becomes a baseline.
class _StaffForm(AboutSystemForm):
    baseline = forms.ChoiceField(
        required=False,
        choices=[("", "a system like others"), *Submission.Baseline.choices],
        help_text="Shown as a mark beside the name; does not affect ranks.",
    )


def _describe(
    model_admin: Any, request: HttpRequest, rows: list[Submission]
) -> HttpResponse | None:
    [submission] = rows
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
    page = DESCRIBE.ask(model_admin, request, lines, form=form)
    return cast("HttpResponse", page)


DESCRIBE = Action(
    "describe_selected",
    "",
    title="About the system",
    sentence="Shown on the board and on the submission's page, also of published systems.",
    button="Save",
    run=_describe,
    path="describe",
    on_page="About the system",
)


# A dry run of a submission's test questions; staff confirm outputs as good here.
N_SHOWN = 50
CONFIRM, TAKE_BACK = "confirm", "take-back"


def tests_page(
    model_admin: Any, request: HttpRequest, submission: Submission
) -> HttpResponse:
    if request.method == "POST":
        _decide(model_admin, request, submission)
        return redirect(request.path)
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "media": model_admin.media,
        "title": f"Test questions for {submission.system_name}",
        "submission": submission,
        "outputs": _outputs(submission),
    }
    try:
        context["parts"] = list(previews(submission.task, submission))
    except GenieError as error:
        context["trouble"] = error.message
    return TemplateResponse(request, "admin/leaderboard/submission/tests.html", context)


def _outputs(submission: Submission) -> list[dict[str, Any]]:
    rows = (
        Prediction.objects.filter(
            submission=submission,
            instance__sample_rank__lt=submission.task.sample_size,
        )
        .select_related("instance", "confirmed__confirmed_by")
        .order_by("instance__sample_rank")[:N_SHOWN]
    )
    return [
        {
            "pk": row.pk,
            "fields": submission.task.shown(row.instance.fields),
            "text": submission.task.output(row.text),
            "confirmed": getattr(row, "confirmed", None),
        }
        for row in rows
    ]


def _decide(model_admin: Any, request: HttpRequest, submission: Submission) -> None:
    by = cast("Account", request.user)
    rows = Prediction.objects.filter(submission=submission)
    if (pk := request.POST.get(CONFIRM, "")).isdecimal():
        row = rows.get(pk=int(pk))
        ConfirmedOutput.objects.get_or_create(
            prediction=row, defaults={"confirmed_by_id": by.pk}
        )
        said = "Confirmed as good"
    elif (pk := request.POST.get(TAKE_BACK, "")).isdecimal():
        row = rows.get(pk=int(pk))
        ConfirmedOutput.objects.filter(prediction=row).delete()
        said = "No longer confirmed as good"
    else:
        return
    sentence = f"{said}: the output for {row.instance.instance_id}."
    model_admin.log_change(request, submission, sentence)
    model_admin.message_user(request, sentence, messages.SUCCESS)


State = Submission.State
_AT_MOST = 120
_EVENT_FIELDS: list[Any] = ["at", "state", "sentence", "actor"]


WITHDRAW = Action(
    "withdraw_selected",
    "Withdraw the selected",
    title="Withdraw submissions",
    sentence=(
        "They are removed from the board and their campaigns stop; completed work stays "
        "paid. This cannot be undone."
    ),
    button="Withdraw all",
    permission="decide",
    danger=True,
    allowed=~Q(state__in=[State.INVALID, State.WITHDRAWN]),
    service=lambda row, by, reason: decide.withdraw(row, by=by, reason=reason),
    history="Withdrawn: {reason}",
    done="{Rows} withdrawn: {n} of {n_all}.",
    path="withdraw",
    on_page="Withdraw",
)


class EventInline(ReadOnlyInline):
    model = SubmissionEvent
    fields = _EVENT_FIELDS
    readonly_fields = _EVENT_FIELDS
    verbose_name_plural = "events"

    def get_queryset(self, request: HttpRequest) -> QuerySet[SubmissionEvent]:
        rows: QuerySet[SubmissionEvent] = super().get_queryset(request)
        return rows.select_related("actor")


@admin.register(Submission)
class SubmissionAdmin(DecisionAdmin):
    pool_paths = ("task__slug",)
    shows_outputs = True
    list_display = [
        "system_name",
        "task",
        "team",
        "state",
        "cost",
        "n_warnings",
        "last_error",
        "received_at",
    ]
    list_filter = [
        "state",
        HasFailed,
        HasWarnings,
        "visibility",
        "simulated",
        "task",
        "created_at",
    ]
    list_select_related = ["task", "team", "human_evaluation__task"]
    search_fields = ["system_name", "team__name", "owner__username", "file_sha256"]
    inlines = [EventInline]
    readonly_fields = ["failed_step", "campaigns", "compared"]
    exclude = ["file"]  # never served by its address; its name and hash are shown here
    actions = [
        # the approval page also shows outputs, and has both decisions
        replace(APPROVE, on_page="Approve or decline"),
        replace(DECLINE, on_page=""),
        partial.STOP_SUBMISSION,
        RETRY,
        partial.GO_ON,
        partial.PUBLISH_PARTIAL,
        partial.RANK,
        partial.UNRANK,
        WITHDRAW,
    ]
    row_actions = [DESCRIBE]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        # costs are shown in every row; the page is filled in here, not later
        with remembered():
            page = super().changelist_view(request, extra_context)
            return page.render() if isinstance(page, TemplateResponse) else page

    def get_urls(self) -> list[URLPattern]:
        approve = path(
            "<int:pk>/approve/",
            self.admin_site.admin_view(self.approve_view),
            name="leaderboard_submission_approve",
        )
        tests = path(
            "<int:pk>/tests/",
            self.admin_site.admin_view(self.tests_view),
            name="leaderboard_submission_tests",
        )
        return [approve, tests, *super().get_urls()]

    def approve_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        return approve_page(self, request, self._submission(request, pk))

    def tests_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        return tests_page(self, request, self._submission(request, pk))

    def _submission(self, request: HttpRequest, pk: int) -> Submission:
        if not self.has_decide_permission(request):
            raise PermissionDenied
        rows = self.get_queryset(request).select_related("task", "team", "owner")
        submission: Submission | None = rows.filter(pk=pk).first()
        if submission is None:
            raise Http404
        self.insist(request, "decide", submission)
        self.note_read(request, submission)
        return submission

    @admin.display(description="campaigns")
    def campaigns(self, submission: Submission) -> str:
        return links_to_campaigns(submission.human_evaluation)

    @admin.display(description="comparisons and joint evaluations")
    def compared(self, submission: Submission) -> str:
        return links_to_others(submission)

    @admin.display(description="cost")
    def cost(self, submission: Submission) -> str:
        return cost_shown(submission)

    @admin.display(description="received", ordering="created_at")
    def received_at(self, submission: Submission) -> str:
        return f"{submission.created_at:%Y-%m-%d %H:%M}"

    @admin.display(description="warnings")
    def n_warnings(self, submission: Submission) -> int:
        return len(submission.warnings)

    @admin.display(description="last error")
    def last_error(self, submission: Submission) -> str:
        text = submission.failure
        if not text and submission.errors:
            text = str(submission.errors[0].get("message", ""))
        return text if len(text) <= _AT_MOST else text[: _AT_MOST - 1] + "…"
