"""Where judgments that were made elsewhere came from, and what was published of them."""

from django.conf import settings
from django.db import models

from genie.lib.ordered_json import OrderedJSONField
from leaderboard.tasks.models import Task


class Import(models.Model):
    """Files of judgments that were read in at once.

    `Task.imported` marks a task whose judgments all came in so: nobody is asked on it.
    """

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="imports")
    layout = models.SlugField(max_length=100)
    # what a person said of the files beside what was found
    choices = OrderedJSONField(default=dict)
    # of each its name, sha256 and bytes
    files = models.JSONField(default=list)
    # from where they are, under which licence, and how they are cited; "" nobody said
    source = models.CharField(max_length=500, blank=True)
    licence = models.CharField(max_length=200, blank=True)
    citation = models.TextField(blank=True)
    # pay, instructions, screening, ...: what is known of each; what is missing is unknown
    known = OrderedJSONField(default=dict)
    # what the rows were: role -> how many
    roles = OrderedJSONField(default=dict)
    # roles that count as judgments by the publishers' rules
    counted = models.JSONField(default=list)
    # what the files say beside their rows: languages, criteria as they call them, which
    # of these are better when smaller, whether values are standardised, names too long
    # for a column, figures printed in them
    said = OrderedJSONField(default=dict)
    n_workers = models.PositiveIntegerField(default=0)
    # what a person should know of the rows, as sentences
    problems = models.JSONField(default=list)
    imported_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["task", "pk"]

    def __str__(self) -> str:
        return f"{self.layout} on {self.task}"


class PublishedFigure(models.Model):
    """A number that was printed of a task's judgments, to stand beside ours."""

    task = models.ForeignKey(
        Task, on_delete=models.CASCADE, related_name="published_figures"
    )
    # where it is printed: the table's name, and the cell within it
    table = models.CharField(max_length=100)
    row = models.CharField(max_length=200)
    column = models.CharField(max_length=100)
    # a number, a word, or a list (a range of ranks)
    value = models.JSONField()
    # how far ours may lie apart; null: not at all
    tolerance = models.FloatField(null=True, blank=True)
    # the slug of the computation of ours that it is compared with
    figure = models.SlugField(max_length=100)
    # why it cannot come out, where that is known
    why = models.CharField(max_length=500, blank=True)
    position = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["task", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "table", "row", "column"], name="published_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.table}, {self.row}, {self.column}"
