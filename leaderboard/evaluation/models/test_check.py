"""How well an evaluation's test questions are hidden, and the reason to start anyway."""

from django.conf import settings
from django.db import models

from leaderboard.evaluation.models.human_evaluation import HumanEvaluation


class TestCheck(models.Model):
    """Measurements of the planned test questions at approval, without their items."""

    __test__ = False  # not for pytest

    evaluation = models.OneToOneField(
        HumanEvaluation, on_delete=models.CASCADE, related_name="test_check"
    )
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
