"""Anchors: a few outputs of a settled system in a campaign about another one.

They look like the other items: same template, opaque keys. The difference between their
new and old ratings links the two crowds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from crowd.hits.models import Campaign
from crowd.hits.services.build import ItemSpec
from genie.lib.seeds import generator, seed_from
from leaderboard.designs.base import content_key
from leaderboard.designs.unit import Unit
from leaderboard.evaluation.models.anchor import AnchorItem
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.anchors import Anchor, anchor_ratings
from leaderboard.evaluation.selectors.system_ratings import system_ratings, unit_for
from leaderboard.evaluation.services.items import Entry, judged
from leaderboard.stats.systems.linking import Ratings, linking_constant
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.configuration import design_of
from quality.test_questions.services import HiddenItem, item_key

if TYPE_CHECKING:
    import pandas as pd

_DIGITS = 9


@dataclass(frozen=True)
class AnchorSpec:
    spec: ItemSpec
    instance_pk: int
    submission_pk: int
    slot: str


def specs(
    task: Task,
    human: HumanConfig,
    anchor: Anchor | None,
    *,
    hidden: Sequence[HiddenItem],
    campaign_key: str,
    seed: int,
) -> list[AnchorSpec]:
    """Draw outputs of the anchor on inputs that no test question of the campaign shows."""
    if anchor is None:
        return []
    design = design_of(task, human)
    own_seed = seed_from("anchors", seed)
    outputs = list(anchor.outputs)
    order = generator(own_seed).permutation(len(outputs))
    tested = {item.spec.content_key for item in hidden}
    drawn = [outputs[int(place)] for place in order]
    # inputs that are tests, too, come last: a worker sees an input once
    drawn.sort(
        key=lambda row: content_key(task.slug, row.instance.instance_id) in tested
    )
    found = []
    for row in drawn[: anchor.n]:
        references = row.instance.references[: design.references_among]
        entries = [
            Entry(row.text, row.submission_id),
            *(Entry(text, None) for text in references),
        ]
        item = judged(
            task,
            human,
            row.instance,
            entries,
            campaign_key=campaign_key,
            seed=own_seed,
        )
        key = item_key(campaign_key, "anchor", row.instance.instance_id)
        slots = [slot for slot, pk in item.slots.items() if pk is not None]
        found.append(
            AnchorSpec(
                replace(item.spec, key=key),
                item.instance_pk,
                row.submission_id,
                slots[0] if slots else "",
            )
        )
    return found


def remember(
    evaluation: HumanEvaluation, campaign: Campaign, anchors: Sequence[AnchorSpec]
) -> None:
    if not anchors:
        return
    item_of = dict(campaign.items.values_list("key", "pk"))
    AnchorItem.objects.bulk_create(
        AnchorItem(
            evaluation=evaluation,
            item_id=item_of[one.spec.key],
            instance_id=one.instance_pk,
            submission_id=one.submission_pk,
            slot=one.slot,
        )
        for one in anchors
    )


def links(
    evaluation: HumanEvaluation, ratings: pd.DataFrame
) -> dict[str, dict[str, Any]]:
    """Link the crowd of a single system's campaigns to the one that rated its anchor.

    `ratings` are the system's own. By criterion: the anchor, the linking constant in
    points of the score (in percent if scores are ratios), and the data behind it.
    """
    first = AnchorItem.objects.filter(evaluation=evaluation).select_related(
        "submission__human_evaluation"
    )
    item = first.first()
    if item is None:
        return {}
    settled = item.submission.human_evaluation
    if settled is None:
        return {}
    now, before = anchor_ratings(evaluation), system_ratings(settled)
    units, units_before = _units(evaluation), _units(settled)
    found = {}
    for criterion, unit in units.items():
        if units_before.get(criterion) != unit:
            continue  # the task's way of asking has changed: the two cannot be compared
        parts = [_of(table, criterion, unit) for table in (before, now, ratings)]
        constant = linking_constant(*parts)
        if constant is not None and math.isfinite(constant.standard_error):
            stored = _shown(asdict(constant), unit)
            found[criterion] = {"anchor": item.submission_id, **stored}
    return found


def _units(evaluation: HumanEvaluation) -> dict[str, Unit]:
    return {
        criterion: unit_for(evaluation.design, campaign, criterion)
        for campaign in evaluation.campaigns_in_order
        for criterion in campaign.hit_type.criteria
    }


def _of(table: pd.DataFrame, criterion: str, unit: Unit) -> Ratings:
    rows = table[table["criterion"] == criterion]
    values = unit.averaged(rows["value"].to_numpy(float))
    return Ratings(values, rows["worker"].to_numpy(), rows["instance"].to_numpy())


def _shown(constant: Mapping[str, Any], unit: Unit) -> dict[str, Any]:
    """Convert a difference of logarithms into percent; round like scores."""
    shown = dict(constant)
    if unit.logarithmic:
        shown["standard_error"] *= 100 * math.exp(shown["estimate"])
        for name in ("estimate", "low", "high"):
            shown[name] = 100 * math.expm1(shown[name])
    rounded = {
        name: round(value, _DIGITS) if isinstance(value, float) else value
        for name, value in shown.items()
    }
    return {**rounded, "unit": "percent" if unit.logarithmic else "points"}
