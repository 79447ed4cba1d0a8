"""The origin of imported ratings, and published figures."""

from django.conf import settings
from django.db import models

from genie.lib.database import OrderedJSONField
from leaderboard.tasks.models import Task


class Import(models.Model):
    """Files of ratings that were imported together.

    `Task.imported` marks a task whose ratings were all imported: it asks no workers.
    """

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="imports")
    layout = models.SlugField(max_length=100)
    # the answers of a person to the reader's questions
    choices = OrderedJSONField(default=dict)
    # name, sha256 and bytes of each
    files = models.JSONField(default=list)
    # origin, license and citation; "" if not recorded
    source = models.CharField(max_length=500, blank=True)
    licence = models.CharField(max_length=200, blank=True)
    citation = models.TextField(blank=True)
    # pay, instructions, screening, ...: recorded details; missing keys are not recorded
    known = OrderedJSONField(default=dict)
    # role of rows -> count
    roles = OrderedJSONField(default=dict)
    # roles that count as ratings by the publishers' rules
    counted = models.JSONField(default=list)
    # details in the files besides rows: languages, the files' names of criteria, which
    # of these are better when smaller, whether values are standardized, names too long
    # for a column, figures printed in them
    said = OrderedJSONField(default=dict)
    n_workers = models.PositiveIntegerField(default=0)
    # warnings about the rows, as sentences
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
    """A published number of a task's ratings, to compare with Genie's."""

    task = models.ForeignKey(
        Task, on_delete=models.CASCADE, related_name="published_figures"
    )
    # where it is printed: the table's name, and the cell within it
    table = models.CharField(max_length=100)
    row = models.CharField(max_length=200)
    column = models.CharField(max_length=100)
    # a number, a word, or a list (a range of ranks)
    value = models.JSONField()
    # allowed difference from Genie's number; null: none
    tolerance = models.FloatField(null=True, blank=True)
    # slug of Genie's figure that it is compared with
    figure = models.SlugField(max_length=100)
    # why it cannot be reproduced, if that is known
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
