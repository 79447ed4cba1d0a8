"""Test questions: their hidden places, and the grades of their answers."""

from django.db import models


class Polarity(models.TextChoices):
    POSITIVE = "POSITIVE", "positive: a text that is known to be good"
    NEGATIVE = "NEGATIVE", "negative: a text that is known to be bad"


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

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.get_polarity_display()}"


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
