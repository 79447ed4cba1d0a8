from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from leaderboard.tasks.models import Task


class InstanceChoice(models.Model):
    """Staff had people's instances drawn by judges' disagreement, with known chances.

    The chances themselves stand on the instances. Undone ones are kept.
    """

    task = models.ForeignKey(
        Task, on_delete=models.PROTECT, related_name="instance_choices"
    )
    # whose scores disagreed: several judges', or one's repeats
    runs = models.ManyToManyField("leaderboard.JudgeRun", related_name="+")
    criterion = models.CharField(max_length=50)
    # the systems over whose outputs disagreement was averaged
    submissions = models.JSONField(default=list)
    n = models.PositiveIntegerField("instances for people")
    floor = models.FloatField()
    # decides the draw; shown to staff only
    seed = models.BigIntegerField()
    # the places that instances had before, by position
    ranks_before = models.JSONField(default=list, editable=False)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    because = models.CharField(max_length=500)
    at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
    )
    undone_because = models.CharField(max_length=500, blank=True)

    class Meta:
        verbose_name = "choice of instances"
        verbose_name_plural = "choices of instances"
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["task"],
                condition=Q(undone_at=None),
                name="instance_choice_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.n:,} instances of {self.task}"
