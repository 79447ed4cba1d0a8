from django.db import models

from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.tasks.models import Instance


class AnchorItem(models.Model):
    """An item that shows an output of a settled system in another system's campaign.

    Its ratings link the two crowds and count in no score.
    """

    evaluation = models.ForeignKey(
        HumanEvaluation, on_delete=models.CASCADE, related_name="anchor_items"
    )
    item = models.OneToOneField(
        "crowd.Item", on_delete=models.CASCADE, related_name="+"
    )
    instance = models.ForeignKey(Instance, on_delete=models.PROTECT, related_name="+")
    submission = models.ForeignKey(
        "leaderboard.Submission", on_delete=models.PROTECT, related_name="anchors"
    )
    # the slot of its output; empty if the item shows one output only
    slot = models.CharField(max_length=8, blank=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"item {self.item_id} shows {self.submission_id} on {self.instance_id}"
