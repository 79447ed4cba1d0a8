from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from genie.lib.runner import Work
from leaderboard.submissions import states
from leaderboard.tasks.models import Instance, Task

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


_STEPS = {
    "RECEIVED": "validate",
    "VALID": "measure",
    **states.STEPS,
    "PUBLISHED": states.STEPS["SCORED"],
}


class Team(models.Model):
    """Submitters: one person or several; quotas apply per team."""

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


_ONE_LINE = gettext_lazy("This must be one line of at most 100 characters.")


@dataclass(frozen=True)
class Detail:
    """A detail of a system: in the model, forms, API, exports and on its page."""

    name: str
    field: Any  # a CharField
    label: "_StrPromise"
    # in forms, and in the API for new submissions and for existing ones
    help_text: "_StrPromise"
    asked: str
    answered: str
    # as a fact on the page
    fact: "_StrPromise | str"
    # what the text has to be, and the sentence if it is not
    pattern: str = ".*"
    refusal: "_StrPromise" = _ONE_LINE


# Of a team's entries to a task, one is primary and ranked, as at WMT.
PRIMARY, CONTRASTIVE = "primary", "contrastive"
DETAILS = [
    Detail(
        "entry",
        models.CharField(
            max_length=11,
            choices=[
                (PRIMARY, gettext_lazy("primary system")),
                (CONTRASTIVE, gettext_lazy("contrastive system")),
            ],
            blank=True,
        ),
        gettext_lazy("Entry"),
        gettext_lazy(
            "If you name one system primary, it is ranked, and the team's other systems "
            "for this task are contrastive: listed without a rank."
        ),
        "primary, or contrastive: listed without a rank. A team has one primary system "
        "for a task; its others are then contrastive.",
        "primary, contrastive, or empty.",
        "%(entry)s",
        f"{PRIMARY}|{CONTRASTIVE}",
        gettext_lazy("An entry is primary, contrastive, or neither."),
    ),
    Detail(
        "organization",
        models.CharField(max_length=100, blank=True),
        gettext_lazy("Organization"),
        gettext_lazy("Who built the system, if it is not your team."),
        "Who built the system, if it is not the team.",
        "Who built the system; empty if not given.",
        "<bdi>%(organization)s</bdi>",
    ),
    Detail(
        "weights",
        models.CharField(
            max_length=6,
            choices=[
                ("open", gettext_lazy("open weights")),
                ("closed", gettext_lazy("closed weights")),
            ],
            blank=True,
        ),
        gettext_lazy("Weights"),
        gettext_lazy("Open weights: anyone can download the model."),
        "Whether the model's weights are public.",
        "open, closed, or empty if not given.",
        "%(weights)s",
        "open|closed",
        gettext_lazy("Choose open or closed weights, or leave this empty."),
    ),
    Detail(
        "parameters",
        models.CharField(max_length=20, blank=True),
        gettext_lazy("Parameters"),
        gettext_lazy("How many, such as 7B, 355M or 8x22B."),
        "Number of parameters, such as 7B, 355M or 8x22B.",
        'Such as "7B"; empty if not given.',
        gettext_lazy("%(parameters)s parameters"),
        # 7B, 1.5B, 355M, 8x22B, ~1T: short enough for a column, with a number
        r"(?i)[~≈<>]? ?(\d+ ?[x×] ?)?\d[\d.,]* ?[kmbt]?",
        gettext_lazy("Write the number of parameters like 7B, 1.5B, 355M or 8x22B."),
    ),
    Detail(
        "licence",
        models.CharField(max_length=100, blank=True),
        gettext_lazy("License of the system"),
        gettext_lazy("Such as Apache-2.0, or proprietary."),
        "Of the system.",
        "Empty if not given.",
        gettext_lazy("license: <bdi>%(licence)s</bdi>"),
    ),
]


def detail_names() -> list[str]:
    return [detail.name for detail in DETAILS]


