"""Metrics with a model that rates one prediction and one reference at a time."""

from abc import abstractmethod
from pathlib import Path
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from genie.lib import env
from genie.lib.errors import GenieError
from leaderboard.metrics.base import Batch, Metric, MetricOutput, n_references
from leaderboard.metrics.engines.neural_loop import said
from leaderboard.metrics.engines.neural_models import (
    fingerprint,
    lacking_library,
    model_folder,
)


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
            self._fingerprinted(self._folder())
        except GenieError as error:
            return f"{error.message} Set GENIE_{self.variable}_MODEL."
        return None

    def _parameters(self) -> dict[str, object]:
        return {"model": fingerprint(*self._fingerprinted(self._folder()))}

    def _folder(self) -> Path:
        return model_folder(self.model, self.revision)

    def _fingerprinted(self, folder: Path) -> list[Path]:
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
            signature=(
                f"nrefs:{n_references(batch)}|"
                f"multi:{'max' if self.higher_is_better else 'min'}|"
                f"model:{fingerprint(*self._fingerprinted(folder))}|"
                f"window:{self.window}|{said(scorer.precision)}"
                f"agg:mean|version:{self.version}"
            ),
            details={
                "model": self.model if not Path(self.model).is_dir() else folder.name,
                "n_cut": n_cut,
            },
        )
