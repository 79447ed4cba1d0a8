"""The test questions of a campaign, drawn and stored before they are asked."""

from django.db import models

from genie.lib.database import OrderedJSONField
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation


class DrawnTests(models.Model):
    """The measured questions are the asked ones, also in a comparison's later waves."""

    evaluation = models.ForeignKey(
        HumanEvaluation, on_delete=models.CASCADE, related_name="drawn_tests"
    )
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
