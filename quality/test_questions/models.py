"""Test questions: where they hide, and how they were answered."""

from django.db import models


class Polarity(models.TextChoices):
    POSITIVE = "POSITIVE", "positive: a text that is known to be good"
    NEGATIVE = "NEGATIVE", "negative: a text that is known to be bad"


class Placement(models.Model):
    """Where a test question hides among a campaign's items; only this room knows."""

    campaign = models.ForeignKey(
        "crowd.Campaign", on_delete=models.CASCADE, related_name="+"
    )
    item = models.OneToOneField(
        "crowd.Item", on_delete=models.CASCADE, related_name="+"
    )
    polarity = models.CharField(max_length=8, choices=Polarity.choices)
    # what the right answer is, where polarity and scale do not say it all
    expected = models.JSONField(default=dict, blank=True)
    # how its text came about: `services.texts` names the ways; empty: as a reference
    kind = models.CharField(max_length=40, blank=True, default="")
    # whose text it was and what was changed, for staff and appeals
    made_from = models.JSONField(default=dict, blank=True)
    # no text is a test question twice
    text_sha256 = models.CharField(max_length=64, blank=True, default="", db_index=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.get_polarity_display()}"


class Grade(models.Model):
    """One worker's answer to one test question on one criterion, right or wrong."""

    placement = models.ForeignKey(
        Placement, on_delete=models.CASCADE, related_name="grades"
    )
    assignment = models.ForeignKey(
        "crowd.Assignment", on_delete=models.CASCADE, related_name="+"
    )
    worker = models.ForeignKey(
        "crowd.Worker", on_delete=models.CASCADE, related_name="grades"
    )
    pool = models.CharField(max_length=100)
    # empty: graded before each criterion was graded by itself
    criterion = models.CharField(max_length=50, blank=True, default="")
    polarity = models.CharField(max_length=8, choices=Polarity.choices)
    correct = models.BooleanField()
    graded_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["placement", "assignment", "criterion"], name="grade_once"
            )
        ]
        indexes = [models.Index(fields=["pool", "polarity", "worker"])]

    def __str__(self) -> str:
        return "right" if self.correct else "wrong"
