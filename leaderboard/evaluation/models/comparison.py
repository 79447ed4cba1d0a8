from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from leaderboard.evaluation.models.human_evaluation import (
    HumanEvaluation,
    OfKind,
    Score,
    Subject,
)
from leaderboard.submissions.models import Submission
from leaderboard.submissions.states import OVER
from leaderboard.tasks.models import Task


class ComparisonSet(models.Model):
    """All pairs of several systems with one shared error probability."""

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="+")
    criterion = models.CharField(max_length=50)
    # chance that any of the decisions is wrong
    delta = models.FloatField()
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"all pairs {self.pk} on {self.task}"


class Comparison(HumanEvaluation):
    """Whether one system is better than another; asked until a rule decides."""

    class Strategy(models.TextChoices):
        ONE = "one-worker", "one random worker per pair"
        FIXED = "fixed-worker", "the same worker for all pairs"
        MAJORITY = "majority", "majority of several workers per pair"
        MAX_THREE = "max-three", "two workers per pair, a third if they disagree"

    KIND = HumanEvaluation.Kind.COMPARISON

    evaluation = models.OneToOneField(
        HumanEvaluation,
        on_delete=models.CASCADE,
        parent_link=True,
        primary_key=True,
        related_name="comparison",
    )
    criterion = models.CharField(max_length=50)
    a = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="+")
    b = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="+")
    within = models.ForeignKey(
        ComparisonSet,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="comparisons",
    )
    # chance that the decision is wrong, both sides together
    delta = models.FloatField()
    rule = models.CharField(max_length=50)
    strategy = models.CharField(
        max_length=16, choices=Strategy.choices, default=Strategy.ONE
    )
    wave_size = models.PositiveSmallIntegerField()
    # the budget, in pairs
    max_pairs = models.PositiveIntegerField()
    n_waves = models.PositiveSmallIntegerField(default=0)
    # the decision at the end; "" until then
    better = models.CharField(
        max_length=1, blank=True, choices=[("A", "the first"), ("B", "the second")]
    )
    n_labels = models.PositiveIntegerField(default=0)
    # the share of labels for A at the end; null without a label
    result = models.ForeignKey(
        Score, models.PROTECT, null=True, editable=False, related_name="+"
    )
    # whether the estimate weights both sides equally, however they were drawn
    sides_balanced = models.BooleanField(default=False, editable=False)
    # whether the votes that counted at its end are stored as `CountedVote`
    votes_kept = models.BooleanField(default=False, editable=False)

    objects: ClassVar = OfKind()

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.a} vs. {self.b}: {self.criterion}"

    @property
    def specific(self) -> Comparison:
        return self

    @property
    def listed_as(self) -> Comparison:
        return self

    @property
    def is_over(self) -> bool:
        return self.state in OVER


class ComparedPair(models.Model):
    """A pair of outputs, its place in the random order, and the slot of A's output."""

    comparison = models.ForeignKey(
        Comparison, on_delete=models.CASCADE, related_name="pairs"
    )
    subject = models.OneToOneField(
        Subject, on_delete=models.CASCADE, related_name="pair"
    )
    position = models.PositiveIntegerField()
    wave = models.PositiveSmallIntegerField()
    slot_of_a = models.CharField(max_length=8)

    class Meta:
        ordering = ["comparison", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["comparison", "position"], name="compared_position_once"
            )
        ]

    def __str__(self) -> str:
        return f"pair {self.position} of {self.comparison_id}"


class CountedVote(models.Model):
    """A worker's vote on a pair as it counted when the comparison ended.

    Bans, appeals and taken-back rejections change later which votes count, so that this
    cannot be reconstructed.
    """

    pair = models.ForeignKey(
        ComparedPair, on_delete=models.CASCADE, related_name="counted_votes"
    )
    worker = models.ForeignKey(
        "crowd.Worker", on_delete=models.PROTECT, related_name="+"
    )
    # 1 for A, 0 for B, one half for a tie
    value = models.FloatField()

    class Meta:
        ordering = ["pair", "worker"]
        constraints = [
            models.UniqueConstraint(fields=["pair", "worker"], name="counted_vote_once")
        ]

    def __str__(self) -> str:
        return f"{self.value:g} for A in pair {self.pair_id}"
