"""The items of one submission and whose output is in which slot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crowd.hits.services.build import ItemSpec
from genie.lib.errors import GenieError
from leaderboard.designs.base import Design, content_key
from leaderboard.evaluation.models.human_evaluation import (
    HumanEvaluation,
    JudgedItem,
    JudgedOutput,
)
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services.configuration import (
    design_of,
    has_references,
    shown,
    task_view,
)
from quality.test_questions.services import item_key


@dataclass(frozen=True)
class Entry:
    """An output for an instance; a reference has no submission."""

    text: str
    submission_pk: int | None


@dataclass(frozen=True)
class JudgedSpec:
    spec: ItemSpec
    instance_pk: int
    # slot -> submission; empty if the item shows one output only
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
    design = design_of(task, human)
    if design.needs_reference and not has_references(instance):
        raise GenieError(
            f"Instance {instance.instance_id} of {task.title} has no reference, which "
            f"the design {design.slug} shows to workers.",
            code="no-references",
        )
    # Drawn for each instance, so that no system is always first.
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
            key=item_key(campaign_key, "judged", instance.instance_id),
            data=data,
            content_key=content_key(task.slug, instance.instance_id),
        ),
        instance_pk=instance.pk,
        slots=slots,
    )


def remember(
    evaluation: HumanEvaluation, item_of: Mapping[str, int], specs: Sequence[JudgedSpec]
) -> list[JudgedItem]:
    # They are returned in the order of `specs`, with their keys.
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
    """Raise an error with advice if the design needs several systems at once."""
    if not design.about_one_system():
        raise GenieError(
            f"{task.title} uses the design {design.slug}, which shows the "
            "outputs of several systems: request a comparison or a joint "
            "evaluation instead.",
            code="needs-several-systems",
        )
