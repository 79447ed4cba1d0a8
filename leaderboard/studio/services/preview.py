"""A preview of a draft: its pages, its price, its precision."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from crowd.elsewhere.services.hit_offer import Pages, page_of_items
from crowd.hits.models import HITType, Item
from crowd.hits.services.build import HITTypeSpec
from crowd.pricing import Quote
from crowd.workers.hit_form import sent_to, shown_item
from leaderboard.designs.base import Shown
from leaderboard.evaluation.expected import expected_labels
from leaderboard.evaluation.price import (
    Precision,
    expected_precision,
    quote_comparison,
    quote_side_by_side,
    quote_single,
)
from leaderboard.stats.mixed import Components
from leaderboard.studio.services.start import question_of_pairs
from leaderboard.tasks.config.differences import COMPARISON, JOINT
from leaderboard.tasks.drafts.bundle import Bundle
from leaderboard.tasks.intake.join import Material
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.configuration import (
    design_of,
    hit_type_of,
    task_view,
    unsaved_task,
)


def first_page(bundle: Bundle, material: Material) -> str:
    """Return the page about the first input as self-contained HTML."""
    hit_type, item = page_of(bundle, material, 0)
    return page_of_items(hit_type, [item], Pages(shown_item, sent_to))


def page_of(bundle: Bundle, material: Material, number: int) -> tuple[HITType, Item]:
    """Return an unsaved HIT type and item of the page, as `page_like` has them."""
    spec, data = page_like(bundle, material, number)
    return HITType(**asdict(spec)), Item(pk=0, key="preview", data=data)


def page_like(
    bundle: Bundle, material: Material, number: int
) -> tuple[HITTypeSpec, dict[str, Any]]:
    """Return the HIT type and the content of the page about an input.

    `number` counts inputs in order; the systems take turns.
    """
    task = _make_unsaved_task(bundle, material)
    human = task.asked
    design = design_of(task, human)
    item = material.items[number % len(material.items)]
    systems = list(material.systems)
    n = design.n_shown(len(systems))
    turn = [systems[(number + k) % len(systems)] for k in range(n)]
    references = item.references[: design.references_among]
    data = design.data(
        task_view(task, human),
        Shown(0, item.id, item.fields, item.references),
        [*(material.systems[name][item.id] for name in turn), *references],
    )
    # criteria asked separately have a page each; this is the first
    return hit_type_of(task, human, human.separate()[0]), data


def precision_of(
    bundle: Bundle, material: Material, measured: Mapping[str, Any] | None = None
) -> Precision | None:
    """Return the expected precision of scores; None if it is unknown.

    It is estimated from a pilot, if there was one.
    """
    task = _make_unsaved_task(bundle, material)
    if task.side_by_side:
        return None
    found = measured or {}
    variances = found.get("components")
    pilot = (
        (Components(**variances), int(found["n_ratings"]), int(found["n_people"]))
        if variances
        else None
    )
    n_systems = max(len(material.systems), 2)
    return expected_precision(task, pilot, n_systems)


def labels_of(bundle: Bundle, material: Material) -> dict[str, Any] | None:
    task = _make_unsaved_task(bundle, material)
    pairs = task.table == COMPARISON
    return expected_labels(task, question_of_pairs(task)) if pairs else None


def price_of(bundle: Bundle, material: Material) -> Quote:
    """Return the price of all systems, or of all pairs if none is decided early."""
    task, n = _make_unsaved_task(bundle, material), len(material.systems)
    each, human = task.human.ratings_per_instance, task.configuration.comparison
    if task.table == JOINT:
        return quote_side_by_side(task.asked, task.sample_size, each)
    if not task.side_by_side:
        return quote_single(task, n_anchor_items=0).times(n)
    n_pairs = math.comb(n, 2) * len(human.criteria)
    return quote_comparison(human, question_of_pairs(task)).times(n_pairs)


def _make_unsaved_task(bundle: Bundle, material: Material) -> Task:
    return unsaved_task(bundle.slug, bundle.document, len(material.items))
