"""Qualification tests: questions with known answers, taken before paid work."""

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from crowd.hits.models import HITType


def _check_translations(said: object) -> None:
    tables = isinstance(said, dict) and all(isinstance(x, dict) for x in said.values())
    if not tables:
        raise ValidationError(
            {"translations": 'Give a table for each language: {"de": {…}}.'}
        )


class QualificationTest(models.Model):
    class State(models.TextChoices):
        DRAFT = "DRAFT", "draft"
        PUBLISHED = "PUBLISHED", "in use"
        RETIRED = "RETIRED", "retired"

    # the same for all versions; campaigns require it
    name = models.SlugField(
        max_length=100,
        help_text="The qualification's name, which requirements refer to.",
    )
    version = models.PositiveIntegerField(default=1, editable=False)
    state = models.CharField(
        max_length=16, choices=State.choices, default=State.DRAFT, editable=False
    )
    pool = models.ForeignKey(
        "crowd.Pool", models.PROTECT, help_text="The benchmark task that it is for."
    )
    title = models.CharField(max_length=128)
    introduction = models.TextField(
        max_length=2000, blank=True, help_text="Shown to workers before they start."
    )
    # the page of drawn questions; empty if all were written
    hit_type = models.ForeignKey(
        HITType, on_delete=models.PROTECT, null=True, blank=True, editable=False
    )
    n_asked = models.PositiveIntegerField(
        default=0, help_text="Number of questions per attempt. 0 means all."
    )
    pass_percent = models.PositiveIntegerField(
        default=80, validators=[MinValueValidator(1), MaxValueValidator(100)]
    )
    n_tries = models.PositiveIntegerField(
        default=2, validators=[MinValueValidator(1), MaxValueValidator(20)]
    )
    wait_hours = models.PositiveIntegerField(
        default=24, help_text="Wait after a failed attempt."
    )
    valid_days = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Leave empty if the qualification does not expire.",
    )
    asks_again = models.BooleanField(
        default=False,
        help_text="Workers who passed an earlier version must pass this one, too.",
    )
    # language -> title, introduction
    translations = models.JSONField(
        "in other languages",
        default=dict,
        blank=True,
        help_text='For example {"de": {"title": "…", "introduction": "…"}}. Workers take '
        "the test in a language if all of it is there.",
    )
    # derived from the site's secret; determines an attempt's questions and their order
    seed = models.BigIntegerField(editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    published_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["name", "-version"]
        constraints = [
            models.UniqueConstraint(
                fields=["name", "version"], name="test_version_once"
            ),
            models.UniqueConstraint(
                fields=["name"],
                condition=Q(state="PUBLISHED"),
                name="one_version_in_use",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.title}, version {self.version}"

    def clean(self) -> None:
        _check_translations(self.translations)


class QualificationQuestion(models.Model):
    test = models.ForeignKey(
        QualificationTest, on_delete=models.CASCADE, related_name="questions"
    )
    position = models.PositiveIntegerField(default=0)
    # Drawn: the fields for the HIT template; the answers are those of the HIT type's
    # scale.
    data = models.JSONField(null=True, blank=True, editable=False)
    # Written: a text, its answers one a line, and the right one.
    text = models.TextField(max_length=4000, blank=True)
    choices = models.TextField(
        max_length=2000, blank=True, help_text="The answers, one per line."
    )
    explanation = models.TextField(
        max_length=1000,
        blank=True,
        help_text="Shown after the test to workers who got this wrong. Explain the rule and "
        "do not repeat the answer: the question may be asked again.",
    )
    # language -> text, choices
    translations = models.JSONField(
        "in other languages",
        default=dict,
        blank=True,
        help_text='For example {"de": {"text": "…", "choices": "…\\n…"}}: the answers in the '
        "same order, as many as above.",
    )
    # used only in the services and the admin; see crowd/workers/services/known_answers.py
    expected = models.JSONField(default=dict, editable=False)
    # Campaigns' test questions do not use these inputs.
    content_key = models.CharField(max_length=64, blank=True, editable=False)

    class Meta:
        ordering = ["test", "position", "pk"]
        indexes = [models.Index(fields=["content_key"])]

    def __str__(self) -> str:
        return f"question {self.position + 1}"

    def clean(self) -> None:
        _check_translations(self.translations)

    @property
    def answers(self) -> list[str]:
        return [line.strip() for line in self.choices.splitlines() if line.strip()]
