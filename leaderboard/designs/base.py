"""A design says what a worker sees of outputs, and what a rating is about."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from genie.lib.extension import discover
from genie.lib.seeds import generator, seed_from

Shows = Literal["one output", "an output and a reference", "several outputs"]
SLOTS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Shown:
    """One instance as a design needs it."""

    instance_pk: int
    instance_id: str
    fields: Mapping[str, str]
    references: Sequence[str]


@dataclass(frozen=True)
class TaskView:
    """What a design must know of the benchmark task."""

    slug: str
    field_labels: Mapping[str, str]
    source_language: str
    target_language: str
    show_reference: bool
    standard_value: int


class Design(ABC):
    """Outputs to items, and back.

    Parameters
    ----------
    slug : str
        Name in task.toml and signatures.
    scales : tuple of str
        What it can be answered on, the usual one first.
    shows : str
        How many outputs stand in one item, and whose.
    needs_reference : bool
        Whether an instance without a reference cannot be asked about.
    """

    slug: str
    scales: ClassVar[tuple[str, ...]]
    shows: ClassVar[Shows]
    needs_reference: ClassVar[bool] = False

    @abstractmethod
    def data(
        self, task: TaskView, shown: Shown, outputs: Sequence[str]
    ) -> dict[str, Any]:
        """Give the texts that the HIT template shows; outputs come in their order."""


class OneOutput(Design):
    """One output at a time, judged by itself."""

    shows: ClassVar[Shows] = "one output"

    def data(
        self, task: TaskView, shown: Shown, outputs: Sequence[str]
    ) -> dict[str, Any]:
        """Show the instance's fields, then the output; a reference where asked."""
        [prediction] = outputs
        data = {**given(task, shown), "prediction": prediction}
        if task.show_reference and shown.references:
            data["reference"] = shown.references[0]
        return data


class SeveralOutputs(Design):
    """Outputs beside each other, in slots whose order is drawn and stored."""

    shows: ClassVar[Shows] = "several outputs"

    def data(
        self, task: TaskView, shown: Shown, outputs: Sequence[str]
    ) -> dict[str, Any]:
        """Show the instance's fields and the outputs as A, B, ... in the order given."""
        return {**given(task, shown), "outputs": in_slots(outputs)}


def given(task: TaskView, shown: Shown) -> dict[str, Any]:
    """Lay the instance's fields out as all HIT templates read them."""
    return {
        "fields": [
            {
                "label": label,
                "text": shown.fields.get(name, ""),
                "lang": task.source_language,
            }
            for name, label in task.field_labels.items()
        ],
        "lang": task.target_language,
    }


def in_slots(outputs: Sequence[str]) -> list[dict[str, str]]:
    """Put outputs into slots, in their order.

    Examples
    --------
    >>> in_slots(["one", "two"])
    [{'slot': 'A', 'text': 'one'}, {'slot': 'B', 'text': 'two'}]
    """
    if len(outputs) > len(SLOTS):
        raise ValueError(f"At most {len(SLOTS)} outputs fit on one page.")
    return [
        {"slot": slot, "text": text} for slot, text in zip(SLOTS, outputs, strict=False)
    ]


def with_standard(task: TaskView, shown: Shown, data: dict[str, Any]) -> dict[str, Any]:
    """Add the reference output that other outputs are measured against."""
    if not shown.references:
        return data
    return {
        **data,
        "standard": shown.references[0],
        "standard_value": task.standard_value,
    }


def drawn_order(n: int, *, seed: int, instance_id: str) -> list[int]:
    """Draw the order of `n` outputs for one instance.

    Examples
    --------
    >>> sorted(drawn_order(3, seed=1, instance_id="i1"))
    [0, 1, 2]
    >>> drawn_order(9, seed=1, instance_id="i") == drawn_order(9, seed=1, instance_id="i")
    True
    """
    rng = generator(seed_from("order of outputs", seed, instance_id))
    return [int(index) for index in rng.permutation(n)]


def content_key(task_slug: str, instance_id: str) -> str:
    """Name an instance so that equal inputs are recognised and nothing is told.

    Examples
    --------
    >>> len(content_key("xsum", "17"))
    32
    """
    return hashlib.sha256(f"{task_slug}\x1f{instance_id}".encode()).hexdigest()[:32]


def all_designs() -> dict[str, type[Design]]:
    """Give every design by its slug."""
    return discover("leaderboard.designs", Design)
