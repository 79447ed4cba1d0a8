from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models

from crowd.requester.models.account import (
    Requester,
    RequesterHIT,
    RequesterHITType,
    new_entity_id,
)
from crowd.workers.models.worker import Worker

TWO_LETTERS = RegexValidator(r"^[A-Z]{2}\Z", "Two capital letters, such as US.")


class WorkerRecord(models.Model):
    worker = models.OneToOneField(
        Worker, on_delete=models.CASCADE, related_name="record"
    )
    country = models.CharField(
        max_length=2,
        blank=True,
        validators=[TWO_LETTERS],
        help_text="Country of residence: ISO 3166, two capital letters; empty if unknown.",
    )
    subdivision = models.CharField(
        max_length=2,
        blank=True,
        validators=[TWO_LETTERS],
        help_text="State, for people in the US only.",
    )
    adult = models.BooleanField(
        default=False, help_text="Is an adult and accepts adult content."
    )
    master = models.BooleanField(
        default=False, help_text="Counts as a Master for HITs that require Masters."
    )

    class Meta:
        ordering = ["worker"]
        verbose_name = "worker's record"

    def __str__(self) -> str:
        return str(self.worker)


class RequesterBatch(models.Model):
    requester = models.ForeignKey(
        Requester, on_delete=models.CASCADE, related_name="batches"
    )
    hit_type = models.ForeignKey(
        RequesterHITType, on_delete=models.CASCADE, related_name="batches"
    )
    name = models.CharField(max_length=100)
    # the table's columns, in order
    columns = models.JSONField(default=list)
    lifetime_seconds = models.PositiveIntegerField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "requester batches"
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "name"], name="requester_batch_once"
            )
        ]

    def __str__(self) -> str:
        return self.name


class RequesterLayout(models.Model):
    requester = models.ForeignKey(
        Requester, on_delete=models.CASCADE, related_name="layouts"
    )
    entity_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    name = models.CharField(max_length=100)
    page = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    # It is not used for new HITs; existing ones keep their page.
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name = "requester's layout"

    def __str__(self) -> str:
        return self.name


class PolicyDetail(models.Model):
    hit = models.ForeignKey(
        RequesterHIT, on_delete=models.CASCADE, related_name="policy_details"
    )
    # Assignment or HIT
    level = models.CharField(max_length=16)
    is_action = models.BooleanField()
    body = models.JSONField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.hit}: {self.body.get('Key') or self.body.get('ActionName')}"


class RequestToken(models.Model):
    """A request that must not happen twice, and what it created the first time."""

    requester = models.ForeignKey(
        Requester, on_delete=models.CASCADE, related_name="tokens"
    )
    operation = models.CharField(max_length=64)
    token = models.CharField(max_length=128)
    made = models.CharField(max_length=64, blank=True)
    used_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "operation", "token"], name="request_token_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.token}"


class RequesterEvent(models.Model):
    requester = models.ForeignKey(
        Requester, on_delete=models.CASCADE, related_name="events"
    )
    event_id = models.CharField(max_length=64, unique=True, default=new_entity_id)
    transport = models.CharField(max_length=16)
    destination = models.TextField()
    body = models.JSONField()
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)
    n_tries = models.PositiveSmallIntegerField(default=0)
    # when it is tried again; null: sent, or given up
    next_try_at = models.DateTimeField(null=True, blank=True, db_index=True)
    trouble = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.event_id
