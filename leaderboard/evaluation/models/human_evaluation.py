from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from crowd.hits.models import Campaign
from genie.lib.database import OrderedJSONField
from genie.lib.runner import Work
from leaderboard.charts import format_score
from leaderboard.evaluation.result_columns import stored_columns, within_bounds
from leaderboard.submissions import states
from leaderboard.tasks.config.differences import HUMAN
from leaderboard.tasks.models import Instance, Task

# Before the first question is asked.
_BEFORE = (states.State.REQUESTED, states.State.DECLINED, states.State.WITHDRAWN)


class Evaluations(models.Manager["HumanEvaluation"]):
    def tables_asked(self) -> set[str]:
        """Return the tables of task.toml by which people have been asked already."""
        rows = self.exclude(state__in=_BEFORE)
        # a withdrawn submission can return to the board for a day
        back = rows.filter(
            campaigns__isnull=False,
            submission__events__state=states.State.WITHDRAWN,
            submission__events__at__gt=timezone.now() - states.WAY_BACK,
        )
        rows = rows.exclude(
            ~Q(pk__in=back), submission__own_state=states.State.WITHDRAWN
        )
        strategies = rows.order_by().values_list("strategy", flat=True).distinct()
        single = HumanEvaluation.Strategy.SINGLE
        return {HUMAN if strategy == single else strategy for strategy in strategies}


class HumanEvaluation(Work):
    """An evaluation by people: the question, the approval and the state.

    A submission, a comparison or a joint evaluation owns it. It has all that these
    share: the decision on the money, the state, failed steps, systems and campaigns.
    """

    State = states.State

    class Strategy(models.TextChoices):
        SINGLE = "single", "one system"
        COMPARISON = "comparison", "comparison"
        JOINT = "joint", "joint evaluation"

    task = models.ForeignKey(
        Task, on_delete=models.PROTECT, related_name="human_evaluations"
    )
    strategy = models.CharField(max_length=16, choices=Strategy.choices)
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
    ranks_partial = models.BooleanField(
        "ranks partial score",
        default=False,
        help_text="Staff decided that its score is ranked although it is partial.",
    )

    objects = Evaluations()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return str(self.subject)

    @property
    def subject(self) -> models.Model:
        of: dict[str, str] = {self.Strategy.SINGLE: "submission"}
        owner: models.Model = getattr(self, of.get(self.strategy, self.strategy))
        return owner

    @property
    def failed_step(self) -> str:
        step = states.STEPS.get(self.state, "measure_tests")
        return step if self.failure else ""

    @property
    def campaigns_in_order(self) -> list[Campaign]:
        """Return no campaign before the launch, then one or one per criterion."""
        campaigns: list[Campaign] = self.__dict__.get("_campaigns", [])
        # An empty list is not cached: campaigns may have been launched since.
        if not campaigns:
            campaigns = [row.campaign for row in self.campaigns.all()]
            self.__dict__["_campaigns"] = campaigns
        return campaigns

    @property
    def answers_each(self) -> list[int]:
        """Return planned answers per HIT, several numbers if criteria differ."""
        campaigns = self.campaigns_in_order
        return sorted({c.answers_per_hit for c in campaigns if c.answers_per_hit})

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
        self.__dict__.pop("_campaigns", None)
        super().refresh_from_db(using, fields, from_queryset)


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
    """A campaign of an evaluation for all criteria, or for one (setup 2)."""

    evaluation = models.ForeignKey(
        HumanEvaluation, on_delete=models.CASCADE, related_name="campaigns"
    )
    campaign = models.OneToOneField(
        Campaign, on_delete=models.PROTECT, related_name="+"
    )
    # empty: all of them
    criterion = models.CharField(max_length=50, blank=True)
    position = models.PositiveSmallIntegerField()

    objects = WithCampaigns()

    class Meta:
        ordering = ["evaluation", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["evaluation", "criterion"], name="evaluation_criterion_once"
            ),
            models.UniqueConstraint(
                fields=["evaluation", "position"], name="evaluation_campaign_once"
            ),
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


class Score(models.Model):
    """The aggregate of the clean ratings; never overwritten, only superseded.

    `mean` and the intervals belong to the task's headline estimate; `estimates` has
    all. Its other fields are declared as `result_columns`.
    """

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
    # its crowd's ratings of an anchor minus earlier ones, see `selectors.ranked_scores`; null:
    # the crowd is not linked to an earlier one
    link = OrderedJSONField(null=True, blank=True)

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


for _column in stored_columns():
    Score.add_to_class(_column.name, _column.field)
