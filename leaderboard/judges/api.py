from typing import Any, cast

from django.db import transaction
from django.shortcuts import get_object_or_404
from rest_framework import serializers, status
from rest_framework.exceptions import PermissionDenied
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response

from genie.accounts.authentication import IsStaff
from genie.accounts.models import AccessToken
from genie.accounts.staff import limit_to_tasks, staff_may
from genie.lib.admin import note
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.api.base import DetailView, Growing, ListView, View, operation
from leaderboard.api.query import LARGEST, Body, PageQuery
from leaderboard.api.records import Record
from leaderboard.boards.api.tasks import TaskView
from leaderboard.evaluation.models.board_fit import JudgeLicence
from leaderboard.judges.models import Judge, JudgeRun
from leaderboard.judges.selectors.shown import ShownJudge, ShownLicense, judges_of
from leaderboard.judges.selectors.told import Progress, progress, progress_of
from leaderboard.judges.services import ask, decide
from leaderboard.submissions.selectors import Staff
from leaderboard.tasks.api import OfTaskQuery, TaskField

APPROVE, DECLINE, STOP, RESUME = "approve", "decline", "stop", "resume"
_MAY_ASK, _MAY_DECIDE = "leaderboard.add_judgerun", "leaderboard.change_judgerun"


class ProblemCountSerializer(serializers.Serializer[Any]):
    problem = serializers.CharField()
    n = serializers.IntegerField()


class JudgeRunSerializer(Record):
    """A run of a judge: its questions, spending limit and progress."""

    record = Progress
    shown = (
        "id=run.pk task=run.task.slug judge=run.judge.signature "
        "scripted=run.judge.is_scripted state leaving=texts_sent "
        "with_references=run.with_references with_private=run.with_private "
        "expected_cents=run.expected_cents most_cents=run.most_cents "
        "approved_cents=run.approved_cents spent_cents n answered invalid waiting probes "
        "probes_answered problems models failure=run.failure created_at=run.created_at "
        "finished_at=run.finished_at"
    )
    state = serializers.CharField(source="run.state")
    problems = ProblemCountSerializer(many=True)
    help_texts = {
        "judge": "Its signature.",
        "scripted": "Whether the judge is a script without a model.",
        "leaving": "Data sent and its destination, in sentences.",
        "most_cents": "Cost if every first answer is valid.",
        "spent_cents": "Includes pending requests and requests without an answer.",
        "probes": "Audit questions, about outputs with planted text. Other totals do "
        "not include them.",
        "models": "Models as named by the endpoint. More than one means that the model "
        "changed.",
        "failure": "Why it stopped. Usually empty.",
    }


class LicenseReasonSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    holds = serializers.BooleanField()
    words = serializers.CharField(help_text="With the figures.")


class LicenseSerializer(Record):
    """A decision about a judge on one criterion; every reason must hold."""

    record = JudgeLicence
    shown = "criterion state at run=run_id reasons moved facts"
    state = serializers.CharField(
        source="get_state_display", help_text="licensed, not licensed, or expired."
    )
    reasons = LicenseReasonSerializer(many=True)
    moved = serializers.ListField(
        child=serializers.CharField(), help_text="Why it expired. Usually empty."
    )
    facts = serializers.DictField(
        child=serializers.CharField(), help_text="Reasons for the decision."
    )
    help_texts = {"at": "Time of the decision."}


class ShownLicenseSerializer(Record):
    record = ShownLicense
    shown = "criterion state since rows"
    rows = LicenseSerializer(many=True, help_text="All decisions, the newest first.")
    help_texts = {"state": "licensed, not licensed, expired, or not decided yet."}


class ShownRunSerializer(Record):
    record = Progress
    shown = (
        "run=run.pk finished_at occasion=run.occasion n answered invalid probes models "
        "spent_cents"
    )
    finished_at = serializers.DateTimeField(source="run.finished_at")


class ShownJudgeSerializer(Record):
    """A program that judged; what it says is never a person's word."""

    record = ShownJudge
    shown = (
        "judge what=judge.what scripted=judge.is_scripted signature=judge.signature sent "
        "runs licences"
    )
    judge = serializers.CharField(help_text="Name and version.")
    runs = ShownRunSerializer(source="asked", many=True)
    licences = ShownLicenseSerializer(many=True, source="licenses")
    help_texts = {
        "what": "Kind of program.",
        "sent": "Texts sent and their destinations.",
    }


class LicensesSerializer(serializers.Serializer[Any]):
    """License decisions on this run, the newest first; empty before the first check."""

    licences = LicenseSerializer(many=True)


class NewJudgeRunSerializer(Body):
    judge = serializers.IntegerField(min_value=1, max_value=LARGEST)
    task = TaskField(help_text="Slug of a task.")
    criteria = serializers.ListField(
        child=serializers.CharField(max_length=50), default=list
    )
    submissions = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST), default=list
    )
    n_instances = serializers.IntegerField(
        allow_null=True, default=None, min_value=1, max_value=LARGEST
    )
    per_page = serializers.IntegerField(
        allow_null=True,
        default=None,
        min_value=2,
        max_value=LARGEST,
        help_text="Outputs on a page of a judge in the mode `joint`.",
    )
    with_references = serializers.BooleanField(default=False)
    with_private = serializers.BooleanField(default=False)
    occasion = serializers.CharField(max_length=100, allow_blank=True, default="")
    audit = serializers.IntegerField(
        default=0,
        min_value=0,
        max_value=ask.MOST_AUDITED,
        help_text="Outputs to send again with planted commands, ten times each. Without "
        f"them, there is no license. {ask.AUDITED} is usual.",
    )


