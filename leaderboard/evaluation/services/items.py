"""What people judge of one submission: items, test questions, whose output stands where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crowd.hits.services.build import ItemSpec
from crowd.scales.base import all_scales
from genie.lib.errors import GenieError
from leaderboard.designs.base import SLOTS, Design, content_key
from leaderboard.evaluation.models.human_evaluation import (
    HumanEvaluation,
    JudgedItem,
    JudgedOutput,
)
from leaderboard.tasks.config import NEGATIVE, POSITIVE, HumanConfig
from leaderboard.tasks.config.marked import marked_criteria
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services.configuration import (
    design_of,
    has_references,
    shown,
    task_view,
    instances_for_tests,
)
from quality.test_questions.models import Polarity
from quality.test_questions.services import inject
from quality.test_questions.services.inject_line_ups import (
    LineUp,
    draw_line_ups,
    draw_pairs,
)

# Beside a standard worth 100, "good" begins at half as good: the standard is itself a
# reference, so another one need not be better than it.
GOOD_MAGNITUDE = 0.5


@dataclass(frozen=True)
class Entry:
    """One output for one instance; no submission: a reference."""

    text: str
    submission_pk: int | None


@dataclass(frozen=True)
class JudgedSpec:
    """An item before it is built, and what it is about."""

    spec: ItemSpec
    instance_pk: int
    # slot -> submission; empty where the item shows one output only
    slots: Mapping[str, int | None]


def judged(
    task: Task,
    human: HumanConfig,
    instance: Instance,
    entries: Sequence[Entry],
    *,
    campaign_key: str,
    seed: int,
) -> JudgedSpec:
    """Make the item that shows these outputs for one instance."""
    design = design_of(task, human)
    if design.needs_reference and not has_references(instance):
        raise GenieError(
            f"Instance {instance.instance_id} of {task.title} has no reference, which "
            f"the design {design.slug} shows to workers.",
            code="no-references",
        )
    # Drawn for each instance: no system always stands first.
    order = design.order(len(entries), seed=seed, instance_id=instance.instance_id)
    ordered = [entries[index] for index in order]
    data = design.data(
        task_view(task, human), shown(instance), [entry.text for entry in ordered]
    )
    slots = {
        slot: entry.submission_pk
        for slot, entry in zip(design.slots(len(ordered)), ordered, strict=False)
    }
    return JudgedSpec(
        spec=ItemSpec(
            key=inject.item_key(campaign_key, "judged", instance.instance_id),
            data=data,
            content_key=content_key(task.slug, instance.instance_id),
        ),
        instance_pk=instance.pk,
        slots=slots,
    )


def hidden(
    task: Task,
    human: HumanConfig,
    criteria: Mapping[str, str],
    *,
    campaign_key: str,
    n_items: int,
    seed: int,
) -> list[inject.HiddenItem]:
    """Draw the test questions of a campaign that shows one output, or two."""
    n_positive, n_negative = human.n_test_questions(n_items)
    instances = instances_for_tests(
        task, seed, n=n_positive + n_negative, inside=human.tests_inside_sample
    )
    return known(
        task,
        human,
        criteria,
        instances,
        campaign_key=campaign_key,
        n_positive=n_positive,
        n_negative=n_negative,
        seed=seed,
    )


def known(
    task: Task,
    human: HumanConfig,
    criteria: Mapping[str, str],
    instances: Sequence[Instance],
    *,
    campaign_key: str,
    n_positive: int,
    n_negative: int,
    seed: int,
) -> list[inject.HiddenItem]:
    """Make questions whose answers are known of these instances' references."""
    design = design_of(task, human)
    if design.in_slots():
        return hidden_pairs(
            task,
            human,
            criteria,
            instances,
            campaign_key=campaign_key,
            n=n_positive + n_negative,
            seed=seed,
        )
    marked = marked_criteria(human, criteria)
    # The price has all questions in it: where only one polarity can be marked on these
    # criteria, all are of that one.
    if not marked[NEGATIVE]:
        n_positive, n_negative = n_positive + n_negative, 0
    elif not marked[POSITIVE]:
        n_positive, n_negative = 0, n_positive + n_negative
    return inject.draw_items(
        campaign_key=campaign_key,
        material=_material(task, human, design, instances),
        n_positive=n_positive if marked[POSITIVE] else 0,
        n_negative=n_negative if marked[NEGATIVE] else 0,
        seed=seed,
        expected={
            Polarity.POSITIVE: _expected(human, criteria, marked[POSITIVE]),
            Polarity.NEGATIVE: _expected(human, criteria, marked[NEGATIVE]),
        },
        blind=human.judged_blind(criteria),
    )


