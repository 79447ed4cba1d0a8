from __future__ import annotations

from django.db import models

from leaderboard.models.asked import Asked
from leaderboard.models.human_evaluation import HumanEvaluation
from leaderboard.models.submission import Submission
from leaderboard.models.task import Task


class JointEvaluation(Asked):
    """Several systems judged side by side, instance by instance (RankME)."""

    class State(models.TextChoices):
        REQUESTED = "REQUESTED", "waits for staff"
        DECLINED = "DECLINED", "declined"
        APPROVED = "APPROVED", "approved"
        RUNNING = "RUNNING", "being judged"
        SCORED = "SCORED", "scored"
        STOPPED = "STOPPED", "stopped"

    task = models.ForeignKey(
        Task, on_delete=models.PROTECT, related_name="joint_evaluations"
    )
    design = models.CharField(max_length=50, default="rankme")
    # the criteria that are asked; the others of the task are not
    criteria = models.JSONField(default=list)
    n_instances = models.PositiveIntegerField()
    # how many workers judge each instance
    n_workers = models.PositiveSmallIntegerField(default=1)
    seed = models.BigIntegerField()
    simulated = models.BooleanField(default=False)
    state = models.CharField(
        max_length=16, choices=State.choices, default=State.REQUESTED, db_index=True
    )
    evaluation = models.OneToOneField(
        HumanEvaluation,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="joint",
    )
    # per criterion: ranking, TrueSkill, agreement; written when scored
    results = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"joint evaluation {self.pk} on {self.task}"


class EvaluatedSystem(models.Model):
    """One of the systems of a joint evaluation."""

    joint = models.ForeignKey(
        JointEvaluation, on_delete=models.CASCADE, related_name="systems"
    )
    submission = models.ForeignKey(
        Submission, on_delete=models.PROTECT, related_name="+"
    )
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["joint", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["joint", "submission"], name="evaluated_system_once"
            ),
            models.UniqueConstraint(
                fields=["joint", "position"], name="evaluated_position_once"
            ),
        ]

    def __str__(self) -> str:
        return str(self.submission)
