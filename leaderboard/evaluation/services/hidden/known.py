"""Questions made of references alone, for qualification tests."""

from collections.abc import Mapping, Sequence

from leaderboard.designs.base import content_key
from leaderboard.evaluation.services.hidden import marks
from leaderboard.evaluation.services.hidden.in_slots import hidden_pairs
from leaderboard.tasks.config import NEGATIVE, POSITIVE, HumanConfig
from leaderboard.tasks.config.marked import marked_criteria
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services.configuration import design_of
from quality.test_questions.models import Polarity
from quality.test_questions.services import inject


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
    """Create questions with known answers from these instances' references."""
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
    if not marked[NEGATIVE]:
        n_positive, n_negative = n_positive + n_negative, 0
    elif not marked[POSITIVE]:
        n_positive, n_negative = 0, n_positive + n_negative
    blank = [marks.blank_data(task, human, design, row) for row in instances]
    return inject.draw_items(
        campaign_key=campaign_key,
        material=[
            inject.Material(
                content_key=content_key(task.slug, instance.instance_id),
                data=data,
                # If the template shows one reference, another is the better answer.
                reference=instance.references[
                    -1 if "reference" in data or "standard" in data else 0
                ],
            )
            for instance, data in zip(instances, blank, strict=True)
        ],
        n_positive=n_positive if marked[POSITIVE] else 0,
        n_negative=n_negative if marked[NEGATIVE] else 0,
        seed=seed,
        expected={
            Polarity.POSITIVE: marks.expected_on(human, criteria, marked[POSITIVE]),
            Polarity.NEGATIVE: marks.expected_on(human, criteria, marked[NEGATIVE]),
        },
        blind=human.judged_blind(criteria),
    )
