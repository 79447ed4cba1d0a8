"""HITs of every template, made from the template's own example."""

import copy

from crowd import hit_templates
from crowd.campaigns.services.work import next_assignment
from crowd.hits.services.build import ItemSpec
from tests.crowd.making import POOL, hit_type, make_campaign, make_worker


def example_items(template, n, **data):
    example = {**copy.deepcopy(dict(template.example)), **data}
    return [ItemSpec(f"item-{i}", example, f"about-{i}") for i in range(n)]


def campaign_of(slug, n=1, *, data=None, pool=POOL, **fields):
    """Build a campaign as the template means it, of its example n times."""
    template = hit_templates.get(slug)
    kind = hit_type(
        **{
            "template": slug,
            "scale": template.scale,
            "criteria": dict(template.questions),
            "form": dict(template.form),
            "title": template.title,
            **fields,
        }
    )
    of = example_items(template, n, **(data or {}))
    return make_campaign(hit_type=kind, of=of, pool=pool)


def claimed(slug, **how):
    campaign_of(slug, **how)
    return next_assignment(make_worker())
