"""Asking people as a task's configuration says: designs, HIT types, instances to spare."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime

from django.conf import settings
from django.utils import timezone

from crowd.hits.services.build import HITTypeSpec
from crowd.workers.selectors.qualifications import inputs_of_tests
from genie.lib.clock import next_start
from genie.lib.errors import GenieError
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
    """Give the design that is asked for, or say that there is none."""
    designs = all_designs()
    if human.design not in designs:
        raise GenieError(
            f"{task.title} names the design {human.design!r}, which this site does "
            "not have.",
            code="unknown-design",
        )
    return designs[human.design]()


def campaign_keys(key: str, human: HumanConfig) -> list[str]:
    """Name the campaigns that ask these criteria; the first has the plain key."""
    return [
        key,
        *(f"{key}:{next(iter(criteria))}" for criteria in human.separate()[1:]),
    ]


def hit_type_of(
    task: Task, human: HumanConfig, criteria: Mapping[str, str]
) -> HITTypeSpec:
    """Say how the HITs look, what they ask and what they pay."""
    return hit_type_for(task.title, task.summary, human, criteria)


def hit_type_for(
    title: str, summary: str, human: HumanConfig, criteria: Mapping[str, str]
) -> HITTypeSpec:
    """Say the same of a task that is not loaded yet."""
    return HITTypeSpec(
        template=human.hit_template,
        scale=human.scale,
        criteria=dict(criteria),
        title=f"Rate texts: {title}"[:128],
        description=summary or title,
        keywords="text, rating, language",
        reward_cents=human.reward_cents,
        assignment_seconds=60 * human.assignment_minutes,
        form=human.form(criteria),
    )


def task_view(task: Task, human: HumanConfig) -> TaskView:
    """Give the design what it must know of the task."""
    return TaskView(
        slug=task.slug,
        field_labels=task.field_labels,
        source_language=task.source_language,
        target_language=task.target_language,
        show_reference=human.show_reference,
        standard_value=human.standard_value,
    )


def shown(instance: Instance) -> Shown:
    """Give the design what it must know of an instance."""
    return Shown(
        instance_pk=instance.pk,
        instance_id=instance.instance_id,
        fields=instance.fields,
        references=instance.references,
    )


def spare_instances(task: Task, n: int) -> list[Instance]:
    """Offer instances with references for test questions, unjudged ones first."""
    spare = _with_references(task, "sample_rank", n, judged=False)
    # One instance more than questions: each takes its wrong text from another one.
    if len(spare) < n + 1:
        spare += _with_references(task, "-sample_rank", n, judged=True)
    return spare


def _with_references(task: Task, order: str, n: int, *, judged: bool) -> list[Instance]:
    side = "sample_rank__lt" if judged else "sample_rank__gte"
    rows = task.instances.filter(**{side: task.sample_size}).exclude(references=[])
    # More than are needed, because the checks below leave some out.
    candidates = rows.order_by(order)[: 4 * n]
    # Who took the task's qualification test knows its inputs, and their answers.
    tested = inputs_of_tests(task.slug)
    return [
        row
        for row in candidates
        if has_references(row) and content_key(task.slug, row.instance_id) not in tested
    ]


def has_references(instance: Instance) -> bool:
    """Tell whether people can be shown a reference, whichever is taken.

    A blank reference is no answer that anybody could be right about.
    """
    return bool(instance.references) and all(
        text.strip() for text in instance.references
    )


def noisy_below(human: HumanConfig) -> dict[str, float]:
    """Give the share of right answers below which a worker is noisy, by polarity.

    Polarities that the task does not name have the site's share.
    """
    return human.noisy_below.shares(float(settings.GENIE["NOISY_BELOW"]))


def starts_at(*, now: bool) -> datetime:
    """Decide when work goes out: at the configured hour unless told otherwise."""
    if now:
        return timezone.now()
    return next_start(
        timezone.now(),
        zone=settings.GENIE["CAMPAIGN_ZONE"],
        hour=settings.GENIE["CAMPAIGN_HOUR"],
        holidays={date.fromisoformat(day) for day in settings.GENIE["HOLIDAYS"]},
    )
