"""Whether what a task asks for goes together: design, scale, HIT template, questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from crowd import hit_templates
from crowd.hit_templates import HITTemplate
from crowd.scales.base import Scale, all_scales
from crowd.services.build import check_hit_type
from genie.lib.errors import GenieError
from leaderboard.designs.base import Design, all_designs
from leaderboard.designs.error_spans import ErrorSpans
from leaderboard.services import marked_criteria
from leaderboard.services.asking import (
    DEFAULTS,
    POLARITIES,
    hit_type_for,
    human_in,
    separate,
)

TABLES = ("human", *DEFAULTS)


def refuse_misfits(slug: str, config: Mapping[str, Any]) -> None:
    """Refuse a task that cannot be asked as it says, with the first thing that is wrong."""
    for sentence in misfits(config):
        raise GenieError(f"{slug}/task.toml: {sentence}", code="unusable-task")


def misfits(config: Mapping[str, Any]) -> Iterator[str]:
    """Say what does not go together in a task's configuration, one sentence each.

    Names that this site does not have are left to the check that lists those there are.
    """
    for table in TABLES:
        human = human_in(config, table)
        design = all_designs().get(str(human.get("design")))
        scale = all_scales().get(str(human.get("scale")))
        template = hit_templates.all_templates().get(str(human.get("hit_template")))
        if design is None or scale is None or template is None:
            continue
        found = list(_of_table(table, design, scale))
        found += _of_design(design, template, scale)
        found += [] if found else _of_questions(config, human, design, template)
        yield from (f"[{table}] {sentence}" for sentence in found)


def _of_table(table: str, design: type[Design], scale: type[Scale]) -> Iterator[str]:
    several = design.shows == "several outputs"
    if table == "human" and several:
        yield (
            f"the design {design.slug} shows outputs of several systems; it belongs in "
            "[comparison] or [joint], and [human] evaluates one system at a time."
        )
    if table != "human" and not several:
        yield (
            f"the design {design.slug} shows one system at a time; it belongs in [human]."
        )
    if table == "comparison" and several and not scale.compares:
        yield f"the scale {scale.slug} does not say which of two outputs is better."
    if table == "joint" and several and scale.compares:
        yield (
            f"the scale {scale.slug} compares two outputs, but there may be more here."
        )


def _of_design(
    design: type[Design], template: HITTemplate, scale: type[Scale]
) -> Iterator[str]:
    if scale.slug not in design.scales:
        yield (
            f"the design {design.slug} works with the scale "
            f"{' or '.join(design.scales)}, not {scale.slug}."
        )
    several = design.shows != "one output"
    if several != template.shows_outputs:
        yield (
            f"the design {design.slug} shows {'several outputs' if several else 'one output'}"
            f", the HIT template {template.slug} {'one' if several else 'several'}."
        )
    standard = any(one.name == "standard" for one in template.fields)
    if scale.relative and not standard:
        yield (
            f"the scale {scale.slug} is relative to a reference output, which "
            f"the HIT template {template.slug} does not show."
        )
    if standard and not scale.relative:
        yield (
            f"the HIT template {template.slug} shows a reference output with its "
            f"value, which the design {design.slug} does not provide."
        )
    marks = issubclass(design, ErrorSpans)
    if marks != template.marks_errors:
        yield (
            f"errors are {'' if marks else 'not '}marked in the design {design.slug}, "
            f"but {'not ' if marks else ''}in the HIT template {template.slug}."
        )


def _of_questions(
    config: Mapping[str, Any],
    human: Mapping[str, Any],
    design: type[Design],
    template: HITTemplate,
) -> Iterator[str]:
    asking = {**human, "criteria": human.get("criteria") or template.questions}
    named = {*human.get("before_text", ()), *human.get("show_input", {})}
    for name in sorted(named - set(asking["criteria"])):
        yield (
            f"before_text or show_input names {name!r}, which is not one of the "
            "criteria."
        )
    campaigns = separate(asking)
    for criteria in campaigns:
        try:
            check_hit_type(hit_type_for(str(config["title"]), "", asking, criteria))
        except GenieError as error:
            yield error.message[0].lower() + error.message[1:]
    yield from _of_noisy_below(human.get("noisy_below", {}))
    several = design.shows != "one output"
    yield from marked_criteria.problems(asking, campaigns, several_outputs=several)


def _of_noisy_below(said: Any) -> Iterator[str]:
    shares = said if isinstance(said, Mapping) else dict.fromkeys(POLARITIES, said)
    usable = all(
        isinstance(share, float) and 0 < share < 1 for share in shares.values()
    )
    if not usable or not set(shares) <= set(POLARITIES):
        yield (
            "noisy_below is a share of right answers between 0 and 1, such as 0.9, or a "
            "table of one for positive and one for negative test questions."
        )
