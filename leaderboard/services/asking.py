"""What a task's configuration says of how people are asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from django.conf import settings
from django.utils import timezone

from crowd import hit_templates
from crowd.selectors.qualifications import inputs_of_tests
from crowd.services.build import HITTypeSpec
from genie.lib.clock import next_start
from genie.lib.errors import GenieError
from leaderboard.designs.base import (
    STANDARD_VALUE,
    Design,
    Shown,
    TaskView,
    all_designs,
    content_key,
)
from leaderboard.models import Instance, Task

# what belongs to a table's own criteria
OWN = ("criteria", "test_criteria")
FORM = ("setup", "before_text", "checkboxes", "allow_tie")


def human_of(task: Task, table: str = "human") -> dict[str, Any]:
    """Give a table of task.toml; what it leaves out is as in [human]."""
    return human_in(task.config, table)


def human_in(config: Mapping[str, Any], table: str = "human") -> dict[str, Any]:
    """Give the same of a task that is not loaded yet."""
    human: dict[str, Any] = config["human"]
    if table == "human":
        return human
    # how it is asked and paid differs, whom it is asked does not
    shared = {
        key: value
        for key, value in human.items()
        if key not in {"design", "scale", "hit_template", *OWN, *FORM, "show_input"}
    }
    own = {**shared, **DEFAULTS[table], **config.get(table, {})}
    template = hit_templates.all_templates().get(str(own["hit_template"]))
    if not own.get("criteria") and template:
        own["criteria"] = dict(template.questions)
    return own


DEFAULTS: dict[str, dict[str, Any]] = {
    "comparison": {
        "design": "two-choice",
        "scale": "two-choice",
        "hit_template": "two-choice-outputs",
        "wave_size": 20,
    },
    "joint": {
        "design": "rankme",
        "scale": "magnitude",
        "hit_template": "rankme-outputs",
    },
}


def design_of(task: Task, human: Mapping[str, Any]) -> Design:
    """Give the design that is asked for, or say that there is none."""
    slug = human["design"]
    designs = all_designs()
    if slug not in designs:
        raise GenieError(
            f"{task.title} uses the design {slug!r}, which this site does not have.",
            code="unknown-design",
        )
    return designs[slug]()


def separate(human: Mapping[str, Any]) -> list[dict[str, str]]:
    """Give the criteria of each campaign: one for all, or one for each (setup 2)."""
    criteria = {str(key): str(text) for key, text in human["criteria"].items()}
    if int(human.get("setup", 1)) != 2:
        return [criteria]
    return [{criterion: question} for criterion, question in criteria.items()]


def hit_type_of(
    task: Task, human: Mapping[str, Any], criteria: Mapping[str, str]
) -> HITTypeSpec:
    """Say how the HITs look, what they ask and what they pay."""
    return hit_type_for(task.title, task.summary, human, criteria)


def hit_type_for(
    title: str, summary: str, human: Mapping[str, Any], criteria: Mapping[str, str]
) -> HITTypeSpec:
    """Say the same of a task that is not loaded yet."""
    return HITTypeSpec(
        template=str(human["hit_template"]),
        scale=str(human["scale"]),
        criteria=dict(criteria),
        title=f"Rate texts: {title}"[:128],
        description=summary or title,
        keywords="text, rating, language",
        reward_cents=int(human["reward_cents"]),
        assignment_seconds=60 * int(human.get("assignment_minutes", 30)),
        form=_form(human, criteria),
    )


def _form(human: Mapping[str, Any], criteria: Mapping[str, str]) -> dict[str, Any]:
    """Say how the questions of these criteria are put; what is usual is left out."""
    form = {key: human[key] for key in FORM if key in human}
    if "before_text" in form:
        form["before_text"] = [c for c in form["before_text"] if c in criteria]
    if "show_input" in human:
        form["show_input"] = {
            criterion: bool(shown)
            for criterion, shown in human["show_input"].items()
            if criterion in criteria
        }
    return form


def judged_blind(human: Mapping[str, Any], criteria: Mapping[str, str]) -> bool:
    """Tell whether no criterion is judged against the input."""
    show = human.get("show_input", {})
    return not any(show.get(criterion, True) for criterion in criteria)


def task_view(task: Task, human: Mapping[str, Any]) -> TaskView:
    """Give the design what it must know of the task."""
    return TaskView(
        slug=task.slug,
        field_labels=task.field_labels,
        source_language=task.source_language,
        target_language=task.target_language,
        show_reference=bool(human.get("show_reference", task.kind == "translation")),
        standard_value=int(human.get("standard_value", STANDARD_VALUE)),
    )


def shown(instance: Instance) -> Shown:
    """Give the design what it must know of an instance."""
    return Shown(
        instance_pk=instance.pk,
        instance_id=instance.instance_id,
        fields=instance.fields,
        references=instance.references,
    )


def spare_instances(task: Task, wanted: int) -> list[Instance]:
    """Offer instances with references for test questions, unjudged ones first."""
    found = _with_references(task, "sample_rank", wanted, judged=False)
    if len(found) < wanted + 1:
        found += _with_references(task, "-sample_rank", wanted, judged=True)
    return found


def _with_references(
    task: Task, order: str, wanted: int, *, judged: bool
) -> list[Instance]:
    side = "sample_rank__lt" if judged else "sample_rank__gte"
    rows = task.instances.filter(**{side: task.sample_size}).exclude(references=[])
    found = rows.order_by(order)[: 4 * wanted]
    # Who took the task's qualification test knows its inputs, and their answers.
    tested = inputs_of_tests(task.slug)
    return [
        row
        for row in found
        if has_references(row) and content_key(task.slug, row.instance_id) not in tested
    ]


def has_references(instance: Instance) -> bool:
    """Tell whether people can be shown a reference, whichever is taken.

    A blank reference is no answer that anybody could be right about.
    """
    return bool(instance.references) and all(
        text.strip() for text in instance.references
    )


def n_test_questions(human: Mapping[str, Any], n_items: int) -> tuple[int, int]:
    """Give how many positive and negative test questions go with so many items."""
    shares = [float(human.get(f"{side}_share", 0.05)) for side in POLARITIES]
    positive, negative = (
        0 if share == 0 else max(1, round(share * n_items)) for share in shares
    )
    return positive, negative


POLARITIES: Sequence[str] = ("positive", "negative")


def noisy_below(human: Mapping[str, Any]) -> dict[str, float]:
    """Give the share of right answers below which a worker is noisy, by polarity.

    Polarities that the task does not name have the site's share.
    """
    site = float(settings.GENIE["NOISY_BELOW"])
    said = human.get("noisy_below", site)
    shares = said if isinstance(said, Mapping) else dict.fromkeys(POLARITIES, said)
    return {side.upper(): float(shares.get(side, site)) for side in POLARITIES}


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
