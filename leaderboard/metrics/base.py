"""Base classes of automatic metrics: texts in, one number per instance and overall."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import metadata
from typing import Any, ClassVar, Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from genie.lib.errors import GenieError
from genie.lib.extension import discover
from genie.lib.formats import assistant_says

Cost = Literal["light", "heavy", "gpu"]

T = TypeVar("T")
# Part of a signature if only the assistant's turns of conversations were measured.
TURNS = "turns:assistant"


@dataclass(frozen=True, eq=False)
class Batch:
    """One system's predictions with the texts to compare them with.

    Raises GenieError with code ``not-aligned`` if their lengths differ.

    Parameters
    ----------
    predictions : sequence of str, shape (n,)
        One text per instance, in the task's order; texts may be empty.
    references : sequence of sequences of str, shape (n, variable)
        The human-written outputs of each instance, any number of them.
    sources : sequence of str, shape (n,), optional
        The input texts; empty if no metric needs them.
    target_language, source_language : str, optional
        ISO 639-1 codes; the target's chooses tokenizers.
    references_each : str, optional
        `n_references` of the whole, if this is a piece of it.
    conversations : bool, optional
        Whether predictions and references are conversations; only the assistant's turns
        are measured.
    """

    predictions: Sequence[str]
    references: Sequence[Sequence[str]]
    sources: Sequence[str] = ()
    target_language: str = "en"
    source_language: str = "en"
    references_each: str = ""
    conversations: bool = False
    _done: dict[str, object] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        n = len(self.predictions)
        if len(self.references) != n:
            raise GenieError(
                f"There are {n} predictions but {len(self.references)} lists of "
                "references. Each instance needs one of each.",
                code="not-aligned",
            )
        if self.sources and len(self.sources) != n:
            raise GenieError(
                f"There are {n} predictions but {len(self.sources)} sources. Each "
                "instance needs one of each.",
                code="not-aligned",
            )

    def __len__(self) -> int:
        return len(self.predictions)

    def spoken(self) -> Batch:
        """Return the assistant's turns of these conversations, as a batch of texts."""
        says = assistant_says
        given = self.references
        return self.share_result(
            "the assistant's turns",
            lambda: replace(
                self,
                predictions=[says(text) for text in self.predictions],
                references=[[says(text) for text in texts] for texts in given],
                conversations=False,
                _done={},
            ),
        )

    def share_result(self, name: str, work: Callable[[], T]) -> T:
        """Compute a result that several metrics share, once per batch and name."""
        if name not in self._done:
            self._done[name] = work()
        return cast("T", self._done[name])


@dataclass(frozen=True, eq=False)
class MetricOutput:
    """A metric's results for one batch.

    Parameters
    ----------
    overall : float
        The number for the whole batch, on the scale that is usual in the field.
    per_instance : ndarray of float, shape (n,)
        One finite number per instance, in the batch's order. Their mean is `overall`
        only for metrics defined as a mean (ROUGE), not for corpus metrics (BLEU).
    signature : str
        ``key:value|key:value`` with every setting and version that affects `overall`.
    details : dict
        Additional figures, JSON-serializable.
    """

    overall: float
    per_instance: NDArray[np.float64]
    signature: str
    details: dict[str, Any] = field(default_factory=dict)


