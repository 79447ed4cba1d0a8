from functools import partial
from typing import Any

from django.conf import settings
from django.db import models, transaction
from django.db.models.signals import post_delete
from django.dispatch import receiver

from genie.lib.database import OrderedJSONField
from leaderboard.tasks.models import Task


class Draft(models.Model):
    """A task in preparation from files; deleted some time after the last change."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="drafts"
    )
    slug = models.SlugField(max_length=100)
    title = models.CharField(max_length=200)
    # uses: the role of each column; asked, people: the forms as filled in
    state = OrderedJSONField(default=dict)
    # once it has been loaded
    task = models.ForeignKey(
        Task, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-changed_at"]

    def __str__(self) -> str:
        return self.title


class DraftFile(models.Model):
    draft = models.ForeignKey(Draft, on_delete=models.CASCADE, related_name="files")
    name = models.CharField(max_length=200)
    file = models.FileField(max_length=200, upload_to="drafts")

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.name


@receiver(post_delete, sender=DraftFile)
def _forget(instance: DraftFile, **_sent: Any) -> None:
    """Delete a file once its row's deletion is committed, also with the account."""
    transaction.on_commit(partial(instance.file.delete, save=False))
