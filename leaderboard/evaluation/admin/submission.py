from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from crowd.elsewhere.services.accounts import pays_in
from crowd.money.services.budgets import budget_left
from crowd.pricing import Quote
from genie.lib.admin import Imported, ReadOnlyInline
from genie.lib.errors import GenieError
from genie.lib.staff_actions import Action, Line
from genie.lib.typing import Account
from genie.lib.unguessable import seed_for
from leaderboard.evaluation import decide
from leaderboard.evaluation.admin.decisions import (
    APPROVE,
    DECLINE,
    GO_ON,
    PUBLISH_PARTIAL,
    RANK,
    RETRY,
    STOP_SUBMISSION,
    UNRANK,
    DecisionAdmin,
    dollars,
    links_to_others,
    name_of,
)
from leaderboard.evaluation.models.human_evaluation import ConfirmedOutput
from leaderboard.evaluation.price import (
    crowd_wanted,
    expected_precision,
    is_too_small,
    quote_single,
)
from leaderboard.evaluation.selectors.ranked_scores import (
    anchor_of,
    remember_anchors,
    to_approve,
)
from leaderboard.evaluation.services.hidden.drawn import objections
from leaderboard.evaluation.services.hidden.key_pilot import keep_reading, to_read
from leaderboard.evaluation.services.hidden.preview import kind_in_words, previews
from leaderboard.evaluation.strategies import strategy_of
from leaderboard.submissions.forms import AboutSystemForm, initial_of, said_at
from leaderboard.submissions.models import Prediction, Submission, SubmissionEvent
from leaderboard.submissions.selectors import HAS_FAILED, in_state
from leaderboard.submissions.services.submit import describe
from leaderboard.tasks.services.configuration import campaign_keys, commitment_key
from leaderboard.tasks.services.inputs import set_aside
from quality.detection.selectors import TOO_SMALL
from quality.test_questions.models import TestCheck

State = Submission.State
# shown at the top, and in full below
N_FIRST, N_SHOWN = 5, 10
TO_APPROVE, START_NOW, TO_DECLINE = "approve", "start-now", "decline"
WAITING = (State.MEASURED, State.DECLINED)
DECISIONS = (TO_APPROVE, START_NOW, TO_DECLINE)


class DecisionForm(forms.Form):
    decision = forms.ChoiceField(choices=[(c, c) for c in DECISIONS])
    reason = forms.CharField(
        required=False,
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 3, "cols": 80}),
        help_text="Shown to the submitter. Required to decline, optional to approve.",
    )
    despite = forms.CharField(
        label="Start in spite of this, because",
        required=False,
        max_length=500,
        help_text="Kept with your name; shown to staff only.",
    )
    # the price that staff saw when deciding: exactly this is spent
    shown_cents = forms.IntegerField(widget=forms.HiddenInput)

    def clean(self) -> None:
        cleaned = self.cleaned_data
        if cleaned.get("decision") == TO_DECLINE and not cleaned.get("reason"):
            self.add_error("reason", "Give a reason; it is shown to the submitter.")


def approve_page(
    model_admin: Any, request: HttpRequest, submission: Submission
) -> HttpResponse:
    anchor = anchor_of(
        submission.task, simulated=submission.simulated, without=submission.pk
    )
    n_anchor_items = anchor.n if anchor else 0
    asked = submission.human_evaluation
    cost = quote_single(submission.task, n_anchor_items=n_anchor_items)
    systems = asked.alone if asked else [submission]
    cost = cost.times(len(systems))
    form = DecisionForm(_pressed(request), initial={"shown_cents": cost.total_cents})
    if request.method == "POST" and form.is_valid():
        cleaned = form.cleaned_data
        if (
            cleaned["decision"] != TO_DECLINE
            and cleaned["shown_cents"] != cost.total_cents
        ):
            form = DecisionForm(initial={"shown_cents": cost.total_cents})
            model_admin.message_user(
                request,
                "The cost has changed since you opened this page; the current "
                "cost is shown below.",
                messages.WARNING,
            )
        elif _decided(model_admin, request, submission, cleaned):
            return redirect(_next(submission))
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "media": model_admin.media,
        "title": f"Approve {name_of(submission)}?",
        "submission": submission,
        "open": submission.state in WAITING,
        "can_decline": submission.state == State.MEASURED,
        "form": form,
        "anchor": anchor,
        "workers": crowd_wanted(
            submission.task,
            n_anchor_items=n_anchor_items,
            needed=decide.workers_needed(submission.human_evaluation),
        ),
        "too_small": TOO_SMALL if is_too_small(submission.task, len(systems)) else "",
        "precision": expected_precision(submission.task),
        "systems": [(one, _samples(one)) for one in systems],
        "several": len(systems) > 1,
        "n_first": N_FIRST,
        "warned": any(one.warnings for one in systems),
        **_money(submission, cost),
        **_tests(submission),
    }
    return TemplateResponse(
        request, "admin/leaderboard/submission/approve.html", context
    )


