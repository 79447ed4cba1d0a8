from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from genie.lib.database import OrderedJSONField
from genie.lib.runner import Work
from leaderboard.judges.definition import SCRIPTED, signature
from leaderboard.metric_board.models import OutsideMetric
from leaderboard.submissions.models import Submission
from leaderboard.tasks.models import Instance, Task

# A price in cents per million tokens, times tokens, is this many units to a cent.
MICROCENTS = 1_000_000


class Judge(models.Model):
    """A program that judges; everything that determines its answers is hashed."""

    name = models.SlugField(max_length=40)
    version = models.CharField(max_length=40)
    # see `definition.FIELDS`; `sha256` is the hash of these with name and version
    definition = OrderedJSONField(default=dict)
    sha256 = models.CharField(max_length=64, unique=True)
    # in cents per million tokens, of the request and of the response
    input_price = models.DecimalField(max_digits=12, decimal_places=3, default=0)
    output_price = models.DecimalField(max_digits=12, decimal_places=3, default=0)
    # requests per minute; 0: no limit
    per_minute = models.PositiveIntegerField(default=60)
    at_once = models.PositiveSmallIntegerField(default=4)
    timeout_seconds = models.PositiveSmallIntegerField(default=60)
    # how often an invalid answer is asked for again
    n_retries = models.PositiveSmallIntegerField(default=2)
    # names of its family of models, comma-separated: its own kind in audits
    family = models.CharField(max_length=200, blank=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["name", "version"], name="judge_version_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def is_scripted(self) -> bool:
        return bool(self.definition["endpoint"] == SCRIPTED)

    @property
    def what(self) -> str:
        return "a script" if self.is_scripted else "a language model"

    @property
    def signature(self) -> str:
        return signature(self.name, self.version, self.definition)


class JudgeBudget(models.Model):
    """The limit of one or all judges on a task; paid requests need one."""

    task = models.ForeignKey(
        Task, on_delete=models.CASCADE, related_name="judge_budgets"
    )
    judge = models.ForeignKey(
        Judge, on_delete=models.CASCADE, null=True, blank=True, related_name="budgets"
    )
    cents = models.PositiveIntegerField()

    class Meta:
        ordering = ["task", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["task", "judge"], name="judge_budget_once"),
            # uniqueness for rows without a judge, because the first constraint ignores
            # nulls
            models.UniqueConstraint(
                fields=["task"], condition=Q(judge=None), name="judges_budget_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge or 'all judges'} on {self.task}"


class JudgeRun(Work):
    class State(models.TextChoices):
        ASKED = "ASKED", "waits for approval"
        DECLINED = "DECLINED", "declined"
        RUNNING = "RUNNING", "running"
        STOPPED = "STOPPED", "stopped"
        DONE = "DONE", "done"

    OPEN: ClassVar[tuple[str, ...]] = (State.RUNNING, State.STOPPED)

    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="runs")
    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="judge_runs")
    state = models.CharField(
        max_length=8, choices=State.choices, default=State.ASKED, db_index=True
    )
    # chosen criteria, submissions and instances
    plan = OrderedJSONField(default=dict)
    # repeats answered questions, to see whether answers have changed; usually empty
    occasion = models.CharField(max_length=100, blank=True)
    # number of questions, without repeated ones
    n_calls = models.PositiveIntegerField(default=0)
    # in advance: the expected and the highest cost, rounded up
    expected_cents = models.PositiveIntegerField(default=0)
    most_cents = models.PositiveIntegerField(default=0)
    approved_cents = models.PositiveIntegerField(default=0)
    # the sum of its `costs`, in millionths of a cent: including open requests it never
    # exceeds the approved amount
    microcents = models.BigIntegerField(default=0)
    # what approval allowed of non-public texts
    with_references = models.BooleanField(default=False)
    with_private = models.BooleanField(default=False)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
    )
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    decision_reason = models.CharField(max_length=1000, blank=True)
    # hash of the evidence at the last license decision when this was the newest run
    decided_on = models.CharField(max_length=64, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.judge} on {self.task}"


