"""The test questions of pages that show several outputs: pairs and line-ups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leaderboard.designs.base import SLOTS, content_key
from leaderboard.evaluation.services.hidden import marks, wrong
from leaderboard.evaluation.services.hidden.offers import Offer, Taken, used_texts
from leaderboard.evaluation.services.hidden.single import harms_of
from leaderboard.submissions.models.submission import Submission
from leaderboard.tasks.config import EDITED, NEGATIVE, HumanConfig
from leaderboard.tasks.config.marked import marked_criteria
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services.configuration import design_of, shown, task_view
from quality.test_questions.services.inject import HiddenItem
from quality.test_questions.services.inject_line_ups import (
    LineUp,
    draw_line_ups,
    draw_pairs,
)


def hidden_pairs(
    task: Task,
    human: HumanConfig,
    criteria: Mapping[str, str],
    instances: Sequence[Instance],
    *,
    systems: Sequence[Submission] = (),
    campaign_key: str,
    n: int,
    seed: int,
) -> list[HiddenItem]:
    """Draw questions that set a reference against an edited output, or another's."""
    marked = marked_criteria(human, criteria)[NEGATIVE]
    material = line_ups(task, human, instances, n_outputs=2)
    made = edits_by_key(
        task, human, criteria, systems, instances, campaign_key=campaign_key, seed=seed
    )
    return draw_pairs(
        campaign_key=campaign_key,
        material=material,
        n=n if marked else 0,
        seed=seed,
        blind=human.judged_blind(criteria),
        expected=marks.named(criteria, marked),
        edits=made,
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
) -> list[HiddenItem]:
    """Draw the test questions of a campaign that shows many outputs together."""
    marked = marked_criteria(human, criteria)[NEGATIVE]
    return draw_line_ups(
        campaign_key=campaign_key,
        material=material,
        n=sum(human.n_test_questions(n_items)) if marked else 0,
        seed=seed,
        blind=human.judged_blind(criteria),
        expected=marks.named(criteria, marked),
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


def edits_by_key(
    task: Task,
    human: HumanConfig,
    criteria: Mapping[str, str],
    systems: Sequence[Submission],
    instances: Sequence[Instance],
    *,
    campaign_key: str,
    seed: int,
) -> dict[str, Offer]:
    """Give an edited output for each input where one can be made that is not used up."""
    if human.test_questions != EDITED or not systems:
        return {}
    outputs = wrong.outputs_of(task, systems, instances)
    harms = harms_of(human, criteria)
    taken = Taken(used_texts(task, but=campaign_key))
    offered = wrong.edited(task, instances, outputs, harms, seed=seed)
    key_of = {row.pk: content_key(task.slug, row.instance_id) for row in instances}
    return {
        key_of[offer.instance_pk]: offer
        for offer in taken.choose(offered, len(instances))
    }
