from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.functional import cached_property

from crowd.hits.models import Campaign
from genie.lib.database import OrderedJSONField
from genie.lib.runner import Work
from leaderboard.charts import format_score
from leaderboard.evaluation.result_columns import stored_fields, within_bounds
from leaderboard.submissions import states
from leaderboard.tasks.config.differences import HUMAN
from leaderboard.tasks.models import Instance, Task

if TYPE_CHECKING:
    from leaderboard.submissions.models import Submission

# Before the first question is asked.
_BEFORE = (states.State.REQUESTED, states.State.DECLINED, states.State.WITHDRAWN)


Row = TypeVar("Row", bound="HumanEvaluation")


class Evaluations(models.Manager[Row]):
    def tables_asked(self) -> set[str]:
        """Return the tables of task.toml by which people have been asked already."""
        rows = self.exclude(state__in=_BEFORE)
        # a withdrawn submission can return to the board for a day
        back = rows.filter(
            campaigns__isnull=False,
            submissions__events__state=states.State.WITHDRAWN,
            submissions__events__at__gt=timezone.now() - states.WAY_BACK,
        )
        rows = rows.exclude(
            ~Q(pk__in=back), submissions__own_state=states.State.WITHDRAWN
        )
        kinds = rows.order_by().values_list("kind", flat=True).distinct()
        return {TABLES.get(kind, kind) for kind in kinds}

    def of_systems(self) -> models.QuerySet[Row]:
        return self.filter(kind=HumanEvaluation.Kind.RATINGS)


class OfKind(Evaluations[Row]):
    def get_queryset(self) -> models.QuerySet[Row]:
        return super().get_queryset().filter(kind=self.model.KIND)

    def create(self, **fields: Any) -> Row:
        return super().create(kind=self.model.KIND, **fields)


class HumanEvaluation(Work):
    """An evaluation by people: the question, the approval and the state.

    It rates some submissions, each alone. Other kinds are models, too: `Comparison`,
    with more columns, and `JointEvaluation`.
    """

    State = states.State

    class Kind(models.TextChoices):
        RATINGS = "single", "ratings"
        COMPARISON = "comparison", "comparison"
        JOINT = "joint", "joint evaluation"

    KIND = Kind.RATINGS

    task = models.ForeignKey(
        Task, on_delete=models.PROTECT, related_name="human_evaluations"
    )
    kind = models.CharField(max_length=16, choices=Kind.choices, default=Kind.RATINGS)
    state = models.CharField(
        max_length=16,
        choices=states.State.choices,
        default=states.State.REQUESTED,
        db_index=True,
    )
    design = models.CharField(max_length=50)
    # number of instances to rate; for a comparison, at most
    n_instances = models.PositiveIntegerField()
    seed = models.BigIntegerField()
    simulated = models.BooleanField(default=False)
    # its ratings were imported; no worker was asked or paid here
    imported = models.ForeignKey(
        "leaderboard.Import",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        editable=False,
        related_name="evaluations",
    )

    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="Who approved, declined or stopped it.",
    )
    decision_reason = models.TextField(blank=True)
    approved_cents = models.PositiveIntegerField(null=True, blank=True)
    start_now = models.BooleanField(default=False)

    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    # when the ratings were last turned into scores
    scored_at = models.DateTimeField(null=True, blank=True)
    # when it was settled which ratings count; see `rescoring`
    final_at = models.DateTimeField(null=True, blank=True)
    # when the possibility to collect lost ratings again was last checked
    asked_again_at = models.DateTimeField(null=True, blank=True)
    # quality must not point here
    drawn_tests = models.ManyToManyField(
        "quality.DrawnTests", editable=False, related_name="evaluations"
    )
    test_check = models.OneToOneField(
        "quality.TestCheck",
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="evaluation",
    )
    ranks_partial = models.BooleanField(
        "ranks partial score",
        default=False,
        help_text="Staff decided that its score is ranked although it is partial.",
    )

    # workers per instance or pair, if the task does not set it
    n_workers = models.PositiveSmallIntegerField(default=1)
    # of a joint evaluation: the criteria that are asked, a subset of the task's
    criteria = models.JSONField(default=list, blank=True)
    # requested number of instances; `n_instances` is how many the systems share
    n_asked = models.PositiveIntegerField("n instances", default=0)
    # systems per page; None: all of them
    per_page = models.PositiveSmallIntegerField(null=True, blank=True)
    # per criterion: wins, agreement, method; the systems' estimates are `Score`s
    results = models.JSONField(default=dict, blank=True)

    objects = Evaluations()

    # the only system that this object is about; see `about`
    system: int | None = None

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        row = self.specific
        if type(row) is HumanEvaluation:
            return ", ".join(map(str, self.alone))
        return str(row)

    @cached_property
    def alone(self) -> list[Submission]:
        """Return the submissions that are rated one at a time, in order."""
        return sorted(self.submissions.all(), key=lambda one: one.pk)

    @property
    def submission(self) -> Submission:
        """Return the only submission, or the first one."""
        own = (one for one in self.alone if self.system in {None, one.pk})
        return next(own, None) or self.submissions.get()

    @property
    def parts(self) -> list[HumanEvaluation]:
        return [self.about(one.pk) for one in self.alone]

    def about(self, system: int) -> HumanEvaluation:
        """Return a copy that has only the campaigns and scores of one system."""
        # read once for all copies
        _ = self._campaign_rows
        part = copy(self)
        part.system = system
        return part

    @property
    def specific(self) -> HumanEvaluation:
        """Return it as its kind's model; a joint evaluation stays the same object."""
        if self.kind == self.Kind.JOINT:
            self.__class__ = JointEvaluation
        return self.comparison if self.kind == self.Kind.COMPARISON else self

    @property
    def listed_as(self) -> Any:
        """Return the row by which pages, the log and the admin list it."""
        return self.submission

    @property
    def failed_step(self) -> str:
        step = states.STEPS.get(self.state, "measure_tests")
        return step if self.failure else ""

    @property
    def campaigns_in_order(self) -> list[Campaign]:
        """Return no campaign before the launch, then one or one per criterion."""
        return [
            row.campaign
            for row in self._campaign_rows
            if self.system in {None, row.submission_id}
        ]

    @property
    def _campaign_rows(self) -> list[EvaluationCampaign]:
        rows: list[EvaluationCampaign] = self.__dict__.get("_campaigns", [])
        # An empty list is not cached: campaigns may have been launched since.
        if not rows:
            rows = list(self.campaigns.all())
            self.__dict__["_campaigns"] = rows
        return rows

    @property
    def current_scores(self) -> models.QuerySet[Score]:
        own = {} if self.system is None else {"submission": self.system}
        return self.scores.filter(superseded_at=None, **own)

    @property
    def campaign(self) -> Campaign:
        """Return the only campaign, or the first criterion's."""
        return self.campaigns_in_order[0]

    def refresh_from_db(
        self,
        using: str | None = None,
        fields: Iterable[str] | None = None,
        from_queryset: models.QuerySet[Any] | None = None,
    ) -> None:
        for cached in ("_campaigns", "alone"):
            self.__dict__.pop(cached, None)
        super().refresh_from_db(using, fields, from_queryset)


