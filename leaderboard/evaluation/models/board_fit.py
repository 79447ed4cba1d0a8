from django.db import models

from genie.lib.database import OrderedJSONField
from leaderboard.tasks.models import Task


class BoardFit(models.Model):
    """The joint estimate of a board's systems, and of a hidden system `of` beside them."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="board_fits")
    of = models.ForeignKey(
        "leaderboard.Submission",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
    )
    # criterion -> fields of SystemEstimates, lists in the order of its systems
    criteria = OrderedJSONField(default=dict)
    # criterion -> result of leaderboard.evaluation.evidence; only for public boards
    evidence = models.JSONField(default=dict)
    # the ratings' weights that are not 1, by worker: quality.bans.selectors
    weights = models.JSONField(default=dict)
    # hash of the scores' ratings and settings
    inputs_sha256 = models.CharField(max_length=64)
    # until when scores that it would change keep their numbers, a day at most
    holds_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    superseded_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(
                fields=["task", "of"],
                condition=models.Q(superseded_at=None),
                name="current_board_fit",
            )
        ]

    def __str__(self) -> str:
        return f"{self.task} of {self.created_at:%Y-%m-%d %H:%M}"


class FitPiece(models.Model):
    """A computed part of a board's fit, kept until the fit is stored."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="+")
    # the submission of a fit beside the public board, 0 for the board itself
    of = models.PositiveBigIntegerField(default=0)
    # hash of the inputs, see BoardFit
    inputs_sha256 = models.CharField(max_length=64)
    # name of the part
    name = models.CharField(max_length=200)
    result = OrderedJSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "of", "inputs_sha256", "name"], name="fit_piece_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.task}"


class JudgeLicence(models.Model):
    """A decision on a judge and a criterion of a task; the newest of a pair counts.

    Rows are never changed: when a license expires, a new row has the reason.
    """

    class State(models.TextChoices):
        LICENSED = "LICENSED", "licensed"
        REFUSED = "REFUSED", "not licensed"
        EXPIRED = "EXPIRED", "expired"

    run = models.ForeignKey(
        "leaderboard.JudgeRun", on_delete=models.CASCADE, related_name="licences"
    )
    criterion = models.CharField(max_length=50)
    state = models.CharField(max_length=8, choices=State.choices)
    # name, result and words of each condition
    reasons = OrderedJSONField(default=list)
    # the facts when it was given: model, prompt, scale, crowd
    facts = OrderedJSONField(default=dict)
    # changed facts in words; empty unless it has expired
    moved = OrderedJSONField(default=list)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["run", "criterion"])]

    def __str__(self) -> str:
        return f"{self.run} by {self.criterion}: {self.get_state_display()}"


class JudgedEstimate(models.Model):
    """A system's mean rating with licensed judges' help, beside the plain mean.

    Counts only while licenses of all its judges are valid; `judges.services.estimate`
    keeps it up to date, and replaces it whenever its inputs have changed.
    """

    submission = models.ForeignKey(
        "leaderboard.Submission",
        on_delete=models.CASCADE,
        related_name="judged_estimates",
    )
    criterion = models.CharField(max_length=50)
    # keys of the judges that help
    judges = models.JSONField(default=list)
    # mean, low and high in the unit of scores, with and without the judges; empty: they
    # rated no more instances than people did
    helped = OrderedJSONField(default=dict)
    plain = OrderedJSONField(default=dict)
    # share of the variance between instances that the judges predict
    explained = models.FloatField()
    # how many more instances people would have had to rate; negative: a loss
    labels_saved = models.FloatField()
    # instances that people rated, and that the judges scored
    n_people = models.PositiveIntegerField()
    n_judge = models.PositiveIntegerField()
    # positions of instances, and the judges' predictions of the averaged values there
    foretold = models.JSONField(default=dict)
    seed = models.BigIntegerField()
    inputs_sha256 = models.CharField(max_length=64)
    computed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["submission", "criterion"]
        constraints = [
            models.UniqueConstraint(
                fields=["submission", "criterion"], name="judged_estimate_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.submission} by {self.criterion}"
