from django.conf import settings
from django.db import models
from django.db.models import Q

from genie.lib.ordered_json import OrderedJSONField
from leaderboard.judges.definition import SCRIPTED, signature
from leaderboard.tasks.models import Task

# A price in cents per million tokens, times tokens, is this many units to a cent.
MICROCENTS = 1_000_000


class Judge(models.Model):
    """A program that judges; everything that determines its answers is hashed."""

    name = models.SlugField(max_length=40)
    version = models.CharField(max_length=40)
    # see `definition.FIELDS`; `sha256` is the hash of these with name and version
    definition = OrderedJSONField(default=dict)
    sha256 = models.CharField(max_length=64, unique=True)
    # in cents per million tokens, of the request and of the response
    input_price = models.DecimalField(max_digits=12, decimal_places=3, default=0)
    output_price = models.DecimalField(max_digits=12, decimal_places=3, default=0)
    # requests per minute; 0: no limit
    per_minute = models.PositiveIntegerField(default=60)
    at_once = models.PositiveSmallIntegerField(default=4)
    timeout_seconds = models.PositiveSmallIntegerField(default=60)
    # how often an invalid answer is asked for again
    n_retries = models.PositiveSmallIntegerField(default=2)
    # names of its family of models, comma-separated: its own kind in audits
    family = models.CharField(max_length=200, blank=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["name", "version"], name="judge_version_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def scripted(self) -> bool:
        return bool(self.definition["endpoint"] == SCRIPTED)

    @property
    def what(self) -> str:
        return "a script" if self.scripted else "a language model"

    @property
    def signature(self) -> str:
        return signature(self.name, self.version, self.definition)


class JudgeBudget(models.Model):
    """The limit of one or all judges on a task; paid requests need one."""

    task = models.ForeignKey(
        Task, on_delete=models.CASCADE, related_name="judge_budgets"
    )
    judge = models.ForeignKey(
        Judge, on_delete=models.CASCADE, null=True, blank=True, related_name="budgets"
    )
    cents = models.PositiveIntegerField()

    class Meta:
        ordering = ["task", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["task", "judge"], name="judge_budget_once"),
            # uniqueness for rows without a judge, because the first constraint ignores
            # nulls
            models.UniqueConstraint(
                fields=["task"], condition=Q(judge=None), name="judges_budget_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge or 'all judges'} on {self.task}"
