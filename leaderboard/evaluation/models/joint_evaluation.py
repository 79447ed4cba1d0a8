from django.db import models

from leaderboard.evaluation.models.asked import WithEvaluation, of_evaluation
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation


class JointEvaluation(WithEvaluation):
    """Several systems judged side by side, instance by instance (RankME)."""

    evaluation = models.OneToOneField(
        HumanEvaluation, on_delete=models.PROTECT, related_name="joint"
    )
    # the criteria that are asked, a subset of the task's
    criteria = models.JSONField(default=list)
    # requested number; the evaluation has how many the systems share
    n_instances = models.PositiveIntegerField()
    # workers per instance
    n_workers = models.PositiveSmallIntegerField(default=1)
    # systems per page; None: all of them
    per_page = models.PositiveSmallIntegerField(null=True, blank=True)
    # per criterion: ranking, TrueSkill, agreement; written when scored
    results = models.JSONField(default=dict, blank=True)
    # changes since the results became readable, oldest first: at, reason, criterion,
    # submission, before, after
    changes = models.JSONField(default=list, blank=True)

    design: str = of_evaluation("design")

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        # lists fetch the systems beforehand: evaluation__systems__submission
        systems = [row.submission.system_name for row in self.evaluation.systems.all()]
        return f"joint evaluation {self.pk}: {', '.join(systems)}"

    @property
    def workers_each(self) -> list[int]:
        """Return workers per instance now, several numbers if criteria differ."""
        return self.evaluation.answers_each or [self.n_workers]

    @property
    def is_provisional(self) -> bool:
        return self.state == self.State.SCORED and self.evaluation.final_at is None