class JointEvaluation(HumanEvaluation):
    """Several systems judged side by side, instance by instance (RankME)."""

    KIND = HumanEvaluation.Kind.JOINT
    objects: ClassVar = OfKind()

    class Meta:
        proxy = True
        ordering = ["-pk"]

    def __str__(self) -> str:
        # lists fetch the systems beforehand: systems__submission
        systems = [row.submission.system_name for row in self.systems.all()]
        return f"joint evaluation {self.pk}: {', '.join(systems)}"

    @property
    def listed_as(self) -> JointEvaluation:
        return self

    @property
    def workers_each(self) -> list[int]:
        each = {c.answers_per_hit for c in self.campaigns_in_order if c.answers_per_hit}
        return sorted(each) or [self.n_workers]

    @property
    def is_provisional(self) -> bool:
        return self.state == self.State.SCORED and self.final_at is None


class EvaluatedSystem(models.Model):
    evaluation = models.ForeignKey(
        HumanEvaluation, on_delete=models.CASCADE, related_name="systems"
    )
    submission = models.ForeignKey(
        "leaderboard.Submission", on_delete=models.PROTECT, related_name="evaluated"
    )
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["evaluation", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["evaluation", "submission"], name="evaluated_system_once"
            ),
            models.UniqueConstraint(
                fields=["evaluation", "position"], name="evaluated_position_once"
            ),
        ]

    def __str__(self) -> str:
        return str(self.submission)


class WithCampaigns(models.Manager["EvaluationCampaign"]):
    def get_queryset(self) -> models.QuerySet[EvaluationCampaign]:
        return super().get_queryset().select_related("campaign__hit_type")


class EvaluationCampaign(models.Model):
    """A campaign of an evaluation for all criteria, or for one (setup 2).

    It shows the outputs of one system; if several are shown together, `submission` is
    empty.
    """

    evaluation = models.ForeignKey(
        HumanEvaluation, on_delete=models.CASCADE, related_name="campaigns"
    )
    campaign = models.OneToOneField(
        Campaign, on_delete=models.PROTECT, related_name="asked"
    )
    submission = models.ForeignKey(
        "leaderboard.Submission",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="campaigns",
    )
    # empty: all of them
    criterion = models.CharField(max_length=50, blank=True)
    position = models.PositiveSmallIntegerField()

    objects = WithCampaigns()

    class Meta:
        ordering = ["evaluation", "submission_id", "position"]
        constraints = [
            models.UniqueConstraint(
                "evaluation",
                # databases take two empty ones for different
                Coalesce("submission", 0),
                name,
                name=f"evaluation_{unique}_once",
            )
            for name, unique in (("criterion", "criterion"), ("position", "campaign"))
        ]

    def __str__(self) -> str:
        return str(self.campaign)


