from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy

from leaderboard.evaluation.models import states
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.tasks.models import Instance, Task


class Team(models.Model):
    """Who hands in: one person or several; quotas count per team."""

    slug = models.SlugField(max_length=100, unique=True)
    name = models.CharField(max_length=200)
    members = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        through="leaderboard.Membership",
        related_name="teams",
        blank=True,
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.name


class Submission(models.Model):
    """One system's predictions for one task, and where they are on their way."""

    class State(models.TextChoices):
        RECEIVED = "RECEIVED", gettext_lazy("received")
        INVALID = "INVALID", gettext_lazy("invalid")
        VALID = "VALID", gettext_lazy("valid")
        MEASURED = "MEASURED", states.State.REQUESTED.label
        # its evaluation's states: only the machine writes them (`evaluation.machine`)
        DECLINED = states.State.DECLINED.value, states.State.DECLINED.label
        APPROVED = states.State.APPROVED.value, states.State.APPROVED.label
        ANNOTATING = states.State.ANNOTATING.value, states.State.ANNOTATING.label
        STOPPED = states.State.STOPPED.value, states.State.STOPPED.label
        ANNOTATED = states.State.ANNOTATED.value, states.State.ANNOTATED.label
        SCORED = states.State.SCORED.value, states.State.SCORED.label
        PUBLISHED = "PUBLISHED", gettext_lazy("published")
        WITHDRAWN = "WITHDRAWN", gettext_lazy("withdrawn")

    class Weights(models.TextChoices):
        """Whether anybody can have the model's weights."""

        OPEN = "open", gettext_lazy("open weights")
        CLOSED = "closed", gettext_lazy("closed weights")

    class Baseline(models.TextChoices):
        """What else than somebody's system a row may be: something to compare with."""

        REFERENCE = "reference", gettext_lazy("human reference")
        BASELINE = "baseline", gettext_lazy("baseline")

    class Visibility(models.TextChoices):
        PUBLIC = "PUBLIC", gettext_lazy("public: shown on the leaderboard")
        PRIVATE = "PRIVATE", gettext_lazy("private: visible only to the team and staff")

    # The way of a submission that meets no trouble.
    WALK: ClassVar[list[str]] = [
        "RECEIVED",
        "VALID",
        "MEASURED",
        "APPROVED",
        "ANNOTATING",
        "ANNOTATED",
        "SCORED",
        "PUBLISHED",
    ]

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="submissions")
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="submissions")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="submissions"
    )
    system_name = models.CharField(max_length=100)
    description = models.TextField(max_length=4000, blank=True)
    links = models.JSONField(default=list, blank=True)
    # What the submitter says of the system; empty is not said.
    organization = models.CharField(max_length=100, blank=True)
    weights = models.CharField(max_length=6, choices=Weights.choices, blank=True)
    # as people write it: "7B", "8x22B", "355M"
    parameters = models.CharField(max_length=20, blank=True)
    licence = models.CharField(max_length=100, blank=True)
    # Shown as a mark beside the name; ranks do not know it.
    baseline = models.CharField(max_length=9, choices=Baseline.choices, blank=True)
    visibility = models.CharField(
        max_length=8, choices=Visibility.choices, default=Visibility.PUBLIC
    )
    anonymous_until = models.DateField(null=True, blank=True)
    # Answers to it came from programs that play workers; every page says so.
    simulated = models.BooleanField(default=False)

    file = models.FileField(max_length=200)
    file_name = models.CharField(max_length=200)
    file_sha256 = models.CharField(max_length=64)
    file_bytes = models.PositiveBigIntegerField()
    file_format = models.CharField(max_length=50, blank=True)

    state = models.CharField(
        max_length=16, choices=State.choices, default=State.RECEIVED, db_index=True
    )
    # [{code, message, count, examples}]: why a file is invalid
    errors = models.JSONField(default=list, blank=True)
    # [{code, sentence, figures}]: what the pre-flight noticed; they do not block
    warnings = models.JSONField(default=list, blank=True)
    n_attempts = models.PositiveSmallIntegerField(default=0)
    failed_step = models.CharField(max_length=50, blank=True)
    failure = models.TextField(blank=True)
    failure_permanent = models.BooleanField(default=False)

    # made when it is measured: what asking people about it alone costs is decided then
    human_evaluation = models.OneToOneField(
        HumanEvaluation,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="submission",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    published_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["task", "state"])]

    def __str__(self) -> str:
        return self.system_name

    @property
    def failed(self) -> bool:
        return bool(self.failed_step)

    @property
    def evaluation(self) -> HumanEvaluation | None:
        return self.human_evaluation

    @property
    def approved_cents(self) -> int | None:
        evaluation = self.human_evaluation
        return evaluation.approved_cents if evaluation else None

    @property
    def decision_reason(self) -> str:
        evaluation = self.human_evaluation
        return evaluation.decision_reason if evaluation else ""

    @property
    def anonymous_now(self) -> bool:
        return (
            self.anonymous_until is not None
            and timezone.localdate() < self.anonymous_until
        )


class SubmissionEvent(models.Model):
    """One line of a submission's story."""

    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, related_name="events"
    )
    state = models.CharField(max_length=16, choices=Submission.State.choices)
    sentence = models.CharField(max_length=500)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
    )
    at = models.DateTimeField(auto_now_add=True)
    # when e-mails and webhooks about it were put on their way
    announced_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        indexes = [
            models.Index(
                fields=["id"],
                condition=models.Q(announced_at=None),
                name="event_not_announced",
            )
        ]

    def __str__(self) -> str:
        return self.sentence


class Prediction(models.Model):
    """A system's output for one instance."""

    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, related_name="predictions"
    )
    instance = models.ForeignKey(
        Instance, on_delete=models.PROTECT, related_name="predictions"
    )
    text = models.TextField(blank=True)
    # errors that came marked with it, and who marked them; None: it came without
    spans = models.JSONField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["submission", "instance"], name="prediction_once"
            )
        ]

    def __str__(self) -> str:
        return self.text[:80]
