"""Test questions for items that show several outputs at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from crowd.hits.services.build import ItemSpec
from genie.lib.errors import GenieError
from genie.lib.seeds import generator, seed_from
from quality.test_questions.models import Polarity
from quality.test_questions.services.inject import HiddenItem, item_key, shuffled_words


@dataclass(frozen=True)
class LineUp:
    """An input with outputs in their slots; their quality need not be known."""

    content_key: str
    data: Mapping[str, Any]
    # slot -> text, in the order of the page
    outputs: Mapping[str, str]
    # a text that is known to be good
    reference: str


class Edited(Protocol):
    @property
    def text(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def made_from(self) -> Mapping[str, Any]: ...
    @property
    def text_sha256(self) -> str: ...


def draw_pairs(
    *,
    campaign_key: str,
    material: Sequence[LineUp],
    n: int,
    seed: int,
    blind: bool = False,
    expected: Mapping[str, Any] | None = None,
    edits: Mapping[str, Edited] | None = None,
) -> list[HiddenItem]:
    """Pair each input's good text with a wrong one, in a drawn order.

    The wrong text is an edited output if the input has one, else another's good text.
    The good one must be preferred. There are no negative questions: a worker who always
    takes the same side is right half of the time, which the detectors distinguish from
    good work.
    """
    rng = generator(seed_from("test questions", seed))
    questions = []
    edits = edits or {}
    edited = [line_up for line_up in material if line_up.content_key in edits][:n]
    pairs = [(line_up, edits[line_up.content_key].text) for line_up in edited]
    others = [line_up for line_up in material if line_up.content_key not in edits]
    pairs += _with_strangers(others, n - len(pairs), rng, blind)
    # Each side is right equally often, so that a worker who always takes one fails
    # half.
    sides = rng.permutation(len(pairs)) % 2
    for side, (line_up, other) in zip(sides, pairs, strict=True):
        slots = list(line_up.outputs)[:2]
        right = slots[int(side)]
        texts = {slot: line_up.reference if slot == right else other for slot in slots}
        questions.append(
            _hidden(
                campaign_key,
                line_up,
                texts,
                {"slot": right},
                expected,
                edits.get(line_up.content_key),
            )
        )
    return questions


def draw_line_ups(
    *,
    campaign_key: str,
    material: Sequence[LineUp],
    n: int,
    seed: int,
    blind: bool = False,
    expected: Mapping[str, Any] | None = None,
    edits: Mapping[str, tuple[int, Edited]] | None = None,
) -> list[HiddenItem]:
    """Put a wrong text in place of one output: it must not come out best.

    The text is an edit of the output in the place that `edits` has for the input; else
    another input's reference, in a drawn place. The order of the outputs is drawn.
    """
    rng = generator(seed_from("test questions", seed))
    edits = edits or {}
    edited = [line_up for line_up in material if line_up.content_key in edits][:n]
    others = [line_up for line_up in material if line_up.content_key not in edits]
    if len(others) <= n - len(edited):
        others = [line_up for line_up in material if line_up not in edited]
    wrong = [(line_up, edits[line_up.content_key][1].text) for line_up in edited]
    wrong += _with_strangers(others, n - len(edited), rng, blind)
    questions = []
    for at, (line_up, text) in enumerate(wrong):
        slots, outputs = list(line_up.outputs), list(line_up.outputs.values())
        place, edit = int(rng.integers(len(outputs))), None
        if at < len(edited):
            place, edit = edits[line_up.content_key]
        outputs[place] = text
        # As for real items: no system is always shown in the same place.
        mixed = [int(place) for place in rng.permutation(len(outputs))]
        texts = {slot: outputs[at] for slot, at in zip(slots, mixed, strict=True)}
        answer = {"not_best": slots[mixed.index(place)]}
        questions.append(_hidden(campaign_key, line_up, texts, answer, expected, edit))
    return questions


def _with_strangers(
    material: Sequence[LineUp], n: int, rng: np.random.Generator, blind: bool
) -> list[tuple[LineUp, str]]:
    """Return `n` inputs, each with a text that is wrong for it."""
    if n == 0:
        return []
    order = [material[int(index)] for index in rng.permutation(len(material))]
    shift = int(rng.integers(1, len(order))) if len(order) > 1 else 0
    rotated = [*order[shift:], *order[:shift]]
    pairs = [
        (line_up, shuffled_words(other.reference, rng) if blind else other.reference)
        for line_up, other in zip(order, rotated, strict=True)
        if other.reference.strip() != line_up.reference.strip()
        and other.content_key != line_up.content_key
    ]
    if len(pairs) < n:
        raise GenieError(
            f"There are references for {len(pairs)} test questions, but {n} "
            f"are needed.",
            code="too-few-references",
        )
    return pairs[:n]


def _hidden(
    campaign_key: str,
    line_up: LineUp,
    texts: Mapping[str, str],
    answer: Mapping[str, Any],
    expected: Mapping[str, Any] | None,
    made: Edited | None = None,
) -> HiddenItem:
    return HiddenItem(
        spec=ItemSpec(
            key=item_key(campaign_key, "compared", line_up.content_key),
            data={
                **line_up.data,
                "outputs": [
                    {"slot": slot, "text": text} for slot, text in texts.items()
                ],
            },
            content_key=line_up.content_key,
        ),
        polarity=Polarity.POSITIVE,
        expected={**(expected or {}), **answer},
        kind=made.kind if made else "",
        made_from=made.made_from if made else {},
        text_sha256=made.text_sha256 if made else "",
    )
