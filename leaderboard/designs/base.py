"""A design says what a worker sees of outputs, and what a rating is about."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from crowd.hit_templates.form import DOCUMENT, PART
from crowd.hit_templates.formats import PLAIN
from crowd.scales.base import Scale
from genie.lib.extension import discover
from genie.lib.seeds import generator, seed_from
from leaderboard.designs.unit import TICKED, Unit, unit_of

# Instances are parts of the document that their ids begin with: `document.part`.
BY_ID = "id"
SLOTS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Shown:
    """One instance as a design needs it."""

    instance_pk: int
    instance_id: str
    fields: Mapping[str, str]
    references: Sequence[str]
    position: int = 0


@dataclass(frozen=True)
class TaskView:
    """What a design must know of the benchmark task."""

    slug: str
    field_labels: Mapping[str, str]
    source_language: str
    target_language: str
    show_reference: bool
    standard_value: int
    # field -> how it is shown, and how outputs are; what is not named is plain text
    formats: Mapping[str, str] = field(default_factory=dict)
    output_format: str = PLAIN
    # the field that names an instance's document, or `BY_ID`; empty: none is asked for
    page_by: str = ""


@dataclass(frozen=True)
class Beside:
    """A score that a design makes of answers, beside those of the criteria asked.

    Parameters
    ----------
    explanation : str
        What a reader of the score must know, in a sentence.
    unit : Unit
        How its values become scores.
    """

    explanation: str
    unit: Unit


class Design(ABC):
    """Outputs to items, and answers to scores: all in which designs differ.

    Parameters
    ----------
    slug : str
        Name in task.toml and signatures.
    scales : tuple of str
        What it can be answered on, the usual one first.
    n_outputs : tuple of int
        How many outputs stand on one page, at least and at most.
    references_among : int
        How many of them are references; the others are systems'.
    needs_reference : bool
        Whether an instance without a reference cannot be asked about.
    marks_errors : bool
        Whether errors are marked in the output, before it is rated.
    test_polarities : tuple of str
        Which test questions it has: "positive", where a reference is good, and
        "negative", where another instance's is bad, or worse than the own one.
    beside : mapping
        Scores that it makes of answers beside those of the criteria asked, by name.
    """

    slug: str
    scales: ClassVar[tuple[str, ...]]
    n_outputs: ClassVar[tuple[int, int]] = (1, 1)
    references_among: ClassVar[int] = 0
    needs_reference: ClassVar[bool] = False
    marks_errors: ClassVar[bool] = False
    test_polarities: ClassVar[tuple[str, ...]] = ("positive", "negative")
    beside: ClassVar[Mapping[str, Beside]] = {}

    @classmethod
    def in_slots(cls) -> bool:
        """Tell whether outputs stand beside each other, in slots A, B, ..."""
        return cls.n_outputs[1] > 1

    @classmethod
    def about_one_system(cls) -> bool:
        """Tell whether a page asks about one system, so that submissions can be judged."""
        return cls.n_outputs[0] - cls.references_among == 1

    def order(self, n: int, *, seed: int, instance_id: str) -> list[int]:
        """Say in which order `n` outputs stand on an instance's page."""
        return list(range(n))

    def slots(self, n: int) -> str:
        """Name the slots of `n` outputs; none where one stands alone."""
        return SLOTS[:n] if self.in_slots() else ""

    @classmethod
    def unit(cls, criterion: str, scale: type[Scale], *, asked: bool) -> Unit:
        """Say how a criterion's ratings become scores.

        Parameters
        ----------
        criterion : str
            One that is asked, a checkbox, or one of `beside`.
        scale : type
            What the campaign's questions are answered on.
        asked : bool
            Whether the criterion is one of these questions.
        """
        if criterion in cls.beside:
            return cls.beside[criterion].unit
        return unit_of(scale) if asked else TICKED

    @classmethod
    def values_beside(cls, detail: Mapping[str, Any]) -> dict[str, float]:
        """Read what an answer's details say on the criteria of `beside`."""
        return {}

    @abstractmethod
    def data(
        self, task: TaskView, shown: Shown, outputs: Sequence[str]
    ) -> dict[str, Any]:
        """Give the texts that the HIT template shows; outputs come in their order."""


class OneOutput(Design):
    """One output at a time, judged by itself."""

    def data(
        self, task: TaskView, shown: Shown, outputs: Sequence[str]
    ) -> dict[str, Any]:
        """Show the instance's fields, then the output; a reference where asked."""
        [prediction] = outputs
        data = {**input_fields(task, shown), "prediction": prediction}
        if task.show_reference and shown.references:
            data["reference"] = shown.references[0]
        return data


class SeveralOutputs(Design):
    """Outputs beside each other, in slots whose order is drawn and stored."""

    n_outputs: ClassVar[tuple[int, int]] = (2, len(SLOTS))
    # a test question sets another instance's reference among the outputs
    test_polarities: ClassVar[tuple[str, ...]] = ("negative",)

    def order(self, n: int, *, seed: int, instance_id: str) -> list[int]:
        """Draw the order of the outputs."""
        return drawn_order(n, seed=seed, instance_id=instance_id)

    def data(
        self, task: TaskView, shown: Shown, outputs: Sequence[str]
    ) -> dict[str, Any]:
        """Show the instance's fields and the outputs as A, B, ... in the order given."""
        return {**input_fields(task, shown), "outputs": in_slots(outputs)}


def input_fields(task: TaskView, shown: Shown) -> dict[str, Any]:
    """Lay the instance's fields out as all HIT templates read them."""
    fields = [
        {
            "label": label,
            "text": shown.fields.get(name, ""),
            "lang": task.source_language,
            **_format(task.formats.get(name, PLAIN)),
        }
        for name, label in task.field_labels.items()
    ]
    return {
        "fields": fields,
        "lang": task.target_language,
        **_format(task.output_format),
        **_part(task, shown),
    }


def document_of(task: TaskView, shown: Shown) -> str:
    """Name the document that an instance is a part of; empty where none is asked for."""
    return document_name(task.page_by, shown.instance_id, shown.fields)


def document_name(page_by: str, instance_id: str, fields: Mapping[str, str]) -> str:
    """Name a document by the field that says so, or by what the instance's id begins with."""
    if not page_by:
        return ""
    by_id = instance_id.rpartition(".")[0] or instance_id
    return by_id if page_by == BY_ID else fields.get(page_by, "")


def _part(task: TaskView, shown: Shown) -> dict[str, Any]:
    """Say which document an instance is a part of, where pages go by documents."""
    if not task.page_by:
        return {}
    return {DOCUMENT: document_of(task, shown), PART: shown.position}


def _format(name: str) -> dict[str, str]:
    # plain texts have the data that they had before there were formats
    return {} if name == PLAIN else {"format": name}


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
    # The separator stands in no slug: different pairs give different texts.
    return hashlib.sha256(f"{task_slug}\x1f{instance_id}".encode()).hexdigest()[:32]


def all_designs() -> dict[str, type[Design]]:
    """Give every design by its slug."""
    return discover("leaderboard.designs", Design)