class JudgeDecisionSerializer(Body):
    decision = serializers.ChoiceField(choices=[APPROVE, DECLINE, STOP, RESUME])
    cents = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=LARGEST,
        help_text="Spending limit in cents (required to approve).",
    )
    references = serializers.BooleanField(
        default=False, help_text="Repeat `with_references` to approve."
    )
    private = serializers.BooleanField(
        default=False, help_text="Repeat `with_private` to approve."
    )
    reason = serializers.CharField(required=False, allow_blank=True, max_length=1000)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["decision"] == APPROVE and "cents" not in attrs:
            raise serializers.ValidationError(
                {"cents": "Set a spending limit in cents."}
            )
        return attrs


class JudgeRunView(View):
    permission_classes = [IsStaff]
    scope = AccessToken.Scope.STAFF
    staff_permission = Staff.SEE_JUDGES
    of_tasks = True
    parser_classes = [JSONParser]
    queryset = JudgeRun.objects.select_related("judge", "task").order_by("-pk")
    serializer_class: Any = JudgeRunSerializer
    # the permission on the task of the run
    permission_on_run: str = Staff.SEE_JUDGES

    def get_queryset(self) -> Any:
        rows = super().get_queryset()
        return limit_to_tasks(
            rows, self.request.user, self.permission_on_run, "task__slug"
        )


@operation("List runs of judges, newest first")
class JudgeRunList(JudgeRunView, ListView):
    query_class = OfTaskQuery
    filters = {"task": "task"}
    pagination_class = Growing
    body_class = NewJudgeRunSerializer

    def paginate_queryset(self, queryset: Any) -> Any:
        return list(progress_of(super().paginate_queryset(queryset) or []).values())

    @operation(
        "Price a run of a judge. Genie sends no texts before approval",
        "",
        *("not-found", "unknown-task", "unusable-question"),
    )
    def post(self, request: Request) -> Response:
        wish = self.body()
        task = wish.pop("task")
        if not staff_may(request.user, _MAY_ASK, task.slug):
            raise PermissionDenied(f"Requires the permission {_MAY_ASK}.")
        judge = get_object_or_404(Judge, pk=wish.pop("judge"))
        by = cast("Account", request.user)
        try:
            run = ask.ask(judge, task, ask.Wish(**wish), by=by)
        except GenieError as error:
            raise GenieError(error.message, code="unusable-question") from None
        body = self.get_serializer(progress(run)).data
        return Response(body, status=status.HTTP_201_CREATED)


@operation("Show a run of a judge: data sent, progress, cost")
class JudgeRunDetail(JudgeRunView, DetailView):
    def get_object(self) -> Progress:
        return progress(super().get_object())


@operation(
    "List license decisions on a run's judge, with reasons",
    operation_id="judge_runs_licences",
)
class JudgeRunLicences(JudgeRunView, DetailView):
    serializer_class = LicensesSerializer


@operation("List a task's judges (programs) with their licenses")
class TaskJudges(TaskView, ListView):
    tag = "metrics"
    query_class = PageQuery
    serializer_class = ShownJudgeSerializer

    def get_queryset(self) -> Any:
        return judges_of(self.task(), self.request.user)


class JudgeRunDecision(JudgeRunView):
    permission_on_run = _MAY_DECIDE
    body_class = JudgeDecisionSerializer

    @operation(
        "Approve, decline, stop or resume a run of a judge",
        "",
        *("not-approvable", "over-budget", "decided-meanwhile"),
        operation_id="judge_runs_decide",
    )
    def post(self, request: Request, pk: int) -> Response:
        run, wish = self.get_object(), self.body()
        by = cast("Account", request.user)
        with transaction.atomic():
            if not _decide(run, wish, by):
                raise GenieError(
                    "The run's state has changed in the meantime.",
                    code="decided-meanwhile",
                )
            done = f"{wish['decision'].capitalize()}, by program."
            note(by, run, done, wish.get("reason", ""))
        run.refresh_from_db()
        return Response(self.get_serializer(progress(run)).data)


def _decide(run: JudgeRun, wish: dict[str, Any], by: Account) -> bool:
    decision, reason = wish["decision"], wish.get("reason", "")
    if decision == STOP:
        return decide.stop(run)
    if decision == DECLINE:
        return decide.decline(run, by=by, reason=reason)
    try:
        if decision == RESUME:
            return decide.resume(run, cents=wish.get("cents"))
        return decide.approve(
            run,
            by=by,
            cents=wish["cents"],
            reason=reason,
            references=wish["references"],
            private=wish["private"],
        )
    except GenieError as error:
        code = "over-budget" if error.code == "over-budget" else "not-approvable"
        raise GenieError(error.message, code=code) from None
