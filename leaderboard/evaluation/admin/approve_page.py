from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse

from crowd.elsewhere.services.accounts import pays_in
from crowd.money.services.budgets import budget_left
from crowd.pricing import Quote
from genie.lib.errors import GenieError
from leaderboard.evaluation import decide
from leaderboard.evaluation.admin.money import dollars
from leaderboard.evaluation.models.test_check import TestCheck
from leaderboard.evaluation.precision import expected_precision
from leaderboard.evaluation.price import crowd_wanted, quote_single
from leaderboard.evaluation.selectors.anchors import anchor_of
from leaderboard.evaluation.selectors.progress import to_approve
from leaderboard.evaluation.services.hidden import gate
from leaderboard.evaluation.services.hidden.preview import kind_in_words
from leaderboard.submissions.models import Prediction, Submission

if TYPE_CHECKING:
    from genie.lib.typing import Account

State = Submission.State
# shown at the top, and in full below
N_FIRST, N_SHOWN = 5, 10
APPROVE, START_NOW, DECLINE = "approve", "start-now", "decline"
DECISIONS = (APPROVE, START_NOW, DECLINE)


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

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("decision") == DECLINE and not cleaned.get("reason"):
            self.add_error("reason", "Give a reason; it is shown to the submitter.")
        return cleaned


def approve_page(
    model_admin: Any, request: HttpRequest, submission: Submission
) -> HttpResponse:
    anchor = anchor_of(
        submission.task, simulated=submission.simulated, without=submission.pk
    )
    n_anchor_items = anchor.n if anchor else 0
    cost = quote_single(submission.task, n_anchor_items=n_anchor_items)
    form = DecisionForm(_pressed(request), initial={"shown_cents": cost.total_cents})
    if request.method == "POST" and form.is_valid():
        cleaned = form.cleaned_data
        if (
            cleaned["decision"] != DECLINE
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
        "title": f"Approve {submission.system_name}?",
        "submission": submission,
        "open": submission.state in {State.MEASURED, State.DECLINED},
        "can_decline": submission.state == State.MEASURED,
        "form": form,
        "anchor": anchor,
        "workers": crowd_wanted(submission.task, n_anchor_items=n_anchor_items),
        "precision": expected_precision(submission.task),
        "samples": (samples := _samples(submission)),
        "first_samples": samples[:N_FIRST],
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
        if cleaned["decision"] != DECLINE:
            decide.prepare(submission)
        with transaction.atomic():
            if cleaned["decision"] == DECLINE:
                done = decide.decline(submission, by=by, reason=cleaned["reason"])
                sentence = f"Declined: {cleaned['reason']}"
            else:
                now = cleaned["decision"] == START_NOW
                done = decide.approve(
                    submission,
                    by=by,
                    reason=cleaned["reason"],
                    start_now=now,
                    despite=cleaned["despite"],
                )
                sentence = (
                    f"Approved up to {dollars(done.approved_cents or 0)}"
                    f"{', to start now' if now else ''}. {cleaned['reason']}"
                ).strip()
            model_admin.log_change(request, done, sentence)
    except GenieError as error:
        model_admin.message_user(request, str(error), messages.ERROR)
        submission.refresh_from_db()
        return False
    model_admin.message_user(
        request, f"{submission.system_name}: {sentence}", messages.SUCCESS
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
    if evaluation is None or submission.state not in {State.MEASURED, State.DECLINED}:
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
        "objections": gate.objections(check),
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
            "fields": task.shown(row.instance.fields),
            "references": None
            if hidden
            else [task.output(text) for text in row.instance.references],
            "prediction": task.output(row.text),
        }
        for row in rows
    ]
