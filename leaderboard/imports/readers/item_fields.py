"""The fields of an annotation tool's items that contain systems and texts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from genie.lib.errors import GenieError
from leaderboard.imports.readers.judgments import Judgments
from leaderboard.imports.readers.layout import Choice

Item = Mapping[str, Any]

_SYSTEMS = (
    ("model_a", "model_b"), ("system_a", "system_b"), ("model1", "model2"),
    ("system1", "system2"), ("model_1", "model_2"), ("system_1", "system_2"),
    ("models",), ("systems",), ("system",), ("model",), ("system_id",), ("model_name",),
)  # fmt: skip
_TEXTS = (
    ("text_a", "text_b"), ("output_a", "output_b"), ("response_a", "response_b"),
    ("answer_a", "answer_b"), ("text1", "text2"), ("output1", "output2"),
    ("response1", "response2"), ("answer1", "answer2"), ("outputs",), ("responses",),
    ("texts",), ("output",), ("response",), ("answer",), ("translation",), ("summary",),
    ("hypothesis",), ("target",), ("text",),
)  # fmt: skip
_INSTANCES = (
    ("instance",), ("instance_id",), ("item_id",), ("prompt_id",), ("question_id",),
    ("seg_id",), ("source_id",), ("prompt",), ("source",), ("src",), ("question",),
    ("input",), ("context",),
)  # fmt: skip


@dataclass(frozen=True)
class Fields:
    """The fields of an item with its systems, their texts, and the input.

    `systems` and `texts` have one field per system, or one field with a list; `texts`
    may be empty. `instance` is "" if each item is a separate instance.
    """

    systems: tuple[str, ...]
    texts: tuple[str, ...]
    instance: str

    def systems_of(self, item: Item) -> list[str]:
        """Return the systems of the texts, in order; empty if the item has none."""
        return _values(item, self.systems)

    def instance_of(self, item: Item, number: str) -> str:
        return str(item.get(self.instance) or number)

    def keep(self, made: Judgments, item: Item, instance: str) -> None:
        texts = _values(item, self.texts)
        systems = self.systems_of(item)
        if texts and len(texts) == len(systems):
            for system, text in zip(systems, texts, strict=True):
                made.texts.outputs.setdefault((system, instance), text)
        taken = {*self.systems, *self.texts, "id"}
        inputs = {
            name: value
            for name, value in item.items()
            if name not in taken and isinstance(value, str) and value != instance
        }
        if self.texts and self.instance in item and len(str(item[self.instance])) > 40:
            inputs[self.instance] = str(item[self.instance])
        if self.texts and inputs:
            made.texts.inputs.setdefault(instance, inputs)


def _values(item: Item, names: Sequence[str]) -> list[str]:
    if len(names) == 1 and isinstance(item.get(names[0]), list):
        return [str(value) for value in item[names[0]]]
    values = [item.get(name) for name in names]
    return [] if None in values or "" in values else [str(value) for value in values]


def asked(items: Sequence[Item]) -> tuple[Choice, ...]:
    """Return the questions about the fields, with likely answers.

    They are "systems" (required if no field has a likely name), "texts" and "instance".

    Examples
    --------
    >>> systems, texts, _ = asked([{"model_a": "x", "model_b": "y", "text": "Hi"}])
    >>> systems.found, texts.found
    ('model_a,model_b', 'text')
    """
    names = sorted({str(name) for item in items for name in item})
    there = f" Items have {', '.join(names)}." if names else ""
    systems = _likely(items, _SYSTEMS)
    return (
        Choice(
            "systems",
            "Which field says whose text is shown? Of two side by side, both with a"
            f" comma, the first on the left.{there}",
            found=systems,
            needed=not systems,
        ),
        Choice(
            "texts",
            f"Which fields hold the systems' texts, in the same order?{there}",
            found=_likely(items, _TEXTS),
        ),
        Choice(
            "instance",
            f"Which field is the same for all systems' texts of one input?{there}",
            found=_likely(items, _INSTANCES),
        ),
    )


def _likely(items: Sequence[Item], candidates: Sequence[Sequence[str]]) -> str:
    for names in candidates:
        if items and all(name in item for item in items for name in names):
            return ",".join(names)
    return ""


def chosen_fields(items: Sequence[Item], choices: Mapping[str, Any]) -> Fields:
    """Return the chosen fields, else the likely ones.

    Raises
    ------
    GenieError
        "choice-needed" if no field has the systems, "unknown-choice" if no item has the
        chosen field.

    Examples
    --------
    >>> chosen_fields([{"bot": "x"}], {"systems": "bot"}).systems
    ('bot',)
    """
    found = []
    for choice in asked(items):
        given = str(choices.get(choice.name) or choice.found)
        names = tuple(name.strip() for name in given.split(",") if name.strip())
        if not names and choice.needed:
            raise GenieError(
                f"Say {choice.name}: {choice.question}", code="choice-needed"
            )
        for name in names:
            if not any(name in item for item in items):
                raise GenieError(
                    f"{choice.name}: no item has a field {name!r}. {choice.question}",
                    code="unknown-choice",
                )
        found.append(names)
    systems, texts, instance = found
    return Fields(systems, texts, instance[0] if instance else "")


def number_of(word: str) -> float:
    """Return a word as a number, NaN if it is none."""
    try:
        value = math.nan if "_" in word else float(word)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan
