from __future__ import annotations

from django.db import models
from django.db.models import Q

from genie.lib.ordered_json import OrderedJSONField
from leaderboard.models.submission import Submission
from leaderboard.models.task import Instance, Task


class HumanEvaluation(models.Model):
    """Human scoring: which design, which campaign serves it.

    Without a submission it is about several: a comparison or a joint evaluation.
    """

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="+")
    submission = models.OneToOneField(
        Submission,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="human_evaluation",
    )
    campaign = models.OneToOneField(
        "crowd.Campaign", on_delete=models.PROTECT, related_name="+"
    )
    design = models.CharField(max_length=50)
    n_instances = models.PositiveIntegerField()
    seed = models.BigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)
    # when the ratings were last turned into scores
    scored_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"human evaluation of {self.submission or self.campaign}"

    @property
    def one(self) -> Submission:
        """Give the submission, where the evaluation is about one."""
        if self.submission is None:
            raise ValueError("This evaluation is about several submissions.")
        return self.submission


class SeparateCampaign(models.Model):
    """One criterion asked in a campaign of its own (RankME's setup 2).

    The evaluation's own campaign asks the first criterion, these the others.
    """

    evaluation = models.ForeignKey(
        HumanEvaluation, on_delete=models.CASCADE, related_name="separate_campaigns"
    )
    campaign = models.OneToOneField(
        "crowd.Campaign", on_delete=models.PROTECT, related_name="+"
    )
    criterion = models.CharField(max_length=50)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["evaluation", "criterion"], name="separate_campaign_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.criterion} of {self.evaluation_id}"


class JudgedItem(models.Model):
    """Which instance's outputs an item of the campaign shows."""

    evaluation = models.ForeignKey(
        HumanEvaluation, on_delete=models.CASCADE, related_name="judged_items"
    )
    item = models.OneToOneField(
        "crowd.Item", on_delete=models.CASCADE, related_name="+"
    )
    instance = models.ForeignKey(Instance, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"item {self.item_id} shows {self.instance_id}"


class JudgedOutput(models.Model):
    """Whose output stands in which place of an item that shows several."""

    judged_item = models.ForeignKey(
        JudgedItem, on_delete=models.CASCADE, related_name="outputs"
    )
    slot = models.CharField(max_length=8)
    submission = models.ForeignKey(
        Submission,
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
                fields=["judged_item", "slot"], name="one_output_a_slot"
            )
        ]

    def __str__(self) -> str:
        return f"{self.slot}: {self.submission_id or 'reference'}"


class Score(models.Model):
    """The aggregate of the clean ratings; never overwritten, only superseded."""

    submission = models.ForeignKey(
        Submission, on_delete=models.PROTECT, related_name="scores"
    )
    evaluation = models.ForeignKey(
        HumanEvaluation, on_delete=models.PROTECT, related_name="scores"
    )
    criterion = models.CharField(max_length=50)
    mean = models.FloatField()
    low = models.FloatField()
    high = models.FloatField()
    # the inner interval that boards draw thick
    low_50 = models.FloatField()
    high_50 = models.FloatField()
    n = models.PositiveIntegerField()
    n_workers = models.PositiveIntegerField()
    n_excluded_workers = models.PositiveIntegerField(default=0)
    histogram = OrderedJSONField(default=dict)
    covers = models.CharField(max_length=200)
    seed = models.BigIntegerField()
    # the ratings that went in, hashed: same ratings, same score
    ratings_sha256 = models.CharField(max_length=64)
    signature = models.CharField(max_length=300)
    created_at = models.DateTimeField(auto_now_add=True)
    superseded_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["evaluation", "submission", "criterion"],
                condition=Q(superseded_at=None),
                name="one_current_score",
            )
        ]

    def __str__(self) -> str:
        return f"{self.mean:.1f} [{self.low:.1f}, {self.high:.1f}]"
