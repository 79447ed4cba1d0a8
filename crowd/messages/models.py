from django.db import models
from django.utils.translation import gettext_lazy

from crowd.hits.models import Assignment
from crowd.workers.models.worker import Worker


class Message(models.Model):
    """One message to one worker, written in the transaction of the event."""

    class Kind(models.TextChoices):
        REJECTED = "REJECTED", gettext_lazy("work was rejected")
        BANNED = "BANNED", gettext_lazy("excluded from a task")
        UNBANNED = "UNBANNED", gettext_lazy("readmitted")
        BONUS = "BONUS", gettext_lazy("bonus")
        QUALIFIED = "QUALIFIED", gettext_lazy("qualification granted")
        REVOKED = "REVOKED", gettext_lazy("qualification revoked")
        APPEAL = "APPEAL", gettext_lazy("answer to an appeal")
        REQUESTER = "REQUESTER", gettext_lazy("message from a requester")
        PAYMENT = "PAYMENT", gettext_lazy("payment")
        STAFF = "STAFF", gettext_lazy("message from staff")

    worker = models.ForeignKey(
        Worker, on_delete=models.CASCADE, related_name="messages"
    )
    kind = models.CharField(max_length=16, choices=Kind.choices)
    subject = models.CharField(max_length=200)
    text = models.TextField()
    # its subject, for the links below it
    pool = models.ForeignKey("crowd.Pool", models.PROTECT, null=True, blank=True)
    assignment = models.ForeignKey(
        Assignment, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    # its author, and the work it is about
    requester = models.ForeignKey(
        "crowd.Requester",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
    )
    requester_assignment = models.ForeignKey(
        "crowd.RequesterAssignment",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["worker", "read_at"])]

    def __str__(self) -> str:
        return f"{self.worker}: {self.subject}"
