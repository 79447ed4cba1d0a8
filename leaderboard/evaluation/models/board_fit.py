from django.db import models

from genie.lib.database import OrderedJSONField
from leaderboard.tasks.models import Task


class BoardFit(models.Model):
    """The joint estimate of a board's systems, and of a hidden system `of` beside them."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="board_fits")
    of = models.ForeignKey(
        "leaderboard.Submission",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
    )
    # criterion -> fields of SystemEstimates, lists in the order of its systems
    criteria = OrderedJSONField(default=dict)
    # criterion -> result of leaderboard.evaluation.evidence; only for public boards
    evidence = models.JSONField(default=dict)
    # weights other than 1 of ratings, by worker: quality.bans.selectors
    weights = models.JSONField(default=dict)
    # hash of the scores' ratings and settings
    inputs_sha256 = models.CharField(max_length=64)
    # until when scores that it would change keep their numbers, a day at most
    holds_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    superseded_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(
                fields=["task", "of"],
                condition=models.Q(superseded_at=None),
                name="current_board_fit",
            )
        ]

    def __str__(self) -> str:
        return f"{self.task} of {self.created_at:%Y-%m-%d %H:%M}"


class FitPiece(models.Model):
    """A computed part of a board's fit, kept until the fit is stored."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="+")
    # the submission of a fit beside the public board, 0 for the board itself
    of = models.PositiveBigIntegerField(default=0)
    # hash of the inputs, see BoardFit
    inputs_sha256 = models.CharField(max_length=64)
    # name of the part
    name = models.CharField(max_length=200)
    result = OrderedJSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "of", "inputs_sha256", "name"], name="fit_piece_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.task}"
