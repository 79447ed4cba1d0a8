"""The page of the raters' interface that a judge is asked about, and its slots."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

from crowd.hit_templates.form import read_errors
from crowd.scales.base import PREFERRED, Scale, all_scales
from genie.lib.errors import GenieError
from genie.lib.seeds import seed_from
from leaderboard.designs.base import Design, Shown
from leaderboard.evaluation.services.joint import MOST_ON_PAGE
from leaderboard.judges.answers import Said
from leaderboard.judges.definition import JOINT, PAIRWISE
from leaderboard.judges.models import Judge, JudgeCall
from leaderboard.judges.shape import Shape
from leaderboard.stats.blocks import balanced_blocks
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services.configuration import design_of, errors_asked

# In place of a submission, if a slot has a reference.
REFERENCE = 0
_TIES = {"two-choice": "two-choice-tie"}


@dataclass(frozen=True)
class Page:
    submission: int
    other: int | None = None
    beside: Sequence[int] = ()

    @property
    def systems(self) -> set[int]:
        """Return every system whose output must exist."""
        return {self.submission, self.other or self.submission, *self.beside} - {
            REFERENCE
        }


def human_of(judge: Judge, task: Task) -> HumanConfig:
    mode, settings = judge.definition["mode"], task.configuration
    candidates: list[HumanConfig] = [settings.human, settings.comparison]
    if mode == JOINT:
        candidates = [settings.joint]
    fitting = (one for one in candidates if _fits(mode, design_of(task, one), one))
    if (human := next(fitting, None)) is None:
        slug = candidates[0].design
        raise GenieError(
            f"A judge in the mode {mode} cannot answer the questions of {task.title} "
            f"(design {slug}).",
            code="not-for-judges",
        )
    # the task's, not its design's: imports use a range of a family of scales
    usual = all_scales().get(human.scale)
    slug = judge.definition["scale"] or human.scale
    scale = all_scales().get(slug)
    if scale is None or usual is None or _kind(scale) != _kind(usual):
        raise GenieError(
            f"The scale {slug} does not fit the questions of {task.title}.",
            code="not-for-judges",
        )
    return human


def _fits(mode: str, design: Design, human: HumanConfig) -> bool:
    if mode == JOINT:
        return design.n_outputs[0] > 1 and not design.references_among
    scale = all_scales().get(human.scale, Scale)
    if mode == PAIRWISE:
        both = design.n_outputs == (2, 2) and not design.references_among
        return both and scale.compares
    # imported sums of errors, z-scores and shares of won pairs answer no question
    answered = design.marks_errors or not scale.counted
    return design.about_one_system() and answered and human.scale != PREFERRED


def _kind(scale: type[Scale]) -> tuple[bool, ...]:
    return scale.compares, scale.relative, scale.counted


def scale_of(judge: Judge, human: HumanConfig) -> type[Scale]:
    slug = judge.definition["scale"] or human.scale
    slug = _TIES.get(slug, slug) if human.allow_tie else slug
    return all_scales()[slug].in_language(human.language)


def shape_of(human: HumanConfig, design: Design, data: Mapping[str, Any]) -> Shape:
    compares = all_scales()[human.scale].compares
    slots = () if compares else [one["slot"] for one in data.get("outputs", [])]
    errors = read_errors(errors_asked(human)) if design.marks_errors else None
    return Shape(tuple(slots), errors)


def pages_of(
    mode: str,
    design: Design,
    systems: Sequence[int],
    instances: Sequence[Instance],
    *,
    per_page: int | None = None,
) -> Iterator[tuple[Instance, Page]]:
    """Yield the pages of each instance; ordered ones in both orders."""
    if mode == JOINT:
        yield from _blocks(design, systems, instances, per_page)
        return
    pages = [Page(pk) for pk in systems]
    if mode == PAIRWISE:
        pages = [Page(one, other) for one, other in permutations(systems, 2)]
    elif design.references_among:
        pages = [
            Page(pk, beside=beside)
            for pk in systems
            for beside in ((pk, REFERENCE), (REFERENCE, pk))
        ]
    yield from ((instance, page) for instance in instances for page in pages)


def _blocks(
    design: Design,
    systems: Sequence[int],
    instances: Sequence[Instance],
    per_page: int | None,
) -> Iterator[tuple[Instance, Page]]:
    size = on_a_page(design, len(systems), per_page)
    blocks = [list(range(len(systems)))] * len(instances)
    if size < len(systems):
        seed = seed_from("blocks of judges", len(systems), size, len(instances))
        blocks = balanced_blocks(len(systems), size, len(instances), seed=seed)
    for instance, block in zip(instances, blocks, strict=True):
        name = instance.instance_id
        seed = seed_from("order of outputs for judges", instance.task_id)
        order = design.order(size, seed=seed, instance_id=name)
        drawn = [systems[block[at]] for at in order]
        for beside in (drawn, drawn[::-1]):
            # one answer is about all of them: it is bought once
            yield from ((instance, Page(pk, beside=tuple(beside))) for pk in beside)


def on_a_page(design: Design, n_systems: int, per_page: int | None) -> int:
    most = min(MOST_ON_PAGE, design.n_outputs[1], n_systems)
    size = most if per_page is None else per_page
    if not 2 <= size <= most:
        raise GenieError(
            f"A page of {n_systems} systems shows 2 to {most} of them, not {size}.",
            code="wrong-number-of-systems",
        )
    return size


def texts_on(
    call: JudgeCall, outputs: Mapping[tuple[int, int], str], shown: Shown
) -> list[str]:
    """Return a page's outputs in order; KeyError if one may not be sent."""
    order = call.beside or [call.submission_id, *filter(None, [call.other_id])]
    return [
        shown.references[0] if pk == REFERENCE else outputs[pk, call.instance.pk]
        for pk in order
    ]


def place_of(call: JudgeCall) -> int:
    return call.beside.index(call.submission_id) if call.beside else 0


def about(call: JudgeCall, said: Mapping[str, Said], slots: Sequence[str]) -> Said:
    """Return an answer's part on the question's own output, as people's would count."""
    if not call.beside:
        return said[""]
    place = place_of(call)
    if slots:
        return said[slots[place]]
    found = said[""]
    if place == 0:
        return found
    # for two, the rating is that of the first
    turned = {name: 1.0 - value for name, value in found.values.items()}
    return replace(found, values=turned)
