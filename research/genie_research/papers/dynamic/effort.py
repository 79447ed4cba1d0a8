"""How many labels a strategy needs until a rule decides, over many runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from genie_research.papers.dynamic.labels import LabelSeries
from genie_research.papers.dynamic.stopped_series import first_crossings, last_runs
from leaderboard.stats.stopping.rules import Integers, StoppingRule

Reading = Literal["first", "last"]

_CELLS_AT_ONCE = 4_000_000  # labels held in memory at a time: about 60 MB


class Labelling(Protocol):
    @property
    def n_requests(self) -> int: ...

    def draw(self, runs: int, rng: np.random.Generator) -> LabelSeries: ...


@dataclass(frozen=True)
class Stop:
    """A rule and its reading.

    Parameters
    ----------
    reading : {"first", "last"}
        "first": at the first label that decides. "last": at the start of the last
        unbroken run beyond the boundary, which needs the labels after it and cannot be
        used live.
    """

    rule: StoppingRule
    reading: Reading = "first"


@dataclass(frozen=True)
class EffortSample:
    """Labels paid for in each run.

    Parameters
    ----------
    labels : ndarray of int, shape (runs,)
        Up to the decision; of all requests without one.
    requests : ndarray of int, shape (runs,)
        Requests labeled up to there.
    side : ndarray of int, shape (runs,)
        1 for A, -1 for B, 0 for undecided.
    """

    labels: Integers
    requests: Integers
    side: npt.NDArray[np.int8]

    @property
    def share_decided(self) -> float:
        """Return the share of runs with a decision; NaN without runs."""
        return float(np.mean(self.side != 0)) if len(self.side) else float("nan")

    @property
    def mean(self) -> float:
        """Return the mean labels over all runs, undecided ones at full effort."""
        return float(self.labels.mean()) if len(self.labels) else float("nan")

    @property
    def sd(self) -> float:
        return float(self.labels.std()) if len(self.labels) else float("nan")


def measure_effort(
    labelling: Labelling,
    stops: Sequence[Stop],
    runs: int,
    rng: np.random.Generator,
) -> list[EffortSample]:
    """Draw many runs of a strategy and stop each of them by several rules.

    One result per stop; all of them see the same labels. Blocks of runs keep the memory
    small for any number of runs.
    """
    block = max(1, _CELLS_AT_ONCE // labelling.n_requests)
    parts: list[list[EffortSample]] = [[] for _ in stops]
    for start in range(0, runs, block):
        series = labelling.draw(min(block, runs - start), rng)
        for part, stop in zip(parts, stops, strict=True):
            part.append(_stop_all(series, stop))
    return [
        EffortSample(
            np.concatenate([p.labels for p in part]),
            np.concatenate([p.requests for p in part]),
            np.concatenate([p.side for p in part]),
        )
        for part in parts
    ]


def _stop_all(series: LabelSeries, stop: Stop) -> EffortSample:
    reading = first_crossings if stop.reading == "first" else last_runs
    stopped = reading(stop.rule, series.labels)
    # an undecided run has paid for all of its requests
    requests = np.where(stopped.is_decided, stopped.n, series.labels.shape[1])
    return EffortSample(series.cost_of_first(requests), requests, stopped.side)
