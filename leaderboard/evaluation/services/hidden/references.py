"""Test questions made of references alone, as Genie published them (EMNLP 2022, section 5)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from leaderboard.designs.base import content_key
from leaderboard.evaluation.services.hidden.in_slots import (
    hidden_pairs,
    reference_pairs,
)
from leaderboard.evaluation.services.hidden.offers import REFERENCE, SHUFFLED, SWAPPED
from leaderboard.evaluation.services.hidden.single import blank_data, expected_on
from leaderboard.tasks.config import NEGATIVE, POSITIVE, HumanConfig
from leaderboard.tasks.config.human import marked_criteria
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services.configuration import design_of
from quality.test_questions.models import Polarity
from quality.test_questions.services import HiddenItem, Material, draw_items


def reference_questions(
    task: Task,
    human: HumanConfig,
    criteria: Mapping[str, str],
    instances: Sequence[Instance],
    *,
    campaign_key: str,
    n_positive: int,
    n_negative: int,
    seed: int,
) -> list[HiddenItem]:
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
    blank = [blank_data(task, human, design, row) for row in instances]
    drawn = draw_items(
        campaign_key=campaign_key,
        material=[
            Material(
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
            Polarity.POSITIVE: expected_on(human, criteria, marked[POSITIVE]),
            Polarity.NEGATIVE: expected_on(human, criteria, marked[NEGATIVE]),
        },
        blind=human.judged_blind(criteria),
    )
    wrong = SHUFFLED if human.judged_blind(criteria) else SWAPPED
    kinds = {Polarity.POSITIVE: REFERENCE, Polarity.NEGATIVE: wrong}
    return [replace(item, kind=kinds[Polarity(item.polarity)]) for item in drawn]


def campaign_questions(
    task: Task,
    human: HumanConfig,
    criteria: Mapping[str, str],
    instances: Sequence[Instance],
    *,
    campaign_key: str,
    n_positive: int,
    n_negative: int,
    seed: int,
) -> list[HiddenItem]:
    """Create the questions of a campaign: a reference in place of each output.

    Beside its own reference, the same text is positive: it must not be rated worse. Other
    campaigns may ask the same texts: the references would not last for many.
    """
    n, pairs = 0, []
    if design_of(task, human).references_among:
        n = n_positive
        pairs = reference_pairs(
            task, human, criteria, instances[:n], campaign_key=campaign_key, seed=seed
        )
    drawn = reference_questions(
        task,
        human,
        criteria,
        instances[n:],
        campaign_key=campaign_key,
        n_positive=n_positive - n,
        n_negative=n_negative,
        seed=seed,
    )
    if n:
        drawn = [replace(one, polarity=Polarity.NEGATIVE) for one in drawn]
    return [replace(one, text_sha256="") for one in [*pairs, *drawn]]
