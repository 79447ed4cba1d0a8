from functools import partial
from typing import Any

from django.conf import settings
from django.db import models, transaction
from django.db.models.signals import post_delete
from django.dispatch import receiver

from genie.lib.runner import Work
from leaderboard.tasks.models import Task


class Release(Work):
    class State(models.TextChoices):
        WAITING = "WAITING", "waiting"
        RUNNING = "RUNNING", "being made"
        DONE = "DONE", "ready"
        FAILED = "FAILED", "failed"
        CANCELLED = "CANCELLED", "cancelled"
        REMOVED = "REMOVED", "archive removed"

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="releases")
    state = models.CharField(
        max_length=9, choices=State.choices, default=State.WAITING, db_index=True
    )
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
    )
    # systems written in each of the long tables, of how many
    n_done = models.PositiveIntegerField(default=0)
    n_all = models.PositiveIntegerField(default=0)
    # number of restarts on request
    round = models.PositiveSmallIntegerField(default=0)
    file = models.FileField(max_length=200, upload_to="releases", blank=True)
    sha256 = models.CharField("SHA-256", max_length=64, blank=True)
    n_bytes = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"release {self.pk} of {self.task}"

    @property
    def file_name(self) -> str:
        return f"{self.task.slug}-{self.created_at:%Y-%m-%d}-{self.pk}.zip"


@receiver(post_delete, sender=Release)
def _forget(instance: Release, **_sent: Any) -> None:
    """Delete the archive after the row's deletion is committed, also with its task."""
    if instance.file:
        transaction.on_commit(partial(instance.file.delete, save=False))