class Subject(models.Model):
    evaluation = models.ForeignKey(
        HumanEvaluation, on_delete=models.CASCADE, related_name="subjects"
    )
    item = models.OneToOneField(
        "crowd.Item", on_delete=models.CASCADE, related_name="+"
    )
    instance = models.ForeignKey(Instance, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"item {self.item_id} shows {self.instance_id}"


class ShownOutput(models.Model):
    """The system whose output is in a slot of an item that shows several."""

    subject = models.ForeignKey(
        Subject, on_delete=models.CASCADE, related_name="outputs"
    )
    slot = models.CharField(max_length=8)
    submission = models.ForeignKey(
        "leaderboard.Submission",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="Empty: a reference.",
    )

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["subject", "slot"], name="one_output_a_slot"
            )
        ]

    def __str__(self) -> str:
        return f"{self.slot}: {self.submission_id or 'reference'}"


class AnchorItem(models.Model):
    """An item that shows an output of a settled system in another system's campaign.

    Its ratings link the two crowds and count in no score.
    """

    evaluation = models.ForeignKey(
        HumanEvaluation, on_delete=models.CASCADE, related_name="anchor_items"
    )
    item = models.OneToOneField(
        "crowd.Item", on_delete=models.CASCADE, related_name="+"
    )
    instance = models.ForeignKey(Instance, on_delete=models.PROTECT, related_name="+")
    submission = models.ForeignKey(
        "leaderboard.Submission", on_delete=models.PROTECT, related_name="anchors"
    )
    # the slot of its output; empty if the item shows one output only
    slot = models.CharField(max_length=8, blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"item {self.item_id} shows {self.submission_id} on {self.instance_id}"


class ConfirmedOutput(models.Model):
    """An output that staff confirmed as good: it can be a positive test question."""

    prediction = models.OneToOneField(
        "leaderboard.Prediction", on_delete=models.CASCADE, related_name="confirmed"
    )
    confirmed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    confirmed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"output {self.prediction_id}, confirmed as good"


class Scores(models.Manager["Score"]):
    # `_base_manager` has those of joint evaluations and comparisons, too
    def get_queryset(self) -> models.QuerySet[Score]:
        return super().get_queryset().filter(estimator=Score.MEAN)


class Score(models.Model):
    """The aggregate of the clean ratings; never overwritten, only superseded.

    `mean` and the intervals belong to the task's headline estimate; `estimates` has
    all. Its other fields are declared as `result_columns`.
    """

    MEAN, JOINT, PREFERENCE = "mean-rating", "joint", "preference"

    submission = models.ForeignKey(
        "leaderboard.Submission", on_delete=models.PROTECT, related_name="scores"
    )
    evaluation = models.ForeignKey(
        HumanEvaluation, on_delete=models.PROTECT, related_name="scores"
    )
    fit = models.ForeignKey(
        "leaderboard.BoardFit",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="scores",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    superseded_at = models.DateTimeField(null=True, blank=True)
    estimator = models.CharField(
        max_length=16,
        default=MEAN,
        editable=False,
        choices=[(one, one) for one in (MEAN, JOINT, PREFERENCE)],
    )
    # its crowd's ratings of an anchor minus earlier ones, see `selectors.ranked_scores`; null:
    # the crowd is not linked to an earlier one
    link = OrderedJSONField(null=True, blank=True)

    objects = Scores()

    reason: str
    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...  # another column

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["evaluation", "submission", "criterion"],
                condition=Q(superseded_at=None),
                name="one_current_score",
            ),
            models.CheckConstraint(
                condition=within_bounds(), name="score_within_bounds"
            ),
        ]

    def __str__(self) -> str:
        return format_score(self)


class Rescoring(models.Model):
    """A day on which published scores of a task changed, all in one transaction."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="rescorings")
    # in UTC; of two jobs that rescore on the same day one fails
    on = models.DateField()
    at = models.DateTimeField()
    n_changed = models.PositiveIntegerField()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["task", "on"], name="rescored_once_a_day")
        ]

    def __str__(self) -> str:
        return f"{self.task} on {self.on}"


TABLES: dict[str, str] = {HumanEvaluation.Kind.RATINGS: HUMAN}
for _name, _field in stored_fields().items():
    Score.add_to_class(_name, _field)
