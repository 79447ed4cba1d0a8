"""Judges in the admin: definitions, budgets, and decisions on runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from genie.accounts.staff import staff_may, staff_may_somewhere
from genie.accounts.task_admin import EditedOfTask, WorkOfTask
from genie.lib.admin import AsksWhy, ReadOnlyAdmin, ReadOnlyInline, add_page, filled_in
from genie.lib.errors import GenieError
from genie.lib.staff_actions import Action, Line
from leaderboard.judges.models import (
    MICROCENTS,
    Judge,
    JudgeBudget,
    JudgeCall,
    JudgeCost,
    JudgeMetric,
    JudgeRun,
)
from leaderboard.judges.selectors.money import committed_cents
from leaderboard.judges.selectors.pages import REFERENCE
from leaderboard.judges.selectors.told import cents, data_sent, in_words, progress_of
from leaderboard.judges.services import ask, decide, define
from leaderboard.judges.services import license as licensing
from leaderboard.judges.services.ask import AUDITED, MOST_AUDITED
from leaderboard.submissions.models import Prediction, Submission
from leaderboard.tasks.models import Task


class JudgeForm(forms.Form):
    name = forms.SlugField(max_length=40)
    version = forms.CharField(
        max_length=40, help_text="A different definition needs a new version."
    )
    definition = forms.JSONField(
        widget=forms.Textarea(attrs={"rows": 12, "cols": 80}),
        initial={"endpoint": "", "model": ""},
        help_text="At least endpoint and model. docs/judges.md lists the other fields.",
    )
    input_price = forms.DecimalField(
        min_value=0, max_digits=12, decimal_places=3, initial=0,
        help_text="Cents per million input tokens.",
    )  # fmt: skip
    output_price = forms.DecimalField(
        min_value=0, max_digits=12, decimal_places=3, initial=0,
        help_text="Cents per million output tokens.",
    )  # fmt: skip
    per_minute = forms.IntegerField(
        min_value=0, max_value=100_000, initial=60,
        help_text="Maximum requests per minute. 0 means no limit.",
    )  # fmt: skip
    at_once = forms.IntegerField(min_value=1, max_value=64, initial=4)
    timeout_seconds = forms.IntegerField(min_value=1, max_value=600, initial=60)
    n_retries = forms.IntegerField(
        min_value=0, max_value=10, initial=2,
        help_text="How many times to retry after an invalid answer.",
    )  # fmt: skip
    family = forms.CharField(
        required=False,
        max_length=200,
        help_text="Names of the model's family and its maker, separated by commas. Systems "
        "with these names count as related to the judge. You can add them later, "
        "but a language model without them gets no license.",
    )


class RunForm(forms.Form):
    judge = forms.ModelChoiceField(Judge.objects.filter(retired_at=None))
    task = forms.ModelChoiceField(Task.objects.order_by("slug"))
    criteria = forms.CharField(
        required=False,
        help_text="Separated by commas. If empty, all criteria that people are asked about.",
    )
    n_instances = forms.IntegerField(
        required=False,
        min_value=1,
        label="Instances",
        help_text="If empty, the instances that people rate.",
    )
    per_page = forms.IntegerField(
        required=False, min_value=2, label="Outputs on a page",
        help_text="For judges in the mode joint. If empty, as many as fit on the page that "
            "people see.",
    )  # fmt: skip
    with_references = forms.BooleanField(
        required=False, label="Send references that are hidden"
    )
    with_private = forms.BooleanField(
        required=False, label="Send outputs that are private or not on the board"
    )
    audit = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MOST_AUDITED,
        initial=AUDITED,
        help_text="How many outputs to send again with planted commands and with harmless "
        "words, ten times each. With 0, there is no audit and no license.",
    )
    occasion = forms.CharField(
        required=False,
        max_length=100,
        help_text="Enter a word to repeat the questions and see whether the answers changed.",
    )

    def clean_audit(self) -> int:
        return int(self.cleaned_data["audit"] or 0)

    def clean_criteria(self) -> list[str]:
        words: Any = self.cleaned_data["criteria"].split(",")
        return [word.strip() for word in words if word.strip()]


class ApprovalForm(forms.Form):
    cents = forms.IntegerField(
        required=False,
        min_value=0,
        help_text="Spending limit for each run, in cents. If empty, its own maximum cost. "
        "Requests that could exceed the limit are not sent.",
    )
    references = forms.BooleanField(
        required=False, label="Hidden references may be sent"
    )
    private = forms.BooleanField(
        required=False, label="Private outputs, and those not on the board, may be sent"
    )
    reason = forms.CharField(
        max_length=1000, widget=forms.Textarea(attrs={"rows": 3, "cols": 80})
    )


_TOLD = ("system", "prompt")
_NONE = "–"
_BREAK, _MAY_BREAK = SafeString("<br>"), SafeString("|<wbr>")


def lines(said: Iterable[str]) -> SafeString:
    return format_html_join(_BREAK, "{}", ([one] for one in said))


def signature(judge: Judge) -> SafeString:
    parts = judge.signature.split("|")
    return format_html_join(_MAY_BREAK, "{}", ([one] for one in parts))


def settings(judge: Judge) -> SafeString:
    made = judge.definition
    named = ((name, value) for name, value in made.items() if name not in _TOLD)
    return lines(
        f"{name}: {'none' if value is None else value}"
        for name, value in named
        if value != ""
    )


def frame(judge: Judge) -> SafeString:
    return format_html_join(
        "",
        '<div class="laid"><pre>{}</pre></div>',
        ([judge.definition[name]] for name in _TOLD),
    )


def page(call: JudgeCall) -> str:
    order = call.beside or [call.submission_id, *filter(None, [call.other_id])]
    names = dict(
        Submission.objects.filter(pk__in=order).values_list("pk", "system_name")
    )
    return ", ".join(
        "the reference" if pk == REFERENCE else names.get(pk, "?") for pk in order
    )


def ratings(call: JudgeCall) -> dict[str, str]:
    return {
        name: f"{name}: {value:g}" if isinstance(value, float | int) else name
        for name, value in call.values.items()
    }


def answers(call: JudgeCall) -> str:
    said = [
        f"{rating} ({why})" if (why := call.reasons.get(name)) else rating
        for name, rating in ratings(call).items()
    ]
    return lines(said) if said else _NONE


def marks(call: JudgeCall) -> str:
    marked = [one for one in call.marks if isinstance(one, Mapping)]
    if not marked:
        return _NONE
    rows = Prediction.objects.filter(
        submission=call.submission_id, instance=call.instance_id
    )
    text = rows.values_list("text", flat=True).first() or ""
    return lines(
        f"{_words(one, text)}: {', '.join(_kind(one))}. {one['reason']}"
        for one in marked
    )


def _words(mark: Mapping[str, int], text: str) -> str:
    if "missing" in mark:
        return "something is missing"
    return f"“{text[mark['start'] : mark['end']] or '…'}”"


def _kind(mark: Mapping[str, str]) -> list[str]:
    return [mark[name] for name in ("severity", "category") if name in mark]


@admin.register(Judge)
class JudgeAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "what", "endpoint", "model", "created_at", "retired_at"]
    search_fields = ["name", "sha256"]
    exclude = ["definition", "input_price", "output_price"]
    readonly_fields = ["prices", "settings", "system_message", "signature_"]
    actions = [
        Action(
            "retire_selected",
            "Retire the selected …",
            title="Retire judges",
            sentence="They get no new questions. Their answers are kept.",
            button="Retire",
            permission="leaderboard.add_judge",
            service=lambda judge, by, reason: define.retire(judge),
            history="Retired. Reason: {reason}",
        )
    ]

    @admin.display(description="prices")
    def prices(self, judge: Judge) -> str:
        return (
            f"${float(judge.input_price) / 100:g} per million input tokens, "
            f"${float(judge.output_price) / 100:g} per million output tokens"
        )

    @admin.display(description="settings")
    def settings(self, judge: Judge) -> SafeString:
        return settings(judge)

    @admin.display(description="system message")
    def system_message(self, judge: Judge) -> SafeString:
        return frame(judge)

    @admin.display(description="signature")
    def signature_(self, judge: Judge) -> SafeString:
        return signature(judge)

    @admin.display
    def endpoint(self, judge: Judge) -> str:
        return str(judge.definition["endpoint"])

    @admin.display
    def model(self, judge: Judge) -> str:  # type: ignore[override]
        return str(judge.definition["model"])

    def has_add_permission(self, request: HttpRequest) -> bool:
        return staff_may(request.user, "leaderboard.add_judge")

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        form, right = filled_in(self, request, JudgeForm)
        if right:
            fields = dict(form.cleaned_data)
            made = [fields.pop(name) for name in ("name", "version", "definition")]
            try:
                judge = define.make(*made, by=_account(request), **fields)
            except GenieError as error:
                form.add_error(None, error.message)
            else:
                self.log_addition(request, judge, "Made.")
                return redirect("admin:leaderboard_judge_change", judge.pk)
        return add_page(self, request, form, title="Add a judge", button="Add")


@admin.register(JudgeBudget)
class JudgeBudgetAdmin(EditedOfTask, AsksWhy):
    pool_paths = ("task__slug",)
    list_display = ["__str__", "limit", "committed_cost"]
    list_select_related = ["task", "judge"]
    fields = ["task", "judge", "cents"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        # approvals rely on it: its amount can be changed, but not its task or judge
        return ["task", "judge"] if obj is not None else []

    def has_add_permission(self, request: HttpRequest) -> bool:
        return staff_may(request.user, "leaderboard.add_judgebudget")

    @admin.display(description="limit")
    def limit(self, budget: JudgeBudget) -> str:
        return cents(budget.cents)

    @admin.display(description="committed or spent")
    def committed_cost(self, budget: JudgeBudget) -> str:
        return cents(committed_cents(budget.task, budget.judge))


class MetricInline(ReadOnlyInline):
    model = JudgeMetric


@admin.register(JudgeRun)
class JudgeRunAdmin(WorkOfTask):
    list_display = [
        "__str__",
        "state",
        "questions",
        "expected_cost",
        "spent",
        "failure",
    ]
    list_filter = ["state", "task", "judge"]
    list_select_related = ["task", "judge"]
    readonly_fields = [
        "leaves", "questions", "invalid", "models", "spent", "licenses",
        "signature",
    ]  # fmt: skip
    exclude = [
        "decided_on",
        *("plan", "microcents", "n_attempts", "failure_permanent"),
        # `leaves` and `questions` have the same content
        *("with_references", "with_private", "n_calls"),
    ]
    inlines: ClassVar[list[Any]] = [MetricInline]
    # details for staff who decide or wait
    first = ("judge", "task", "state", "questions", "spent", "failure", "leaves")
    actions = [
        Action(
            "approve_selected",
            "Approve the selected …",
            title="Approve runs of judges",
            sentence="Texts are sent to third parties and money is spent, within the "
            "limits that you set here.",
            button="Approve",
            form=ApprovalForm,
            danger=True,
            allowed=Q(state=JudgeRun.State.ASKED),
            otherwise="None of them is waiting for a decision.",
            service=lambda run, by, **said: decide.approve(run, by=by, **said),
            history="Approved. Reason: {reason}",
            done="Approved: {n} of {n_all}.",
        ),
        Action(
            "decline_selected",
            "Decline or end the selected …",
            title="Decline runs, or end stopped ones",
            sentence="No more requests are sent. Answers already paid for are kept.",
            button="Decline",
            service=lambda run, by, reason: decide.decline(run, by=by, reason=reason),
            history="Declined. Reason: {reason}",
            done="Declined: {n} of {n_all}.",
        ),
        Action(
            "stop_selected",
            "Stop the selected …",
            title="Stop runs",
            sentence="Pending answers are stored. No more requests are sent.",
            button="Stop",
            service=lambda run, by, reason: decide.stop(run),
            history="Stopped. Reason: {reason}",
            done="Stopped: {n} of {n_all}.",
        ),
        Action(
            "go_on_selected",
            "Resume the selected …",
            title="Resume runs",
            sentence="They continue where they stopped.",
            button="Resume",
            service=lambda run, by, reason: decide.resume(run),
            history="Resumed. Reason: {reason}",
            done="Resumed: {n} of {n_all}.",
        ),
        Action(
            "license_selected",
            "Check the licenses of the selected again …",
            title="Check licenses again",
            sentence="The check uses people's current ratings. A new decision is recorded "
            "only if the result has changed.",
            button="Decide",
            service=lambda run, by, reason: licensing.decide_anew(run),
            history="Licenses checked. Reason: {reason}",
            done="Checked: {n} of {n_all}.",
        ),
    ]

    def look_up(self, rows: list[Any]) -> None:
        told = progress_of(rows)
        for run in rows:
            run.told = told[run.pk]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        others = [
            one for one in super().get_fields(request, obj) if one not in self.first
        ]
        return [*self.first, *others]

    @admin.display(description="data sent to third parties")
    def leaves(self, run: JudgeRun) -> SafeString:
        return lines(data_sent(run))

    @admin.display(description="questions")
    def questions(self, run: Any) -> str:
        told = run.told
        audit = f"; audit: {told.probes_answered:,} of {told.probes:,}"
        return (
            f"{told.answered:,} answered, {told.invalid:,} without a valid answer, "
            f"of {run.n_calls:,}{audit if told.probes else ''}"
        )

    @admin.display(description="reasons for invalid answers")
    def invalid(self, run: Any) -> str:
        told = run.told.problems
        return "; ".join(f"{one['problem']} ({one['n']:,})" for one in told) or "–"

    @admin.display(description="models that answered")
    def models(self, run: Any) -> str:
        return ", ".join(run.told.models) or "–"

    @admin.display(description="expected")
    def expected_cost(self, run: JudgeRun) -> str:
        return cents(run.expected_cents)

    @admin.display(description="spent")
    def spent(self, run: JudgeRun) -> str:
        spent = cents(run.microcents / MICROCENTS)
        return f"{spent} of {cents(run.approved_cents)}"

    @admin.display(
        description="license decisions, from people's ratings of the same outputs, newest "
        "first"
    )
    def licenses(self, run: JudgeRun) -> SafeString | str:
        return lines([in_words(row) for row in run.licences.order_by("-pk")]) or "–"

    @admin.display(description="signature")
    def signature(self, run: JudgeRun) -> SafeString:
        return signature(run.judge)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return staff_may_somewhere(request.user, "leaderboard.add_judgerun")

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        form, right = filled_in(self, request, RunForm)
        if right:
            wish = dict(form.cleaned_data)
            judge, task = wish.pop("judge"), wish.pop("task")
            if not staff_may(request.user, "leaderboard.add_judgerun", task.slug):
                raise PermissionDenied
            try:
                run = ask.ask(judge, task, ask.Wish(**wish), by=_account(request))
            except GenieError as error:
                form.add_error(None, error.message)
            else:
                self.log_addition(request, run, "Requested. It waits for approval.")
                return redirect("admin:leaderboard_judgerun_change", run.pk)
        title = "Ask a judge about a task (first shows the price)"
        return add_page(self, request, form, title=title, button="Price it")

    def line_of(self, run: JudgeRun) -> Line:
        return Line(run.pk, str(run), run.get_state_display(), data_sent(run))


class _OfRun(WorkOfTask):
    pool_paths = ("run__task__slug",)
    # users who may see runs see their questions and costs
    needs = {"view": "leaderboard.view_judgerun"}


@admin.register(JudgeCall)
class JudgeCallAdmin(_OfRun):
    # a quote is a part of an output
    shows_outputs = True
    list_display = [
        "instance",
        "submission",
        "call_run",
        "probe",
        "state",
        "short_answer",
        "problem",
    ]
    list_filter = ["state", "probe", ("run", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["run__judge", "run__task", "submission", "other", "instance"]
    exclude = [
        *("values", "reasons", "marks", "answer"),
        *("beside", "other", "part", "sample"),
    ]
    readonly_fields = ["page", "program", "whole_answer", "error_marks"]

    @admin.display(description="run", ordering="run")
    def call_run(self, call: JudgeCall) -> str:
        return str(call.run)

    @admin.display(description="answer")
    def short_answer(self, call: JudgeCall) -> str:
        return ", ".join(ratings(call).values()) or "–"

    @admin.display(description="on the page, in this order")
    def page(self, call: JudgeCall) -> str:
        return page(call)

    @admin.display(description="program that answered")
    def program(self, call: JudgeCall) -> str:
        return f"{call.run.judge}, {call.run.judge.what}; no person"

    @admin.display(description="answer")
    def whole_answer(self, call: JudgeCall) -> str:
        return answers(call)

    @admin.display(description="errors that the program marked")
    def error_marks(self, call: JudgeCall) -> str:
        return marks(call)


@admin.register(JudgeCost)
class JudgeCostAdmin(_OfRun):
    list_display = ["run", "state", "amount", "at", "settled_at"]
    list_filter = ["state", ("run", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["run__judge", "run__task"]

    exclude = ["microcents", "n_bytes"]
    readonly_fields = ["amount"]

    @admin.display(description="amount")
    def amount(self, cost: JudgeCost) -> str:
        return f"${cost.microcents / MICROCENTS / 100:.8f}"


def _account(request: HttpRequest) -> Any:
    return request.user
