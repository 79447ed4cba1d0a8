"""The interface of designs: what a worker sees of outputs, and what a rating is about."""

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from crowd.hit_templates.form import DOCUMENT, PART, PLAIN
from crowd.scales.base import Scale, all_scales
from genie.lib.extension import discover
from genie.lib.interval import Interval
from genie.lib.seeds import generator, seed_from
from leaderboard.stats.intervals import CoveredInterval, bootstrap_mean

# From ratings on a scale to the score on the board.
Floats = npt.NDArray[np.float64]
AnyInterval = TypeVar("AnyInterval", bound=Interval)
_STEPS = 10


@dataclass(frozen=True)
class Unit:
    """How ratings of one scale become scores.

    Parameters
    ----------
    low, high : float
        The scale's ends.
    logarithmic : bool
        False: scores are percent of the way from low to high. True: ratings are ratios
        to a reference output, scores are 100 times their geometric mean.
    steps : bool
        Whether the scale has discrete answers, so that each can be counted.
    percent : bool
        False: scores are the ratings' own mean, not percent of the way.
    times : float
        Multiplier of such a mean: 100 if scores are in hundredths.
    """

    low: float
    high: float
    logarithmic: bool = False
    steps: bool = True
    percent: bool = True
    times: float = 1.0

    @property
    def aggregate(self) -> str:
        return "geometric-mean" if self.logarithmic else "mean"

    def to_averaged(self, values: Floats) -> Floats:
        """Convert ratings into the values that are averaged over instances.

        Examples
        --------
        >>> Unit(1, 6).to_averaged(np.array([1.0, 3.5, 6.0])).tolist()
        [0.0, 50.0, 100.0]
        """
        if self.logarithmic:
            # Ratios average as logarithms do: twice as good and half as good cancel.
            return np.asarray(np.log(values), dtype=np.float64)
        if not self.percent:
            return np.asarray(self.times * values, dtype=np.float64)
        return np.asarray(100 * (values - self.low) / (self.high - self.low))

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the ends of the averaged values."""
        if self.logarithmic:
            return math.log(self.low), math.log(self.high)
        own = self.times * self.low, self.times * self.high
        return (0.0, 100.0) if self.percent else own

    def interval(
        self, per_instance: Floats, *, seed: int, n_resamples: int, confidence: float
    ) -> CoveredInterval:
        """Return the score with its interval; `per_instance` comes from `averaged`.

        Examples
        --------
        >>> score = Unit(0.01, 100.0, logarithmic=True).interval(
        ...     np.log([0.5, 2.0]), seed=1, n_resamples=10, confidence=0.95)
        >>> score.estimate
        100.0
        """
        interval = bootstrap_mean(
            per_instance,
            seed=seed,
            n_resamples=n_resamples,
            confidence=confidence,
            bounds=self.bounds,
        )
        return self.to_score(interval)

    def to_score(self, interval: AnyInterval) -> AnyInterval:
        """Convert an interval of averaged values into one of the score.

        Examples
        --------
        >>> Unit(0.01, 100.0, logarithmic=True).to_score(Interval(0.0, -np.inf, 0.0)).low
        0.0
        """
        if not self.logarithmic:
            return interval
        return replace(
            interval,
            estimate=100 * math.exp(interval.estimate),
            low=100 * math.exp(interval.low),
            high=100 * math.exp(interval.high),
        )

    def put_into_bins(self, values: Floats) -> Floats:
        """Put ratings into few enough bins to be counted; discrete answers stay.

        Examples
        --------
        >>> Unit(0, 100, steps=False).put_into_bins(np.array([3.0, 57.0, 100.0])).tolist()
        [0.0, 50.0, 90.0]
        >>> Unit(0.01, 100, True, False).put_into_bins(np.array([1.1, 3.7])).tolist()
        [1.0, 4.0]
        """
        if self.steps:
            return np.clip(values, self.low, self.high)
        if self.logarithmic:
            # Powers of two: half as good is as far from the reference as twice as good.
            return np.asarray(2.0 ** np.rint(np.log2(values)), dtype=np.float64)
        width = (self.high - self.low) / _STEPS
        # The scale's upper end belongs to the last bin.
        place = np.minimum(np.floor((values - self.low) / width), _STEPS - 1)
        return np.asarray(self.low + width * place, dtype=np.float64)


TICKED = Unit(0.0, 1.0)


def unit_of(scale: type[Scale]) -> Unit:
    """Return how the ratings of a scale become scores.

    Examples
    --------
    >>> from crowd.scales.base import all_scales
    >>> unit_of(all_scales()["likert-5"])
    Unit(low=0.0, high=1.0, logarithmic=False, steps=True, percent=True, times=1.0)
    >>> unit_of(all_scales()["magnitude"]).aggregate
    'geometric-mean'
    """
    if scale.options:
        values = [option.value for option in scale.options]
        return Unit(min(values), max(values))
    low, high = scale.rating(scale.minimum), scale.rating(scale.maximum)
    return Unit(
        low,
        high,
        logarithmic=scale.relative,
        steps=False,
        percent=not scale.counted,
        times=scale.times,
    )


# Instances belong to the document that their ids begin with: `document.part`.
BY_ID = "id"
SLOTS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MOST_ON_PAGE = 8


@dataclass(frozen=True)
class Shown:
    instance_pk: int
    instance_id: str
    fields: Mapping[str, str]
    references: Sequence[str]
    position: int = 0


@dataclass(frozen=True)
class TaskView:
    slug: str
    field_labels: Mapping[str, str]
    source_language: str
    target_language: str
    show_reference: bool
    standard_value: int
    # field -> its format, and that of outputs; others are plain text
    formats: Mapping[str, str] = field(default_factory=dict)
    output_format: str = PLAIN
    # the field with an instance's document, or `BY_ID`; empty if documents are ignored
    page_by: str = ""


@dataclass(frozen=True)
class Beside:
    """A score that a design derives from answers, beside those of the criteria."""

    explanation: str
    unit: Unit


class Design(ABC):
    """From outputs to items, and from answers to scores: all differences of designs.

    Parameters
    ----------
    slug : str
        Name in task.toml and signatures.
    scales : tuple of str
        Possible scales, the default first.
    label : str
        How people answer, for the choice in the studio; empty: the slug.
    hit_template : str
        The default of drafts in this design.
    n_outputs : tuple of int
        Least and greatest number of outputs per page.
    references_among : int
        How many of them are references; the others are systems'.
    needs_reference : bool
        Whether instances without a reference are impossible.
    marks_errors : bool
        Whether errors are marked in the output before it is rated.
    test_polarities : tuple of str
        Kinds of test questions: "positive", in which a reference is good, and
        "negative", in which the reference of a different instance is bad or worse.
    beside : mapping
        Scores derived from answers beside those of the criteria, by name.
    """

    slug: str
    scales: ClassVar[tuple[str, ...]] = ()
    label: ClassVar[str] = ""
    hit_template: ClassVar[str] = "general-judgement"
    n_outputs: ClassVar[tuple[int, int]] = (1, 1)
    references_among: ClassVar[int] = 0
    needs_reference: ClassVar[bool] = False
    marks_errors: ClassVar[bool] = False
    test_polarities: ClassVar[tuple[str, ...]] = ("positive", "negative")
    beside: ClassVar[Mapping[str, Beside]] = {}

    @classmethod
    def in_slots(cls) -> bool:
        """Check whether outputs are side by side, in slots A, B, ..."""
        return cls.n_outputs[1] > 1

    @classmethod
    def about_one_system(cls) -> bool:
        """Check whether a page asks about one system, so that submissions can be rated."""
        return cls.n_outputs[0] - cls.references_among == 1

    @classmethod
    def table(cls) -> str:
        """Return the table of task.toml in which the design is asked."""
        if cls.about_one_system():
            return "human"
        return "comparison" if all_scales()[cls.scales[0]].compares else "joint"

    @classmethod
    def n_shown(cls, n: int) -> int:
        return min(n, MOST_ON_PAGE, cls.n_outputs[1] - cls.references_among)

    def order(self, n: int, *, seed: int, instance_id: str) -> list[int]:
        """Return the order of `n` outputs on an instance's page."""
        return list(range(n))

    def slots(self, n: int) -> str:
        """Return the names of `n` outputs' slots; empty for one alone."""
        return SLOTS[:n] if self.in_slots() else ""

    @classmethod
    def unit(cls, criterion: str, scale: type[Scale], *, asked: bool) -> Unit:
        """Return how ratings of a question, a checkbox or `beside` become scores.

        `scale` is that of the campaign's questions, and `asked` if it is one of these.
        """
        if criterion in cls.beside:
            return cls.beside[criterion].unit
        return unit_of(scale) if asked else TICKED

    @classmethod
    def values_beside(cls, detail: Mapping[str, Any]) -> dict[str, float]:
        """Read the criteria of `beside` from an answer's details."""
        return {}

    @abstractmethod
    def data(
        self, task: TaskView, shown: Shown, outputs: Sequence[str]
    ) -> dict[str, Any]:
        """Return the texts for the HIT template; outputs are in their order."""


