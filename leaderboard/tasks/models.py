import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.db import models

from crowd import hit_templates
from crowd.hit_templates.form import CONVERSATION, PLAIN
from crowd.hit_templates.formats import with_layout
from genie.lib.database import OrderedJSONField
from leaderboard.tasks.config import HumanConfig, TaskConfig, read_task
from leaderboard.tasks.config.differences import COMPARISON, HUMAN, JOINT

# The template of statements about any kind of text.
GENERAL = "general-judgement"


class Task(models.Model):
    """A benchmark task, loaded from its official release and its task.toml."""

    slug = models.SlugField(max_length=100, unique=True)
    title = models.CharField(max_length=200)
    kind = models.CharField(max_length=50)
    summary = models.CharField(max_length=300, blank=True)
    description = models.TextField(blank=True)
    licence = models.CharField(max_length=200, blank=True)
    homepage = models.URLField(blank=True)
    citation = models.TextField(blank=True)
    source_language = models.CharField(max_length=16, default="en")
    target_language = models.CharField(max_length=16, default="en")
    # slug of the task that this is a new version of, on this site or another
    version_of = models.SlugField(max_length=100, blank=True)
    # Systems and workers of demo tasks are simulated: their boards say so.
    demo = models.BooleanField(default=False)
    # Ratings were imported (`leaderboard.imports`): every page says so.
    imported = models.BooleanField(default=False)
    hidden_references = models.BooleanField(
        default=False,
        help_text="The references are not shown on any page, in the API or in exports.",
    )
    # task.toml as it was loaded, for releases and the next load; `configuration` is the
    # parsed form. The first criterion ranks, and fields are shown in their order
    config = OrderedJSONField(default=dict)
    release_sha256 = models.CharField(max_length=64)
    release_files = models.JSONField(default=dict)
    n_instances = models.PositiveIntegerField(default=0)
    # decides which instances people rate; the same for every submission
    sample_seed = models.BigIntegerField()
    accepts_submissions = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.title

    @property
    def configuration(self) -> TaskConfig:
        """The task.toml with every default; parsed once per text."""
        return _read(json.dumps({**self.config, "kind": self.kind}))

    @property
    def public_config(self) -> dict[str, Any]:
        """The task.toml without what concerns only the site's own money and limits."""
        inside = {"budget", "quota"}
        return {name: part for name, part in self.config.items() if name not in inside}

    @property
    def human(self) -> HumanConfig:
        return self.configuration.human

    @property
    def detector(self) -> str:
        return self.configuration.detector or str(settings.GENIE["DETECTOR"])

    @property
    def by_colleagues(self) -> bool:
        """Whether unpaid people with a link rate, so that nothing has a price."""
        return not self.imported and (
            (self.human.reward_cents, self.human.worker_percent) == (0, 100)
        )

    @property
    def table(self) -> str:
        """The table of task.toml with the questions; [human] may have none."""
        human = self.human
        usual = hit_templates.stored_templates()[GENERAL].questions
        if human.hit_template != GENERAL or dict(human.criteria) != dict(usual):
            return HUMAN
        several = (COMPARISON, JOINT)
        found = (one for one in several if "criteria" in self.config.get(one, {}))
        return next(found, HUMAN)

    @property
    def side_by_side(self) -> bool:
        """Whether there is no question about one output, only about several."""
        return self.table != HUMAN

    @property
    def asked(self) -> HumanConfig:
        asked: HumanConfig = getattr(self.configuration, self.table)
        return asked

    @property
    def sample_size(self) -> int:
        return min(self.human.sample_size, self.n_instances)

    @property
    def field_labels(self) -> Mapping[str, str]:
        return self.configuration.fields

    def labeled_fields(self, fields: Mapping[str, object]) -> list[tuple[str, str]]:
        """Return the labels and formatted texts of an instance."""
        layouts = self.configuration.formats
        return [
            (label, with_layout(str(fields.get(name, "")), layouts.get(name, PLAIN)))
            for name, label in self.field_labels.items()
        ]

    def output(self, text: str) -> str:
        return with_layout(text, self.configuration.output_format)

    @property
    def holds_conversations(self) -> bool:
        """Whether outputs are lists of turns, of which metrics read the assistant's."""
        return self.configuration.output_format == CONVERSATION

    @property
    def source_field(self) -> str:
        return self.configuration.source.field


# More than a site has tasks; else a list of tasks would evict each before its reuse.
@lru_cache(maxsize=1024)
def _read(config: str) -> TaskConfig:
    return read_task(json.loads(config), hit_templates.stored_templates()).config


class TaskRevision(models.Model):
    """A change of a loaded task, with time and author; the first one is its loading."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    # the new task.toml
    config = OrderedJSONField(default=dict)
    # key -> [old, new]; an empty table for the loading
    changes = OrderedJSONField(default=dict)
    # null: a command
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
    )
    because = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["task", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "number"], name="task_revision_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.task} · revision {self.number}"


class TaskFile(models.Model):
    """A file of a task's bundle, returned unchanged in exports.

    It includes task.toml, for its comments; the bundle's texts are instances.
    """

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="files")
    path = models.CharField(max_length=300)
    data = models.BinaryField()

    class Meta:
        ordering = ["task", "path"]
        constraints = [
            models.UniqueConstraint(fields=["task", "path"], name="task_file_once")
        ]

    def __str__(self) -> str:
        return self.path


class Instance(models.Model):
    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="instances")
    instance_id = models.CharField(max_length=200)
    position = models.PositiveIntegerField()
    fields = models.JSONField()
    references = models.JSONField(default=list)
    # Its place in the task's fixed random order: people rate the first ones.
    sample_rank = models.PositiveIntegerField()

    class Meta:
        ordering = ["task", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "instance_id"], name="instance_id_once"
            ),
            models.UniqueConstraint(
                fields=["task", "position"], name="instance_position_once"
            ),
        ]
        indexes = [models.Index(fields=["task", "sample_rank"])]

    def __str__(self) -> str:
        return self.instance_id