class Submission(Work):
    """One system's predictions for one task, and their state."""

    class State(models.TextChoices):
        """States as pages show them: its own, then those of its evaluation."""

        RECEIVED = "RECEIVED", gettext_lazy("received")
        INVALID = "INVALID", gettext_lazy("invalid")
        VALID = "VALID", gettext_lazy("valid")
        MEASURED = "MEASURED", gettext_lazy("awaiting approval")
        DECLINED = "DECLINED", gettext_lazy("declined")
        APPROVED = "APPROVED", gettext_lazy("approved")
        ANNOTATING = "ANNOTATING", gettext_lazy("collecting ratings")
        STOPPED = "STOPPED", gettext_lazy("stopped")
        ANNOTATED = "ANNOTATED", gettext_lazy("ratings complete")
        SCORED = "SCORED", gettext_lazy("scored")
        PUBLISHED = "PUBLISHED", gettext_lazy("published")
        WITHDRAWN = "WITHDRAWN", gettext_lazy("withdrawn")

    class Baseline(models.TextChoices):
        """Kinds of rows that are not systems of submitters, for comparison."""

        REFERENCE = "reference", gettext_lazy("human reference")
        BASELINE = "baseline", gettext_lazy("baseline")

    class Visibility(models.TextChoices):
        PUBLIC = "PUBLIC", gettext_lazy("public: shown on the leaderboard")
        PRIVATE = "PRIVATE", gettext_lazy("private: visible only to the team and staff")

    # Its evaluation has the state of a measured submission.
    OWN: ClassVar[list[State]] = [
        State.RECEIVED,
        State.INVALID,
        State.VALID,
        State.MEASURED,
        State.WITHDRAWN,
    ]
    # The states of a submission without trouble.
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
    entry: str  # one of the details
    system_name = models.CharField(max_length=100)
    description = models.TextField(max_length=4000, blank=True)
    links = models.JSONField(default=list, blank=True)
    # Shown as a mark beside the name; ranks ignore it.
    baseline = models.CharField(max_length=9, choices=Baseline.choices, blank=True)
    visibility = models.CharField(
        max_length=8, choices=Visibility.choices, default=Visibility.PUBLIC
    )
    anonymous_until = models.DateField(null=True, blank=True)
    # Programs answered in the role of workers; every page says so.
    simulated = models.BooleanField(default=False)

    file = models.FileField(max_length=200)
    file_name = models.CharField(max_length=200)
    file_sha256 = models.CharField(max_length=64)
    file_bytes = models.PositiveBigIntegerField()
    file_format = models.CharField(max_length=50, blank=True)

    own_state = models.CharField(
        max_length=16,
        choices=[(one.value, one.label) for one in OWN],
        default=State.RECEIVED,
        db_index=True,
    )
    # [{code, message, count, examples}]: why a file is invalid
    errors = models.JSONField(default=list, blank=True)
    # [{code, sentence, figures}]: pre-flight warnings; they do not block
    warnings = models.JSONField(default=list, blank=True)

    # made after measuring: then staff decide on its cost
    human_evaluation = models.ForeignKey(
        "leaderboard.HumanEvaluation",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="submissions",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    published_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["task", "own_state"])]

    def __str__(self) -> str:
        return self.system_name

    @property
    def facts(self) -> list[SafeString]:
        texts = {
            detail.name: escape(dict(detail.field.flatchoices).get(said, said))
            for detail in DETAILS
            if (said := getattr(self, detail.name))
        }
        return [
            SafeString(str(detail.fact) % texts)
            for detail in DETAILS
            if detail.name in texts
        ]

    @property
    def state(self) -> str:
        asked = getattr(self.human_evaluation, "state", "")
        return shown_state(self.own_state, self.published_at, asked)

    @property
    def is_published(self) -> bool:
        return self.state == self.State.PUBLISHED

    @property
    def is_withdrawn(self) -> bool:
        return self.own_state == self.State.WITHDRAWN

    def get_state_display(self) -> str:
        return str(self.State(self.state).label)

    @property
    def work(self) -> Work:
        """Return what has the attempts and the failure of its current step."""
        evaluation = self.human_evaluation
        return evaluation if evaluation and self.state in _STEPS else self

    @property
    def failed(self) -> bool:
        return bool(self.work.failure)

    @property
    def failed_step(self) -> str:
        return _STEPS.get(self.state, "") if self.failed else ""

    @property
    def evaluation(self) -> Any:
        return self.human_evaluation

    @property
    def anonymous_now(self) -> bool:
        return (
            self.anonymous_until is not None
            and timezone.localdate() < self.anonymous_until
        )


def shown_state(own: str, published_at: datetime | None, asked: str | None) -> str:
    """Return the state that pages show; `asked` is its evaluation's, if it has one."""
    if own != Submission.State.MEASURED:
        return own
    if published_at is not None:
        return Submission.State.PUBLISHED
    return states.state_on_pages(asked)


for _detail in DETAILS:
    Submission.add_to_class(_detail.name, _detail.field)


class SubmissionEvent(models.Model):
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
    # when e-mails and webhooks about it were enqueued
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
    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, related_name="predictions"
    )
    instance = models.ForeignKey(
        Instance, on_delete=models.PROTECT, related_name="predictions"
    )
    text = models.TextField(blank=True)
    # errors that the file has marked, and who marked them; None: the file has no marks
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


class IdempotencyKey(models.Model):
    """A key of an API request: if it is sent again, the answer is the same."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+"
    )
    key = models.CharField(max_length=200)
    # hash of the request: the fields and the file
    fingerprint = models.CharField(max_length=64)
    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, null=True, related_name="+"
    )
    # if it requested a comparison or a joint evaluation
    evaluation = models.ForeignKey(
        "leaderboard.HumanEvaluation",
        on_delete=models.CASCADE,
        null=True,
        related_name="+",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="request_key_once")
        ]

    def __str__(self) -> str:
        return self.key
