from django.conf import settings
from django.db import models
from django.db.models import Q

from crowd.workers.models.qualification_test import (
    QualificationQuestion,
    QualificationTest,
)
from crowd.workers.models.worker import Worker


class TestAttempt(models.Model):
    __test__ = False  # hides it from pytest

    test = models.ForeignKey(
        QualificationTest, on_delete=models.PROTECT, related_name="attempts"
    )
    worker = models.ForeignKey(
        Worker, on_delete=models.CASCADE, related_name="test_attempts"
    )
    number = models.PositiveIntegerField()
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    n_right = models.PositiveIntegerField(null=True, blank=True)
    passed = models.BooleanField(null=True, blank=True)
    next_try_at = models.DateTimeField(null=True, blank=True)
    # its language; empty: before there were several
    language = models.CharField(max_length=16, blank=True, default="")

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["test", "worker", "number"], name="try_number_once"
            ),
            models.UniqueConstraint(
                fields=["test", "worker"],
                condition=Q(finished_at=None),
                name="one_open_try",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.worker}: {self.test}, attempt {self.number}"


class AttemptAnswer(models.Model):
    attempt = models.ForeignKey(
        TestAttempt, on_delete=models.CASCADE, related_name="answers"
    )
    question = models.ForeignKey(
        QualificationQuestion, on_delete=models.PROTECT, related_name="+"
    )
    position = models.PositiveIntegerField()
    # the form values, by the question's parts
    given = models.JSONField(null=True, blank=True)
    right = models.BooleanField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["attempt", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["attempt", "question"], name="asked_once_in_a_try"
            )
        ]

    def __str__(self) -> str:
        return f"answer {self.position + 1}"


class QualificationGrant(models.Model):
    worker = models.ForeignKey(
        Worker, on_delete=models.CASCADE, related_name="qualification_grants"
    )
    name = models.SlugField(max_length=100)
    # the passed version of the test; staff can grant without a test
    version = models.PositiveIntegerField(default=0)
    attempt = models.OneToOneField(
        TestAttempt,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="grant",
    )
    granted_at = models.DateTimeField()
    granted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="Empty: granted by the test.",
    )
    expires_at = models.DateTimeField(null=True, blank=True)
    # when a newer grant replaced it, or staff revoked it
    ended_at = models.DateTimeField(null=True, blank=True)
    revoked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
    )
    revoked_reason = models.TextField(blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["worker", "name"],
                condition=Q(ended_at=None),
                name="one_grant_of_a_name",
            )
        ]

    def __str__(self) -> str:
        return f"{self.worker} · {self.name}"
