from collections.abc import Sequence
from typing import Any, cast

from django.db import transaction
from django.http import Http404
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import PermissionDenied
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.response import Response

from genie.accounts.models import AccessToken
from genie.accounts.permissions import IsStaff
from genie.accounts.staff import narrowed, staff_may
from genie.lib.admin import note
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.api.base import View, problems
from leaderboard.api.body import Body
from leaderboard.api.pagination import Growing
from leaderboard.api.query import LARGEST, OfTaskQuery, PageQuery, TaskField
from leaderboard.boards.api.tasks import TaskView
from leaderboard.judges.models import Judge, JudgeRun
from leaderboard.judges.selectors.shown import judges_of
from leaderboard.judges.selectors.told import leaving, progress_of
from leaderboard.judges.services import ask, decide
from leaderboard.submissions.selectors import Staff

APPROVE, DECLINE, STOP, RESUME = "approve", "decline", "stop", "resume"
_MAY_ASK, _MAY_DECIDE = "leaderboard.add_judgerun", "leaderboard.change_judgerun"
REFUSALS = ("not-authenticated", "permission-denied", "not-found")
_BODY = ("invalid", "bad-request", "request-too-large", "unsupported-media-type")


class ProblemCountSerializer(serializers.Serializer[Any]):
    problem = serializers.CharField()
    n = serializers.IntegerField()


class JudgeRunSerializer(serializers.Serializer[Any]):
    """A run of a judge: what it asks, what it may cost, how far it is."""

    id = serializers.IntegerField()
    task = serializers.CharField()
    judge = serializers.CharField(help_text="Its signature.")
    scripted = serializers.BooleanField(help_text="A script, and no model of any kind.")
    state = serializers.CharField()
    leaving = serializers.ListField(
        child=serializers.CharField(), help_text="What is sent where, in sentences."
    )
    with_references = serializers.BooleanField()
    with_private = serializers.BooleanField()
    expected_cents = serializers.IntegerField()
    most_cents = serializers.IntegerField(
        help_text="If every answer is valid at the first time."
    )
    approved_cents = serializers.IntegerField()
    spent_cents = serializers.FloatField(
        help_text="With what is on its way, and with requests whose answer never came."
    )
    n = serializers.IntegerField()
    answered = serializers.IntegerField()
    invalid = serializers.IntegerField()
    waiting = serializers.IntegerField()
    probes = serializers.IntegerField(
        help_text="Questions of the audit, about outputs with something planted in "
        "them; counted nowhere else."
    )
    probes_answered = serializers.IntegerField()
    problems = ProblemCountSerializer(many=True)
    models = serializers.ListField(
        child=serializers.CharField(),
        help_text="What the endpoint says that answered; more than one is a change.",
    )
    failure = serializers.CharField(help_text="Why it stands still; usually empty.")
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class LicenceReasonSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    holds = serializers.BooleanField()
    words = serializers.CharField(help_text="With the figures.")


class LicenceSerializer(serializers.Serializer[Any]):
    """What was decided of a judge on one criterion; every reason has to hold."""

    criterion = serializers.CharField()
    state = serializers.CharField(
        source="get_state_display", help_text="licensed, not licensed, or expired."
    )
    at = serializers.DateTimeField(help_text="When it was decided.")
    run = serializers.IntegerField(source="run_id")
    reasons = LicenceReasonSerializer(many=True)
    moved = serializers.ListField(
        child=serializers.CharField(), help_text="What made it expire; usually empty."
    )
    facts = serializers.DictField(
        child=serializers.CharField(), help_text="What it was decided on, in words."
    )


class ShownLicenceSerializer(serializers.Serializer[Any]):
    criterion = serializers.CharField()
    state = serializers.CharField(
        help_text="licensed, not licensed, expired, or not decided yet."
    )
    since = serializers.DateTimeField(allow_null=True)
    rows = LicenceSerializer(many=True, help_text="All decisions, the newest first.")


