"""The pages of a drafted task as workers would see them; nothing is stored."""

from __future__ import annotations

from crowd.elsewhere.services.hit_page import Pages, page_of_items
from crowd.hit_templates import all_templates
from crowd.hits.models.campaign import HITType, Item
from crowd.workers.hit_form import sent_to, shown_item
from leaderboard.designs.base import Shown, TaskView, all_designs
from leaderboard.tasks.config import HumanConfig, TaskConfig, read_task
from leaderboard.tasks.drafts.bundle import Bundle
from leaderboard.tasks.intake.join import Material
from leaderboard.tasks.services.configuration import hit_type_for


def first_page(bundle: Bundle, material: Material, *, n: int = 0) -> str:
    """Show the page about the n-th input, as HTML that needs nothing else.

    Where systems are compared, it shows the first two, else the first.
    """
    config = read_task(bundle.document, all_templates()).config
    compares = "comparison" in bundle.document
    human: HumanConfig = config.comparison if compares else config.human
    design = all_designs()[human.design]()
    item = material.items[n]
    outputs = [texts[item.id] for texts in material.systems.values()]
    shown = Shown(0, item.id, item.fields, item.references)
    data = design.data(_view(config, human), shown, outputs[: design.n_outputs[0]])
    spec = hit_type_for(
        config.title, config.summary, human, next(iter(human.separate()))
    )
    hit_type = HITType(
        template=spec.template,
        scale=spec.scale,
        criteria=dict(spec.criteria),
        form=dict(spec.form),
        title=spec.title,
        description=spec.description,
        reward_cents=spec.reward_cents,
    )
    pages = Pages(shown_item, sent_to)
    return page_of_items(hit_type, [Item(pk=0, key="preview", data=data)], pages)


def _view(config: TaskConfig, human: HumanConfig) -> TaskView:
    return TaskView(
        slug=config.slug,
        field_labels=config.fields,
        source_language=config.source_language,
        target_language=config.target_language,
        show_reference=human.show_reference,
        standard_value=human.standard_value,
        formats=config.formats,
        output_format=config.output_format,
    )
