"""Designs, HIT types and instances for test questions, by a task's configuration."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from django.conf import settings
from django.utils import timezone

from crowd import hit_templates
from crowd.hits.services.build import HITTypeSpec
from crowd.workers.selectors.qualifications import inputs_of_tests
from genie.lib.clock import next_start
from genie.lib.errors import GenieError
from genie.lib.seeds import generator, seed_from
from leaderboard.designs.base import (
    Design,
    Shown,
    TaskView,
    all_designs,
    content_key,
)
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.models import Instance, Task


def design_of(task: Task, human: HumanConfig) -> Design:
    """Return the configured design, or raise an error if the site does not have it."""
    designs = all_designs()
    if human.design not in designs:
        raise GenieError(
            f"{task.title} names the design {human.design!r}, which this site does "
            "not have.",
            code="unknown-design",
        )
    return designs[human.design]()


def commitment_key(submission_pk: int) -> str:
    """Return the name of a submission's campaign and of its reserved money."""
    return f"submission:{submission_pk}"


def campaign_keys(key: str, human: HumanConfig) -> list[str]:
    """Return the keys of the campaigns for these criteria; the first is `key`."""
    return [
        key,
        *(f"{key}:{next(iter(criteria))}" for criteria in human.separate()[1:]),
    ]


def hit_type_of(
    task: Task, human: HumanConfig, criteria: Mapping[str, str]
) -> HITTypeSpec:
    return hit_type_for(task.title, human, criteria)


def hit_type_for(
    title: str, human: HumanConfig, criteria: Mapping[str, str]
) -> HITTypeSpec:
    """Return the HIT type of a task, which need not be loaded.

    The task's summary is written for submitters; workers read the HIT template's
    description.
    """
    template = hit_templates.get(human.hit_template)
    if human.language in template.words:
        template = template.in_words(human.language)
    return HITTypeSpec(
        template=human.hit_template,
        scale=human.scale,
        criteria=dict(criteria),
        title=f"Rate texts: {title}"[:128],
        description=template.description,
        keywords="text, rating, language",
        reward_cents=human.reward_cents,
        assignment_seconds=60 * human.assignment_minutes,
        form=human.form(criteria),
    )


def errors_asked(human: HumanConfig) -> Mapping[str, Any]:
    """Return the table of errors to mark: the task's, or else its HIT template's."""
    usual = hit_templates.get(human.hit_template).form.get("errors", {})
    return human.errors or usual


def task_view(task: Task, human: HumanConfig) -> TaskView:
    return TaskView(
        slug=task.slug,
        field_labels=task.field_labels,
        source_language=task.source_language,
        target_language=task.target_language,
        show_reference=human.show_reference,
        standard_value=human.standard_value,
        formats=task.configuration.formats,
        output_format=task.configuration.output_format,
        page_by=human.page_by,
    )


def unsaved_task(slug: str, document: Mapping[str, Any], n_instances: int) -> Task:
    """Return the task that a task.toml would become; it is not stored."""
    words = ("title", "kind", "summary", "source_language", "target_language")
    hidden = document.get("release", {}).get("hidden_references", False)
    return Task(
        slug=slug,
        config=dict(document),
        n_instances=n_instances,
        hidden_references=bool(hidden),
        **{name: str(document.get(name, "")) for name in words},
    )


def shown(instance: Instance) -> Shown:
    return Shown(
        instance_pk=instance.pk,
        instance_id=instance.instance_id,
        fields=instance.fields,
        references=instance.references,
        position=instance.position,
    )


def instances_for_tests(
    task: Task, seed: int, *, n: int, inside: bool, references: bool = True
) -> list[Instance]:
    """Return instances for test questions in an order that the seed decides.

    They are from the rated sample, so that membership does not reveal test questions. A
    worker who saw an instance in a test does not rate it; other workers do. Instances
    outside the sample are used, too, if the crowd is too small for that (`inside` is
    false) or the sample has too few usable ones. Instances without references are left
    out unless `references` is false.
    """
    judged = _shuffled(task, seed, references, sample_rank__lt=task.sample_size)
    # One more than needed: each may use the text of another one as its wrong text.
    if inside and len(judged) > n:
        return judged
    spare = _shuffled(task, seed, references, sample_rank__gte=task.sample_size)
    return [*judged, *spare] if inside else [*spare, *judged]


def _shuffled(task: Task, seed: int, references: bool, **side: int) -> list[Instance]:
    rows = task.instances.filter(**side).order_by("position")
    # Workers who took the task's qualification test know its inputs and answers.
    tested = inputs_of_tests(task.slug)
    usable = [
        row
        for row in rows
        if (has_references(row) or not references)
        and content_key(task.slug, row.instance_id) not in tested
    ]
    order = generator(seed_from("instances of test questions", seed)).permutation(
        len(usable)
    )
    return [usable[int(index)] for index in order]


def has_references(instance: Instance) -> bool:
    """Check whether an instance has references and none is blank."""
    return bool(instance.references) and all(
        text.strip() for text in instance.references
    )


def noisy_below(human: HumanConfig) -> dict[str, float]:
    """Return the share of right answers below which a worker is noisy, by polarity.

    Polarities that the task leaves out have the site's share.
    """
    return human.noisy_below.shares(float(settings.GENIE["NOISY_BELOW"]))


def starts_at(*, now: bool) -> datetime:
    """Return when work is sent out: at the configured hour, or now."""
    if now:
        return timezone.now()
    return next_start(
        timezone.now(),
        zone=settings.GENIE["CAMPAIGN_ZONE"],
        hour=settings.GENIE["CAMPAIGN_HOUR"],
        holidays={date.fromisoformat(day) for day in settings.GENIE["HOLIDAYS"]},
    )
