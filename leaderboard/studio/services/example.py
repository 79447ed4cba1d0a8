"""What a draft would become, before anything is loaded: its pages, how precise it is."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from crowd.hits.models.campaign import HITType, Item
from leaderboard.designs.base import Shown
from leaderboard.evaluation.precision import Precision, expected_precision
from leaderboard.evaluation.price import quote_single
from leaderboard.tasks.drafts.ask import Ask
from leaderboard.tasks.drafts.bundle import Bundle
from leaderboard.tasks.intake.join import Material
from leaderboard.tasks.models import Task
from leaderboard.tasks.services.configuration import design_of, hit_type_of, task_view


def page_of(
    bundle: Bundle, material: Material, ask: Ask, number: int
) -> tuple[HITType, Item]:
    """Give a HIT type and an item that are in no database.

    Parameters
    ----------
    bundle : Bundle
        One that this site can use.
    material : Material
    ask : Ask
    number : int
        The inputs in their order; the systems take turns.
    """
    task = _unsaved(bundle, material, ask)
    paired = ask.way.table == "comparison"
    human = task.configuration.comparison if paired else task.configuration.human
    design = design_of(task, human)
    item = material.items[number % len(material.items)]
    n = min(design.n_outputs[0], len(material.systems))
    systems = list(material.systems)
    turn = [systems[(number + k) % len(systems)] for k in range(n)]
    data = design.data(
        task_view(task, human),
        Shown(0, item.id, item.fields, item.references),
        [material.systems[name][item.id] for name in turn],
    )
    # criteria that are asked apart have a page of their own; this is the first
    spec = hit_type_of(task, human, human.separate()[0])
    return HITType(**asdict(spec)), Item(pk=0, key="preview", data=data)


def precision_of(bundle: Bundle, material: Material, ask: Ask) -> Precision | None:
    """Say how precise the scores will be; None where nobody can tell beforehand."""
    if ask.way.table == "comparison":
        return None
    return expected_precision(_unsaved(bundle, material, ask))


def price_of(bundle: Bundle, material: Material, ask: Ask) -> int | None:
    """Price all systems together, in cents; None for pairs, which end when they are clear."""
    if ask.way.table == "comparison":
        return None
    task = _unsaved(bundle, material, ask)
    return quote_single(task, n_anchor_items=0).total_cents * len(material.systems)


def _unsaved(bundle: Bundle, material: Material, ask: Ask) -> Task:
    document: dict[str, Any] = dict(bundle.document)
    return Task(
        slug=ask.slug,
        title=ask.title,
        kind=str(document.get("kind", "")),
        summary=ask.summary,
        source_language=ask.source_language,
        target_language=ask.target_language,
        config=document,
        n_instances=len(material.items),
    )
