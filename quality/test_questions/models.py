"""Test questions: drawn, measured, hidden among other items, and graded."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from genie.lib.database import OrderedJSONField, Subset


class Polarity(models.TextChoices):
    POSITIVE = "POSITIVE", "positive: a text that is known to be good"
    NEGATIVE = "NEGATIVE", "negative: a text that is known to be bad"


class DrawnTests(models.Model):
    """The measured questions are the asked ones, also in a comparison's later waves."""

    campaign_key = models.CharField(max_length=100, unique=True)
    # hash of the task's way of asking when they were drawn
    asked_how = models.CharField(max_length=64)
    n_wanted = models.PositiveIntegerField()
    notes = models.JSONField(default=list)
    questions = OrderedJSONField(default=list)
    # fingerprints of their texts, which other campaigns do not use
    texts = models.JSONField(default=list)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.campaign_key


class TestCheck(models.Model):
    """How well drawn test questions are hidden, and the reason to start anyway."""

    __test__ = False  # not for pytest

    n_wanted = models.PositiveIntegerField()
    n_found = models.PositiveIntegerField()
    # number of questions by kind
    kinds = models.JSONField(default=dict)
    auc = models.FloatField()
    low = models.FloatField()
    high = models.FloatField()
    best_feature = models.CharField(max_length=50, blank=True)
    best_feature_auc = models.FloatField()
    # how well good texts of test questions differ from wrong ones; None: not measured
    key_auc = models.FloatField(null=True, blank=True)
    verdict = models.CharField(max_length=1000)
    refused = models.BooleanField(default=False)
    # hash of the questions that were measured
    digest = models.CharField(max_length=64, blank=True)
    # who accepted the objections, and why
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
    )
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_because = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.verdict


class TestQuestion(models.Model):
    """The place of a test question among a campaign's items, unknown to `crowd`."""

    __test__ = False  # not for pytest

    campaign = models.ForeignKey(
        "crowd.Campaign", on_delete=models.CASCADE, related_name="+"
    )
    item = models.OneToOneField(
        "crowd.Item", on_delete=models.CASCADE, related_name="+"
    )
    polarity = models.CharField(max_length=8, choices=Polarity.choices)
    # the right answer, if polarity and scale do not determine it
    expected = models.JSONField(default=dict, blank=True)
    # how its text was made, see `services`; empty: a reference
    kind = models.CharField(max_length=40, blank=True, default="")
    # the original text's author and the change, for staff and appeals
    made_from = models.JSONField(default=dict, blank=True)
    # no text is used for two test questions
    text_sha256 = models.CharField(max_length=64, blank=True, default="", db_index=True)
    # careful workers fail it: its answers do not count, unless it is restored
    retired_at = models.DateTimeField(null=True, blank=True)
    retired_by_fit = models.ForeignKey(
        "quality.DetectorFit",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name="fit",
    )
    retired_because = models.TextField("reason", blank=True)
    restored_at = models.DateTimeField(null=True, blank=True)
    restored_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
    )
    restored_reason = models.TextField(blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.get_polarity_display()}"


class RetiredQuestion(TestQuestion):
    """A test question that was retired at some time, for the admin's list of them."""

    objects: ClassVar = Subset["RetiredQuestion"](retired_at__isnull=False)

    class Meta:
        proxy = True
        ordering = ["-retired_at", "-pk"]

    def __str__(self) -> str:
        return f"test question {self.pk}"


class Grade(models.Model):
    test_question = models.ForeignKey(
        TestQuestion, on_delete=models.CASCADE, related_name="grades"
    )
    assignment = models.ForeignKey(
        "crowd.Assignment", on_delete=models.CASCADE, related_name="+"
    )
    worker = models.ForeignKey(
        "crowd.Worker", on_delete=models.CASCADE, related_name="grades"
    )
    pool = models.ForeignKey("crowd.Pool", on_delete=models.PROTECT)
    # empty: graded before criteria were graded separately
    criterion = models.CharField(max_length=50, blank=True, default="")
    polarity = models.CharField(max_length=8, choices=Polarity.choices)
    correct = models.BooleanField()
    graded_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["test_question", "assignment", "criterion"], name="grade_once"
            )
        ]
        indexes = [models.Index(fields=["pool", "polarity", "worker"])]

    def __str__(self) -> str:
        return "right" if self.correct else "wrong"
