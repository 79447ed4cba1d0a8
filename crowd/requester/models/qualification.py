from django.db import models
from django.db.models import Q

from crowd.requester.models.account import Requester, WorkerAlias, new_entity_id


class QualificationType(models.Model):
    requester = models.ForeignKey(
        Requester, on_delete=models.CASCADE, related_name="qualification_types"
    )
    entity_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    name = models.CharField(max_length=200)
    description = models.TextField(max_length=2000)
    keywords = models.TextField(max_length=1000, blank=True)
    active = models.BooleanField(default=True)
    test = models.TextField(blank=True)
    answer_key = models.TextField(blank=True)
    test_seconds = models.PositiveBigIntegerField(null=True, blank=True)
    retry_seconds = models.PositiveBigIntegerField(null=True, blank=True)
    auto_granted = models.BooleanField(default=False)
    auto_granted_value = models.IntegerField(default=1)
    created_at = models.DateTimeField()
    disposed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "name"],
                condition=Q(disposed_at=None),
                name="qualification_name_once",
            )
        ]

    def __str__(self) -> str:
        return self.name


class Qualification(models.Model):
    """A worker's value of one type; revoking keeps the row."""

    qualification_type = models.ForeignKey(
        QualificationType, on_delete=models.CASCADE, related_name="qualifications"
    )
    worker = models.ForeignKey(
        WorkerAlias, on_delete=models.CASCADE, related_name="qualifications"
    )
    value = models.IntegerField(default=1)
    granted = models.BooleanField(default=True)
    granted_at = models.DateTimeField()
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"], name="qualification_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.qualification_type}: {self.value}"


class QualificationRequest(models.Model):
    class State(models.TextChoices):
        STARTED = "STARTED", "test being taken"
        PENDING = "PENDING", "waits"
        GRANTED = "GRANTED", "granted"
        REJECTED = "REJECTED", "rejected"

    qualification_type = models.ForeignKey(
        QualificationType, on_delete=models.CASCADE, related_name="requests"
    )
    worker = models.ForeignKey(
        WorkerAlias, on_delete=models.CASCADE, related_name="qualification_requests"
    )
    entity_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    answer = models.TextField(blank=True)
    # for a test in progress: when it was begun
    submitted_at = models.DateTimeField()
    deadline_at = models.DateTimeField(null=True, blank=True)
    state = models.CharField(
        max_length=16, choices=State.choices, default=State.PENDING
    )
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"],
                condition=Q(state__in=["STARTED", "PENDING"]),
                name="one_pending_qualification_request",
            )
        ]

    def __str__(self) -> str:
        return self.entity_id
