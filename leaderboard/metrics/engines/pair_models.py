"""Metrics with a model that rates one prediction and one reference at a time."""

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from genie.lib import env
from genie.lib.errors import GenieError
from leaderboard.metrics.base import Batch, Metric, MetricOutput, n_references
from leaderboard.metrics.engines.neural_models import (
    fingerprint,
    lacking_library,
    model_folder,
)

# Loops shared by neural models: batches of texts of similar length, and stored vectors.
#
# A model takes as long for a short text as for the longest one of its batch, and metrics
# spend most of their time on texts that come again: references, once per system.
_MEGABYTE = 2**20


def by_length(lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    """Yield batches of positions, longest texts first, so that a too long one fails early.

    Parameters
    ----------
    lengths : sequence of int
        Tokens of each text.
    size : int
        Texts per batch.

    Examples
    --------
    >>> list(by_length([3, 9, 1], 2))
    [[1, 0], [2]]
    """
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    for start in range(0, len(order), size):
        yield order[start : start + size]


class Kept:
    """Cache of texts' vectors with a limit in megabytes; the least recently used are dropped."""

    def __init__(self, megabytes: int) -> None:
        self.room = megabytes * _MEGABYTE
        self._vectors: OrderedDict[str, Any] = OrderedDict()

    def get(self, text: str) -> Any | None:
        if text in self._vectors:
            self._vectors.move_to_end(text)
        return self._vectors.get(text)

    def put(self, text: str, vectors: Any) -> None:
        if text in self._vectors:
            return
        # a view would keep its whole batch in memory
        self._vectors[text] = vectors.clone()
        self.room -= vectors.nbytes
        while self.room < 0:
            self.room += self._vectors.popitem(last=False)[1].nbytes


def kept_vectors() -> Kept:
    """Create an empty cache of GENIE_NEURAL_KEPT_MB megabytes, for one model.

    Examples
    --------
    >>> kept_vectors().room
    536870912
    """
    return Kept(env.integer("GENIE_NEURAL_KEPT_MB", 512, minimum=0))


def place_on_device(model: Any, half: str = "float16") -> tuple[Any, str, str]:
    """Move a model to its device, in half precision on a GPU.

    Parameters
    ----------
    half : str, optional
        Half precision to use: T5 overflows in float16.

    Returns
    -------
    tuple of model, device and precision
        The last one empty for single precision.
    """
    torch = import_module("torch")
    if not torch.cuda.is_available():
        return model.eval(), "cpu", ""
    if env.flag("GENIE_NEURAL_HALF", True):
        model = model.to(getattr(torch, half))
    else:
        half = ""
    return model.to("cuda").eval(), "cuda", half


def precision_part(precision: str) -> str:
    """Return the signature's part for a precision of `place_on_device`; empty for single precision.

    Examples
    --------
    >>> precision_part("float16"), precision_part("")
    ('precision:float16|', '')
    """
    return f"precision:{precision}|" if precision else ""


class Pairs(NamedTuple):
    """Aligned texts; sources are empty if the metric needs none."""

    sources: list[str]
    references: list[str]
    predictions: list[str]


class PairScorer(Protocol):
    precision: str

    def score(self, pairs: Pairs) -> tuple[list[float], int]:
        """Return the model's value for each pair, and the number of cut pairs."""


class PairMetric(Metric):
    """A metric with a model on this machine; the best reference counts.

    Parameters
    ----------
    model : str, optional
        Folder or hub name (see ``neural_models``); the variable's if empty.
    revision : str, optional
        Of a hub name.
    """

    # GENIE_<this>_MODEL and _REVISION name the model
    variable: ClassVar[str]
    library: ClassVar[str] = "transformers"
    window: ClassVar[int] = 512

    cost = "gpu"
    piece = 256
    summed = ("n_cut",)

    def __init__(self, *, model: str = "", revision: str = "") -> None:
        self.model = model or env.text(f"GENIE_{self.variable}_MODEL")
        self.revision = revision or env.text(f"GENIE_{self.variable}_REVISION")

    def available(self) -> str | None:
        if lacking := lacking_library(self.library):
            return lacking
        try:
            self._fingerprint_folders(self._folder())
        except GenieError as error:
            return f"{error.message} Set GENIE_{self.variable}_MODEL."
        return None

    def _parameters(self) -> dict[str, object]:
        return {"model": fingerprint(*self._fingerprint_folders(self._folder()))}

    def _folder(self) -> Path:
        return model_folder(self.model, self.revision)

    def _fingerprint_folders(self, folder: Path) -> list[Path]:
        """Return the folders that determine the numbers; raises `no-model` if one is missing."""
        return [folder]

    @abstractmethod
    def _scorer(self, folder: Path) -> PairScorer: ...

    def _measure(self, batch: Batch) -> MetricOutput:
        folder = self._folder()
        scorer = self._scorer(folder)
        # one pair per reference; owners are the pairs' instances
        owners = np.repeat(
            np.arange(len(batch)), [len(texts) for texts in batch.references]
        )
        positions = owners.tolist()
        pairs = Pairs(
            [batch.sources[i] for i in positions] if batch.sources else [],
            [text for texts in batch.references for text in texts],
            [batch.predictions[i] for i in positions],
        )
        scores, n_cut = scorer.score(pairs)
        if self.higher_is_better:
            best = np.full(len(batch), -np.inf)
            np.maximum.at(best, owners, scores)
        else:
            best = np.full(len(batch), np.inf)
            np.minimum.at(best, owners, scores)
        return MetricOutput(
            overall=float(best.mean()),
            per_instance=best,
            signature=f"nrefs:{n_references(batch)}|"
            f"multi:{'max' if self.higher_is_better else 'min'}|"
            f"model:{fingerprint(*self._fingerprint_folders(folder))}|"
            f"window:{self.window}|{precision_part(scorer.precision)}"
            f"agg:mean|version:{self.version}",
            details={
                "model": self.model if not Path(self.model).is_dir() else folder.name,
                "n_cut": n_cut,
            },
        )
