"""The items of one submission and whose output is in which slot."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from crowd.hits.models import Campaign
from crowd.hits.services.build import ItemSpec
from genie.lib.errors import GenieError
from genie.lib.seeds import generator, seed_from
from leaderboard.designs.base import Design, Unit, content_key
from leaderboard.evaluation.models.human_evaluation import (
    AnchorItem,
    HumanEvaluation,
    ShownOutput,
    Subject,
)
from leaderboard.evaluation.selectors.ranked_scores import Anchor, anchor_ratings
from leaderboard.evaluation.selectors.system_ratings import system_ratings, unit_for
from leaderboard.stats.systems.linking import Ratings, linking_constant
from leaderboard.submissions.models import Submission
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services.configuration import (
    design_of,
    has_references,
    show_instance,
    task_view,
)
from quality.test_questions.services import HiddenItem, Planned, item_key

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Entry:
    """An output for an instance; a reference has no submission."""

    text: str
    submission_pk: int | None


class Specified(Protocol):
    @property
    def spec(self) -> ItemSpec: ...


def instead_of(
    hidden: Sequence[Specified], slug: str, asked: Sequence[Instance], n: int
) -> list[Instance]:
    """Return the `n` instances to rate: hidden items take the place of others.

    Only if there are too few, an instance is both.
    """
    taken = {item.spec.content_key for item in hidden}
    places = sorted(
        range(len(asked)),
        key=lambda at: content_key(slug, asked[at].instance_id) in taken,
    )
    return [asked[at] for at in sorted(places[:n])]


@dataclass(frozen=True)
class JudgedSpec:
    spec: ItemSpec
    instance_pk: int
    # slot -> submission; empty if the item shows one output only
    slots: Mapping[str, int | None]


def judged_item(
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
        task_view(task, human),
        show_instance(instance),
        [entry.text for entry in ordered],
    )
    return JudgedSpec(
        spec=ItemSpec(
            key=item_key(campaign_key, "judged", instance.instance_id),
            data=data,
            content_key=content_key(task.slug, instance.instance_id),
        ),
        instance_pk=instance.pk,
        slots={
            slot: entry.submission_pk
            for slot, entry in zip(design.slots(len(ordered)), ordered, strict=False)
        },
    )


def remember(
    evaluation: HumanEvaluation, item_of: Mapping[str, int], specs: Sequence[JudgedSpec]
) -> list[Subject]:
    # They are returned in the order of `specs`, with their keys.
    rows = Subject.objects.bulk_create(
        [
            Subject(
                evaluation=evaluation,
                item_id=item_of[item.spec.key],
                instance_id=item.instance_pk,
            )
            for item in specs
        ],
        batch_size=2_000,
    )
    ShownOutput.objects.bulk_create(
        [
            ShownOutput(subject=row, slot=slot, submission_id=submission_pk)
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


# Anchors: a few outputs of a settled system in a campaign about another one.
#
# They look like the other items: same template, opaque keys. The difference between their
# new and old ratings links the two crowds.

_DIGITS = 9


@dataclass(frozen=True)
class AnchorSpec:
    spec: ItemSpec
    instance_pk: int
    submission_pk: int
    slot: str


def anchor_specs(
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
        item = judged_item(
            task, human, row.instance, entries, campaign_key=campaign_key, seed=own_seed
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


def remember_anchors(
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
    settled = settled.about(item.submission_id)
    now, before = anchor_ratings(evaluation), system_ratings(settled)
    units, units_before = _units(evaluation), _units(settled)
    found = {}
    for criterion, unit in units.items():
        if units_before.get(criterion) != unit:
            continue  # the task's way of asking has changed: the two cannot be compared
        parts = [
            _criterion_ratings(table, criterion, unit)
            for table in (before, now, ratings)
        ]
        constant = linking_constant(*parts)
        if constant is not None and math.isfinite(constant.standard_error):
            stored = _round_constant(asdict(constant), unit)
            found[criterion] = {"anchor": item.submission_id, **stored}
    return found


def _units(evaluation: HumanEvaluation) -> dict[str, Unit]:
    return {
        criterion: unit_for(evaluation.design, campaign, criterion)
        for campaign in evaluation.campaigns_in_order
        for criterion in campaign.hit_type.criteria
    }


def _criterion_ratings(table: pd.DataFrame, criterion: str, unit: Unit) -> Ratings:
    rows = table[table["criterion"] == criterion]
    values = unit.to_averaged(rows["value"].to_numpy(float))
    return Ratings(values, rows["worker"].to_numpy(), rows["instance"].to_numpy())


def _round_constant(constant: Mapping[str, Any], unit: Unit) -> dict[str, Any]:
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


@dataclass(frozen=True)
class Part:
    """One campaign before it is created.

    `planned` has its test questions and notes for staff; `draw` draws them from another
    seed.
    """

    key: str
    title: str
    criteria: dict[str, str]
    seed: int
    judged: list[JudgedSpec]
    planned: Planned
    draw: Callable[[int], Planned]
    anchors: Sequence[AnchorSpec] = field(default_factory=list)
    # empty if it shows several systems
    submission: Submission | None = None

    @property
    def hidden(self) -> list[HiddenItem]:
        return self.planned.items


# Titles of campaigns for staff: the task and its systems.
#
# Workers never read them; their pages and other platforms show the HIT type's title.
LONGEST = 200
_NAMED = 2


def campaign_title(task: str, systems: Sequence[str], *, detail: str = "") -> str:
    """Return the title of a campaign that shows outputs of these systems.

    Examples
    --------
    >>> campaign_title("Tidy news", ["Kite"])
    'Tidy news: Kite'
    >>> campaign_title("Tidy news", ["Kite", "Wren", "Heron", "Egret"], detail="fluency")
    'Tidy news: Kite, Wren and 2 more (fluency)'
    """
    n_more = len(systems) - _NAMED
    if n_more > 0:
        names = f"{', '.join(systems[:_NAMED])} and {n_more} more"
    else:
        names = " and ".join(systems)
    return _join_name(task, names, detail)


def comparison_title(task: str, a: str, b: str, criterion: str) -> str:
    """Return the title of a comparison's campaign.

    Examples
    --------
    >>> comparison_title("Tidy news", "Kite", "Wren", "overall")
    'Tidy news: Kite vs. Wren (overall)'
    """
    return _join_name(task, f"{a} vs. {b}", criterion)


def _join_name(task: str, names: str, detail: str) -> str:
    end = f" ({detail})" if detail else ""
    return f"{task}: {names}"[: LONGEST - len(end)] + end