def _pressed(request: HttpRequest) -> dict[str, Any] | None:
    if request.method != "POST":
        return None
    pressed = [name for name in DECISIONS if name in request.POST]
    return {**request.POST.dict(), "decision": pressed[0] if len(pressed) == 1 else ""}


def _decided(
    model_admin: Any,
    request: HttpRequest,
    submission: Submission,
    cleaned: dict[str, Any],
) -> bool:
    by = cast("Account", request.user)
    try:
        evaluation = decide.require_evaluation(submission, "not-approvable")
        if cleaned["decision"] != TO_DECLINE:
            decide.prepare(evaluation)
        with transaction.atomic():
            if cleaned["decision"] == TO_DECLINE:
                decide.decline(evaluation, by=by, reason=cleaned["reason"])
                sentence = f"Declined: {cleaned['reason']}"
            else:
                now = cleaned["decision"] == START_NOW
                decide.approve(
                    evaluation,
                    by=by,
                    reason=cleaned["reason"],
                    start_now=now,
                    despite=cleaned["despite"],
                )
                sentence = (
                    f"Approved up to {dollars(evaluation.approved_cents or 0)}"
                    f"{', to start now' if now else ''}. {cleaned['reason']}"
                ).strip()
            model_admin.log_change(request, submission, sentence)
    except GenieError as error:
        model_admin.message_user(request, str(error), messages.ERROR)
        submission.refresh_from_db()
        return False
    model_admin.message_user(
        request, f"{name_of(submission)}: {sentence}", messages.SUCCESS
    )
    return True


def _next(submission: Submission) -> str:
    waiting = to_approve().order_by("pk").first()
    if waiting is not None:
        return reverse("admin:leaderboard_submission_approve", args=[waiting.pk])
    return reverse("admin:leaderboard_submission_change", args=[submission.pk])


def _money(submission: Submission, cost: Quote) -> dict[str, Any]:
    left = budget_left(submission.task.slug)
    return {
        "lines": [
            (line.label, line.n, dollars(line.unit_cents), dollars(line.cents))
            for line in cost.lines
        ],
        "total": dollars(cost.total_cents),
        "n_assignments": cost.n_assignments,
        "left": dollars(left),
        "left_after": dollars(left - cost.total_cents),
        "too_dear": cost.total_cents > left,
        "elsewhere": pays_in(submission.task.human.platform, cost.total_cents),
    }


def _tests(submission: Submission) -> dict[str, Any]:
    evaluation = submission.human_evaluation
    if evaluation is None or submission.state not in WAITING:
        return {}
    if not decide.is_measured(evaluation):
        failed = f"The test questions could not be measured. {evaluation.failure}"
        return {"tests_trouble": failed if evaluation.failure else decide.UNMEASURED}
    check = TestCheck.objects.filter(evaluation=evaluation).first()
    if check is None:
        return {}
    return {
        "tests": check,
        "test_kinds": [(n, kind_in_words(kind)) for kind, n in check.kinds.items()],
        "objections": objections(check),
    }


def _samples(submission: Submission) -> list[dict[str, Any]]:
    task = submission.task
    hidden = task.hidden_references
    rows = (
        Prediction.objects.filter(submission=submission)
        .select_related("instance")
        .order_by("instance__sample_rank")[:N_SHOWN]
    )
    return [
        {
            "id": row.instance.instance_id,
            "fields": task.labeled_fields(row.instance.fields),
            "references": None
            if hidden
            else [task.output(text) for text in row.instance.references],
            "prediction": task.output(row.text),
        }
        for row in rows
    ]


_YES_NO = [("yes", "yes"), ("no", "no")]


class YesNo(admin.SimpleListFilter):
    """Split rows by whether `nothing` equals `field`."""

    field: str
    nothing: Any

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return _YES_NO

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Submission]
    ) -> QuerySet[Submission] | None:
        if self.value() == "yes":
            return queryset.exclude(**{self.field: self.nothing})
        if self.value() == "no":
            return queryset.filter(**{self.field: self.nothing})
        return None


class HasFailed(YesNo):
    title = "failed"
    parameter_name = "failed"
    field, nothing = "failure", ""

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Submission]
    ) -> QuerySet[Submission] | None:
        if queryset.model is not Submission:
            return super().queryset(request, queryset)
        wanted = {"yes": HAS_FAILED, "no": ~HAS_FAILED}.get(str(self.value()))
        return queryset.filter(wanted) if wanted else None


class InState(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state__exact"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(value, str(label)) for value, label in State.choices]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Submission]
    ) -> QuerySet[Submission] | None:
        shown = self.value()
        return queryset.filter(in_state(shown)) if shown else None


class HasWarnings(YesNo):
    title = "warnings"
    parameter_name = "warned"
    field, nothing = "warnings", []


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
    return cast("HttpResponse", DESCRIBE.ask(model_admin, request, lines, form=form))


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
N_LISTED = 50
CONFIRM, TAKE_BACK, READ = "confirm", "take-back", "read"