class Metric(ABC):
    """One automatic metric; any subclass in this folder is found automatically.

    Settings are keyword arguments of the constructor, with the usual values as defaults,
    and every one of them is in the signature. Pages show the first sentence of the
    subclass's docstring.
    """

    slug: str
    label: ClassVar[str]
    # version of our wrapper, then of the library: "1+sacrebleu.2.6.0"
    version: ClassVar[str]
    higher_is_better: ClassVar[bool | None]
    # None: unbounded
    range: ClassVar[tuple[float, float | None]]
    cost: ClassVar[Cost] = "light"
    # Instances per piece, for metrics with pieces that `combine` can merge; None: all
    # instances are one piece.
    piece: ClassVar[int | None] = None
    # details to sum over pieces, and details to average over instances
    summed: ClassVar[tuple[str, ...]] = ()
    averaged: ClassVar[tuple[str, ...]] = ()
    needs_references: ClassVar[bool] = True
    needs_sources: ClassVar[bool] = False
    paper: ClassVar[str]

    def compute(self, batch: Batch) -> MetricOutput:
        """Measure a batch of at least one prediction.

        Raises
        ------
        GenieError
            If the batch is empty (``nothing-to-measure``), or lacks references
            (``no-references``) or sources (``no-sources``) that the metric needs, or
            the metric cannot be computed on this machine (``not-computed-here``).
        """
        self._refuse(batch)
        if reason := self.available():
            raise GenieError(
                f"{self.label} is not computed here. {reason}", code="not-computed-here"
            )
        output = self._measure(batch.spoken() if batch.conversations else batch)
        if output.per_instance.shape != (len(batch),):
            raise GenieError(
                f"{self.label} returned {output.per_instance.size} values for "
                f"{len(batch)} instances.",
                code="metric-broken",
            )
        if not (np.isfinite(output.overall) and np.isfinite(output.per_instance).all()):
            raise GenieError(
                f"{self.label} returned a value that is not finite.",
                code="metric-broken",
            )
        if batch.conversations:
            return replace(output, signature=f"{output.signature}|{TURNS}")
        return output

    def available(self) -> str | None:
        """Return why this metric cannot be computed on this machine, or None.

        The reason is for staff, who can change it (install a library, name a model's
        folder); the check loads no model and needs no network.
        """
        return None

    def settings(self) -> str:
        """Return the version and every setting, before anything is computed.

        Two metrics with equal settings give equal numbers for equal texts, so a site can
        tell which results are current. Models are identified by their contents, not by
        their location.
        """
        parts = [f"{name}:{value}" for name, value in self._parameters().items()]
        return "|".join([*parts, f"version:{self.version}"])

    def _parameters(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in parameters_of(type(self))}

    def combine(self, pieces: Sequence[MetricOutput]) -> MetricOutput:
        """Combine the outputs of successive pieces of one batch.

        The result equals that of the whole batch in one piece.

        Parameters
        ----------
        pieces : sequence of MetricOutput
            At least one, in the batch's order, each of a batch with `references_each` of the
            whole.

        Raises
        ------
        ValueError
            Without pieces, or with several pieces of a metric without pieces.
        """
        if not pieces:
            raise ValueError(f"{self.label} has no batches to combine.")
        if len(pieces) > 1 and self.piece is None:
            raise ValueError(f"{self.label} cannot be combined from batches.")
        if len(pieces) == 1:
            return pieces[0]
        per_instance = np.concatenate([piece.per_instance for piece in pieces])
        details = dict(pieces[0].details)
        for name in self.summed:
            details[name] = sum(piece.details[name] for piece in pieces)
        sizes = [len(piece.per_instance) for piece in pieces]
        for name in self.averaged:
            values = [piece.details[name] for piece in pieces]
            details[name] = float(np.average(values, weights=sizes))
        return MetricOutput(
            self._overall(per_instance, details),
            per_instance,
            pieces[0].signature,
            details,
        )

    def _overall(
        self, per_instance: NDArray[np.float64], details: dict[str, Any]
    ) -> float:
        return float(per_instance.mean())

    @abstractmethod
    def _measure(self, batch: Batch) -> MetricOutput: ...

    def _refuse(self, batch: Batch) -> None:
        if not len(batch):
            raise GenieError(
                f"{self.label} needs at least one instance.", code="nothing-to-measure"
            )
        if self.needs_sources and not any(text.strip() for text in batch.sources):
            raise GenieError(
                f"{self.label} needs the source, but there is none.", code="no-sources"
            )
        if not self.needs_references:
            return
        for position, references in enumerate(batch.references, start=1):
            if isinstance(references, str) or not references:
                raise GenieError(
                    f"{self.label} needs references, and instance number "
                    f"{position} has none.",
                    code="no-references",
                    details={"position": position},
                )


def versions(wrapper: int, *libraries: str) -> str:
    """Return the versions of the wrapper and its libraries, without importing them.

    Parameters
    ----------
    wrapper : int
        Ours; increased when our code gives different numbers than before.
    *libraries : str
        Distribution names; a missing one gets the version ``absent``.
    """
    parts = [str(wrapper)]
    parts += [f"{library}.{_installed_version(library)}" for library in libraries]
    return "+".join(parts)


@cache  # searching all installed libraries is slow, and many metrics name one
def _installed_version(library: str) -> str:
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return "absent"


def n_references(batch: Batch) -> str:
    """Return the number of references per instance, or ``var``, as in sacrebleu's signatures.

    Examples
    --------
    >>> n_references(Batch(["a", "b"], [["c"], ["d", "e"]]))
    'var'
    """
    if batch.references_each:
        return batch.references_each
    counts = {len(references) for references in batch.references}
    return str(counts.pop()) if len(counts) == 1 else "var"


def parameters_of(metric: type[Metric]) -> dict[str, inspect.Parameter]:
    """Return a metric's settings, the parameters of its constructor, by name.

    Examples
    --------
    >>> list(parameters_of(all_metrics()["chrf"]))
    ['word_order']
    """
    if metric.__init__ is object.__init__:
        return {}
    return dict(inspect.signature(metric).parameters)


def all_metrics() -> dict[str, type[Metric]]:
    """Return the metrics in this folder by slug, in slug order."""
    return discover("leaderboard.metrics", Metric)