class JudgeAnswer(models.Model):
    """The response to a request, stored under the request's hash: never asked twice."""

    request_sha256 = models.CharField(max_length=64, unique=True)
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="answers")
    # untrusted: a program's words, never shown as a person's
    text = models.TextField(blank=True)
    # the endpoint's reason for a refusal
    refusal = models.CharField(max_length=500, blank=True)
    # the model as reported by the endpoint
    model = models.CharField(max_length=200, blank=True)
    fingerprint = models.CharField(max_length=200, blank=True)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0.0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.request_sha256[:12]


class JudgeCall(models.Model):
    class State(models.TextChoices):
        WAITING = "WAITING", "waiting"
        VALID = "VALID", "answered"
        INVALID = "INVALID", "no valid answer"

    run = models.ForeignKey(JudgeRun, on_delete=models.CASCADE, related_name="calls")
    instance = models.ForeignKey(Instance, on_delete=models.CASCADE, related_name="+")
    # the output that is judged, in slot A of two
    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, related_name="+"
    )
    # the output in slot B; null: judged alone
    other = models.ForeignKey(
        Submission, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    # contents of the page's slots in order: submissions, and 0 for a reference; empty:
    # `submission`, then `other`
    beside = OrderedJSONField(default=list)
    # which of the groups of criteria that are asked together
    part = models.PositiveSmallIntegerField(default=0)
    # the number of the repetition, up to k
    sample = models.PositiveSmallIntegerField(default=0)
    # how an audit modified the output before it was sent; usually empty. Such an answer
    # never counts as one about the output.
    probe = models.CharField(max_length=40, blank=True, default="")
    state = models.CharField(max_length=7, choices=State.choices, default=State.WAITING)
    n_attempts = models.PositiveSmallIntegerField(default=0)
    # criterion -> rating on the people's scale; of two outputs, that of `submission`
    values = OrderedJSONField(default=dict)
    # criterion -> the program's reason
    reasons = OrderedJSONField(default=dict)
    # errors that the program marked in the output, in the form of people's answers
    marks = OrderedJSONField(default=list)
    # why the last answer was invalid
    problem = models.CharField(max_length=200, blank=True)
    answer = models.ForeignKey(
        JudgeAnswer, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=[
                    *("run", "instance", "submission", "other"),
                    *("beside", "part", "sample", "probe"),
                ],
                name="judge_pair_call_once",
            ),
            models.UniqueConstraint(
                fields=[
                    *("run", "instance", "submission", "beside"),
                    *("part", "sample", "probe"),
                ],
                condition=Q(other=None),
                name="judge_call_once",
            ),
        ]
        indexes = [models.Index(fields=["run", "state"])]

    def __str__(self) -> str:
        return f"{self.submission_id} on {self.instance_id}"


class JudgeCost(models.Model):
    """A line of the judges' ledger: reserved before a request is sent, then settled."""

    class State(models.TextChoices):
        HELD = "HELD", "request sent, cost not known yet"
        PAID = "PAID", "answered"
        LOST = "LOST", "no answer: counted at its maximum cost"
        FREE = "FREE", "refused: not charged"

    run = models.ForeignKey(JudgeRun, on_delete=models.PROTECT, related_name="costs")
    request_sha256 = models.CharField(max_length=64, db_index=True)
    state = models.CharField(max_length=4, choices=State.choices, default=State.HELD)
    # length of the request
    n_bytes = models.PositiveIntegerField(default=0)
    # counted cost, in millionths of a cent
    microcents = models.PositiveBigIntegerField()
    at = models.DateTimeField(auto_now_add=True)
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["run", "state"])]

    def __str__(self) -> str:
        return f"${self.microcents / MICROCENTS / 100:.6f} of {self.run}"


class JudgeMetric(models.Model):
    run = models.ForeignKey(JudgeRun, on_delete=models.CASCADE, related_name="metrics")
    criterion = models.CharField(max_length=50)
    metric = models.OneToOneField(
        OutsideMetric, on_delete=models.CASCADE, related_name="judged"
    )

    class Meta:
        ordering = ["run", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "criterion"], name="judge_metric_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.run} by {self.criterion}"