class ShownRunSerializer(serializers.Serializer[Any]):
    run = serializers.IntegerField(source="run.pk")
    finished_at = serializers.DateTimeField(source="run.finished_at")
    occasion = serializers.CharField(source="run.occasion")
    n = serializers.IntegerField()
    answered = serializers.IntegerField()
    invalid = serializers.IntegerField()
    probes = serializers.IntegerField()
    models = serializers.ListField(child=serializers.CharField())
    spent_cents = serializers.FloatField()


class ShownJudgeSerializer(serializers.Serializer[Any]):
    """A program that judged; what it says is never a person's word."""

    judge = serializers.CharField(help_text="Name and version.")
    what = serializers.CharField(
        source="judge.what", help_text="What kind of program it is."
    )
    scripted = serializers.BooleanField(source="judge.scripted")
    signature = serializers.CharField(source="judge.signature")
    sent = serializers.CharField(help_text="Which texts went where.")
    runs = ShownRunSerializer(source="asked", many=True)
    licences = ShownLicenceSerializer(many=True)


class LicencesSerializer(serializers.Serializer[Any]):
    """What was decided on this run, the newest first; empty before the job has looked."""

    licences = LicenceSerializer(many=True)


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
        help_text="Outputs that are sent again with planted commands, ten times each; "
        f"without, there is no licence. {ask.AUDITED} are usual.",
    )


class JudgeDecisionSerializer(Body):
    decision = serializers.ChoiceField(choices=[APPROVE, DECLINE, STOP, RESUME])
    cents = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=LARGEST,
        help_text="Required to approve: the most that it may cost.",
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
                {"cents": "Say how many cents it may cost at most."}
            )
        return attrs


class JudgeRunView(View):
    permission_classes = [IsStaff]
    scope = AccessToken.Scope.STAFF
    staff_permission = Staff.SEE_JUDGES
    of_tasks = True
    parser_classes = [JSONParser]
    queryset = JudgeRun.objects.select_related("judge", "task").order_by("-pk")
    serializer_class = JudgeRunSerializer

    def rows(self, permission: str = Staff.SEE_JUDGES) -> Any:
        return narrowed(
            self.get_queryset(), self.request.user, permission, "task__slug"
        )

    def run(self, pk: int, permission: str = Staff.SEE_JUDGES) -> JudgeRun:
        row = self.rows(permission).filter(pk=pk).first()
        if row is None:
            raise Http404
        return cast("JudgeRun", row)


class JudgeRunList(JudgeRunView):
    query_class = OfTaskQuery
    pagination_class = Growing

    @extend_schema(
        tags=["staff"],
        operation_id="judge_runs_list",
        summary="List runs of judges, newest first",
        responses={
            200: JudgeRunSerializer(many=True),
            **problems(*REFUSALS, "unknown-task"),
        },
    )
    def get(self, request: Request) -> Response:
        rows = self.rows()
        if task := self.query.get("task"):
            rows = rows.filter(task=task)
        page: Any = _told(self.paginate_queryset(rows) or [])
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(
        tags=["staff"],
        operation_id="judge_runs_create",
        summary="Price a run of a judge; nothing is sent before it is approved",
        request=NewJudgeRunSerializer,
        responses={
            201: OpenApiResponse(JudgeRunSerializer),
            **problems(*REFUSALS, *_BODY, "unknown-task", "unusable-question"),
        },
    )
    def post(self, request: Request) -> Response:
        serializer = NewJudgeRunSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        wish = dict(serializer.validated_data)
        task = wish.pop("task")
        if not staff_may(request.user, _MAY_ASK, task.slug):
            raise PermissionDenied(f"This takes the permission {_MAY_ASK}.")
        judge = Judge.objects.filter(pk=wish.pop("judge")).first()
        if judge is None:
            raise Http404
        try:
            run = ask.ask(
                judge, task, ask.Wish(**wish), by=cast("Account", request.user)
            )
        except GenieError as error:
            raise GenieError(error.message, code="unusable-question") from None
        body = self.get_serializer(*_told([run])).data
        return Response(body, status=status.HTTP_201_CREATED)