def hidden_pairs(
    task: Task,
    human: HumanConfig,
    criteria: Mapping[str, str],
    instances: Sequence[Instance],
    *,
    campaign_key: str,
    n: int,
    seed: int,
) -> list[inject.HiddenItem]:
    """Draw test questions that set a reference against another input's."""
    marked = marked_criteria(human, criteria)[NEGATIVE]
    return draw_pairs(
        campaign_key=campaign_key,
        material=line_ups(task, human, instances, n_outputs=2),
        n=n if marked else 0,
        seed=seed,
        blind=human.judged_blind(criteria),
        expected=_named(criteria, marked),
    )


def hidden_line_ups(
    task: Task,
    human: HumanConfig,
    criteria: Mapping[str, str],
    material: Sequence[LineUp],
    *,
    campaign_key: str,
    n_items: int,
    seed: int,
) -> list[inject.HiddenItem]:
    """Draw the test questions of a campaign that shows many outputs together."""
    marked = marked_criteria(human, criteria)[NEGATIVE]
    return draw_line_ups(
        campaign_key=campaign_key,
        material=material,
        n=sum(human.n_test_questions(n_items)) if marked else 0,
        seed=seed,
        blind=human.judged_blind(criteria),
        expected=_named(criteria, marked),
    )


def line_ups(
    task: Task,
    human: HumanConfig,
    instances: Sequence[Instance],
    *,
    n_outputs: int = 0,
    outputs: Mapping[int, Sequence[str]] | None = None,
) -> list[LineUp]:
    """Offer inputs with outputs for test questions; `outputs` by instance, or none."""
    design, view = design_of(task, human), task_view(task, human)
    offered = []
    for instance in instances:
        texts = list(outputs[instance.pk]) if outputs else [""] * n_outputs
        data = design.data(view, shown(instance), texts)
        offered.append(
            LineUp(
                content_key=content_key(task.slug, instance.instance_id),
                data=data,
                outputs=dict(zip(SLOTS, texts, strict=False)),
                reference=instance.references[-1],
            )
        )
    return offered


def _expected(
    human: HumanConfig, criteria: Mapping[str, str], marked: Sequence[str]
) -> dict[str, Any]:
    threshold = (
        {"threshold": GOOD_MAGNITUDE} if all_scales()[human.scale].relative else {}
    )
    return {**threshold, **_named(criteria, marked)}


def _named(criteria: Mapping[str, str], marked: Sequence[str]) -> dict[str, Any]:
    """Name the marked criteria where there are others beside them."""
    return {"criteria": list(marked)} if len(criteria) > 1 else {}


def _material(
    task: Task, human: HumanConfig, design: Design, instances: Sequence[Instance]
) -> list[inject.Material]:
    view = task_view(task, human)
    blank = [design.data(view, shown(instance), [""]) for instance in instances]
    return [
        inject.Material(
            content_key=content_key(task.slug, instance.instance_id),
            data=data,
            # Where the template shows one reference, another is the better answer.
            reference=instance.references[
                -1 if "reference" in data or "standard" in data else 0
            ],
        )
        for instance, data in zip(instances, blank, strict=True)
    ]


def remember(
    evaluation: HumanEvaluation, item_of: Mapping[str, int], specs: Sequence[JudgedSpec]
) -> list[JudgedItem]:
    """Store which instance each item is about, and whose output stands in which slot."""
    # They come back in the order of `specs`, with their keys.
    rows = JudgedItem.objects.bulk_create(
        [
            JudgedItem(
                evaluation=evaluation,
                item_id=item_of[item.spec.key],
                instance_id=item.instance_pk,
            )
            for item in specs
        ],
        batch_size=2_000,
    )
    JudgedOutput.objects.bulk_create(
        [
            JudgedOutput(judged_item=row, slot=slot, submission_id=submission_pk)
            for row, item in zip(rows, specs, strict=True)
            for slot, submission_pk in item.slots.items()
        ],
        batch_size=2_000,
    )
    return rows


def refuse_several(task: Task, design: Design) -> None:
    """Say what to do where a task's submissions cannot be judged one at a time."""
    if not design.about_one_system():
        raise GenieError(
            f"{task.title} uses the design {design.slug}, which shows the "
            "outputs of several systems: request a comparison or a joint "
            "evaluation instead.",
            code="needs-several-systems",
        )
