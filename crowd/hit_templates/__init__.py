"""HIT templates: one folder each, found by its template.toml, here or outside."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from crowd.hit_templates.template import HITTemplate, read_template
from genie.lib import outside
from genie.lib.errors import GenieError

__all__ = ["HITTemplate", "all_templates", "get"]

ROOT = Path(__file__).resolve().parent


@cache
def all_templates() -> dict[str, HITTemplate]:
    """Give every HIT template by its slug."""
    templates = {
        path.parent.name: read_template(path.parent)
        for path in sorted(ROOT.glob("*/template.toml"))
    }
    for where, folder in outside.folders("templates"):
        for path in sorted(folder.glob("*/template.toml")):
            slug, place = path.parent.name, f"{path.parent.name} of {where}"
            if slug in templates:
                outside.refuse("templates", place, f"there is another {slug} already")
                continue
            try:
                templates[slug] = read_template(path.parent)
            except GenieError as error:
                outside.refuse("templates", place, error.message.rstrip("."))
    return dict(sorted(templates.items()))


def get(slug: str) -> HITTemplate:
    """Give the HIT template of that slug, or say which ones there are."""
    templates = all_templates()
    if slug not in templates:
        raise GenieError(
            f"There is no HIT template {slug!r}. Choose from: {', '.join(templates)}.",
            code="unknown-hit-template",
        )
    return templates[slug]