class JudgeRunDetail(JudgeRunView):
    @extend_schema(
        tags=["staff"],
        operation_id="judge_runs_retrieve",
        summary="Show a run of a judge: what leaves, progress, cost",
        responses={200: JudgeRunSerializer, **problems(*REFUSALS)},
    )
    def get(self, request: Request, pk: int) -> Response:
        return Response(self.get_serializer(*_told([self.run(pk)])).data)


class JudgeRunLicences(JudgeRunView):
    serializer_class: Any = LicencesSerializer

    @extend_schema(
        tags=["staff"],
        operation_id="judge_runs_licences",
        summary="List what was decided of the licences of a run's judge, and why",
        responses={200: LicencesSerializer, **problems(*REFUSALS)},
    )
    def get(self, request: Request, pk: int) -> Response:
        said = {"licences": self.run(pk).licences.order_by("-pk")}
        return Response(self.get_serializer(said).data)


class TaskJudges(TaskView):
    query_class = PageQuery
    serializer_class = ShownJudgeSerializer

    @extend_schema(
        tags=["metrics"],
        operation_id="tasks_judges_list",
        summary="List a task's judges, which are programs, with their licences",
        responses={200: ShownJudgeSerializer(many=True), **problems("not-found")},
    )
    def get(self, request: Request, slug: str) -> Response:
        shown: Any = judges_of(self.task(), request.user)
        page: Any = self.paginate_queryset(shown)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class JudgeRunDecision(JudgeRunView):
    @extend_schema(
        tags=["staff"],
        operation_id="judge_runs_decide",
        summary="Approve, decline, stop or resume a run of a judge",
        request=JudgeDecisionSerializer,
        responses={
            200: OpenApiResponse(JudgeRunSerializer),
            **problems(
                *(*REFUSALS, *_BODY, "not-approvable"),
                *("over-budget", "decided-meanwhile"),
            ),
        },
    )
    def post(self, request: Request, pk: int) -> Response:
        run = self.run(pk, _MAY_DECIDE)
        serializer = JudgeDecisionSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        said = dict(serializer.validated_data)
        user: Any = request.user
        with transaction.atomic():
            if not _decided(run, said, user):
                raise GenieError(
                    "The run is in another state by now.", code="decided-meanwhile"
                )
            done = f"{said['decision'].capitalize()}, by program."
            note(user, run, done, said.get("reason", ""))
        run.refresh_from_db()
        return Response(self.get_serializer(*_told([run])).data)


def _decided(run: JudgeRun, said: dict[str, Any], by: Account) -> bool:
    decision, reason = said["decision"], said.get("reason", "")
    if decision == STOP:
        return decide.stop(run)
    if decision == DECLINE:
        return decide.decline(run, by=by, reason=reason)
    try:
        if decision == RESUME:
            return decide.resume(run, cents=said.get("cents"))
        return decide.approve(
            run,
            by=by,
            cents=said["cents"],
            reason=reason,
            references=said["references"],
            private=said["private"],
        )
    except GenieError as error:
        code = "over-budget" if error.code == "over-budget" else "not-approvable"
        raise GenieError(error.message, code=code) from None


def _told(runs: Sequence[JudgeRun]) -> list[dict[str, Any]]:
    plain = ("state", "with_references", "with_private", "expected_cents", "failure")
    more = ("most_cents", "approved_cents", "created_at", "finished_at")
    progress = progress_of(runs)
    return [
        {
            **{name: getattr(run, name) for name in (*plain, *more)},
            **progress[run.pk],
            "id": run.pk,
            "task": run.task.slug,
            "judge": run.judge.signature,
            "scripted": run.judge.scripted,
            "leaving": leaving(run),
        }
        for run in runs
    ]