class OneOutput(Design):
    def data(
        self, task: TaskView, shown: Shown, outputs: Sequence[str]
    ) -> dict[str, Any]:
        """Return the instance's fields, then the output; a reference if wanted."""
        [prediction] = outputs
        data = {**input_fields(task, shown), "prediction": prediction}
        if task.show_reference and shown.references:
            data["reference"] = shown.references[0]
        return data


class SeveralOutputs(Design):
    """Outputs side by side, in slots whose order is drawn and stored."""

    hit_template: ClassVar[str] = "two-choice-outputs"
    n_outputs: ClassVar[tuple[int, int]] = (2, len(SLOTS))
    # a test question puts another instance's reference among the outputs
    test_polarities: ClassVar[tuple[str, ...]] = ("negative",)

    def order(self, n: int, *, seed: int, instance_id: str) -> list[int]:
        return drawn_order(n, seed=seed, instance_id=instance_id)

    def data(
        self, task: TaskView, shown: Shown, outputs: Sequence[str]
    ) -> dict[str, Any]:
        return {**input_fields(task, shown), "outputs": in_slots(outputs)}


def input_fields(task: TaskView, shown: Shown) -> dict[str, Any]:
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
    """Return an instance's document; empty if pages ignore documents."""
    return document_name(task.page_by, shown.instance_id, shown.fields)


def document_name(page_by: str, instance_id: str, fields: Mapping[str, str]) -> str:
    """Return the document from its field, or from the beginning of the instance's id."""
    if not page_by:
        return ""
    by_id = instance_id.rpartition(".")[0] or instance_id
    return by_id if page_by == BY_ID else fields.get(page_by, "")


def _part(task: TaskView, shown: Shown) -> dict[str, Any]:
    if not task.page_by:
        return {}
    return {DOCUMENT: document_of(task, shown), PART: shown.position}


def _format(name: str) -> dict[str, str]:
    # plain texts have the same data as before formats existed
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
    """Hash an instance, so that equal inputs are recognized without disclosing them.

    Examples
    --------
    >>> len(content_key("xsum", "17"))
    32
    """
    # Slugs cannot contain the separator: different pairs give different texts.
    return hashlib.sha256(f"{task_slug}\x1f{instance_id}".encode()).hexdigest()[:32]


def all_designs() -> dict[str, type[Design]]:
    return discover("leaderboard.designs", Design)