def tests_page(
    model_admin: Any, request: HttpRequest, submission: Submission
) -> HttpResponse:
    if request.method == "POST":
        if READ in request.POST:
            _keep_reading(model_admin, request, submission)
        else:
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
    evaluation = submission.human_evaluation
    waits = evaluation if submission.state in WAITING else None
    context["can_read"] = waits is not None and decide.is_measured(waits)
    try:
        if waits is not None and context["can_read"] and READ in request.GET:
            context["to_read"] = to_read(strategy_of(waits).plan(waits))
        else:
            context["parts"] = list(previews(submission.task, submission))
    except GenieError as error:
        context["trouble"] = error.message
    return TemplateResponse(request, "admin/leaderboard/submission/tests.html", context)


def _outputs(submission: Submission) -> list[dict[str, Any]]:
    # Only outputs that tests can show: what is confirmed must not choose what is rated.
    task, human = submission.task, submission.task.human
    keys = campaign_keys(commitment_key(submission.pk), human)
    n = sum(human.n_test_questions(task.sample_size))
    seeds = [seed_for("campaign", key) for key in keys]
    aside = [row.pk for seed in seeds for row in set_aside(task, seed, n)]
    sample = Q(instance__sample_rank__lt=task.sample_size)
    rows = (
        Prediction.objects.filter(
            Q(instance__in=aside) if aside else sample, submission=submission
        )
        .select_related("instance", "confirmed__confirmed_by")
        .order_by("instance__sample_rank")[:N_LISTED]
    )
    return [
        {
            "pk": row.pk,
            "fields": submission.task.labeled_fields(row.instance.fields),
            "text": submission.task.output(row.text),
            "confirmed": getattr(row, "confirmed", None),
        }
        for row in rows
    ]


def _keep_reading(
    model_admin: Any, request: HttpRequest, submission: Submission
) -> None:
    by = cast("Account", request.user)
    evaluation = decide.require_evaluation(submission, "not-approvable")
    if submission.state not in WAITING:
        return
    n = keep_reading(evaluation, by, request.POST.getlist("wrong"))
    sentence = f"Read the test questions without the key; {n} edits were dropped."
    model_admin.log_change(request, submission, sentence)
    model_admin.message_user(request, sentence, messages.SUCCESS)


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
    allowed=~Q(own_state__in=[State.INVALID, State.WITHDRAWN]),
    # one of the systems of an evaluation
    line=lambda row: Line(row.pk, str(row), f"{row.task}, {row.get_state_display()}"),
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
        "shown_state",
        "cost",
        "n_warnings",
        "last_error",
        "received_at",
    ]
    list_filter = [
        InState,
        HasFailed,
        HasWarnings,
        Imported.where(task__imported=True),
        "visibility",
        "simulated",
        "task",
        "created_at",
    ]
    list_select_related = ["task", "team", "human_evaluation__task"]
    search_fields = ["system_name", "team__name", "owner__username", "file_sha256"]
    inlines = [EventInline]
    readonly_fields = [
        *("shown_state", "failed_step", "shown_failure", "campaigns", "compared")
    ]
    # a file is never served by its address: its name and hash are shown; the others, as
    # its evaluation has them
    exclude = ["file", "own_state", "failure"]
    actions = [
        # the approval page also shows outputs, and has both decisions
        replace(APPROVE, on_page="Approve or decline"),
        replace(DECLINE, on_page=""),
        STOP_SUBMISSION,
        RETRY,
        GO_ON,
        PUBLISH_PARTIAL,
        RANK,
        UNRANK,
        WITHDRAW,
    ]
    row_actions = [DESCRIBE]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Submission]:
        rows: QuerySet[Submission] = super().get_queryset(request)
        return rows.prefetch_related("human_evaluation__submissions")

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        # costs are shown in every row; the page is filled in here, not later
        with remember_anchors():
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

    @admin.display(description="state")
    def shown_state(self, submission: Submission) -> str:
        return submission.get_state_display()

    @admin.display(description="failure")
    def shown_failure(self, submission: Submission) -> str:
        return submission.work.failure

    @admin.display(description="comparisons and joint evaluations")
    def compared(self, submission: Submission) -> str:
        return links_to_others(submission)

    @admin.display(description="received", ordering="created_at")
    def received_at(self, submission: Submission) -> str:
        return f"{submission.created_at:%Y-%m-%d %H:%M}"

    @admin.display(description="warnings")
    def n_warnings(self, submission: Submission) -> int:
        return len(submission.warnings)

    @admin.display(description="last error")
    def last_error(self, submission: Submission) -> str:
        text = submission.work.failure
        if not text and submission.errors:
            text = str(submission.errors[0].get("message", ""))
        return text if len(text) <= _AT_MOST else text[: _AT_MOST - 1] + "…"
