"""The two-choice experiments of *Dynamic Human Evaluation*, as label counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from genie_research.papers.dynamic.labels import (
    CollectedVotes,
    Majority,
    MaxThree,
    OneWorker,
    Strategy,
)
from genie_research.papers.table import Workbench

if TYPE_CHECKING:
    import pandas as pd

#: The three published experiments: heading, and the system whose early agreement the
#: published code charges three labels for instead of two.
EXPERIMENTS = {
    "v1": ("V1 vs CGA", "CGA"),
    "r1": ("V2 vs CGA (R1)", "V2"),
    "r2": ("V2 vs CGA (R2)", "V2"),
}
BETTER = "CGA"
DELTAS = (0.01, 0.001, 0.0001)


@dataclass(frozen=True)
class Experiment:
    """Labels of one experiment.

    Parameters
    ----------
    name, heading : str
        File name without ending; its name in the tables.
    votes : CollectedVotes
        Labels per pair, pairs in ascending order of their ids, for the better system.
    labels : DataFrame
        One row per label: pair_id, side (as shown, "A" or "B"), winner (a system).
    slip : {"A", "B"} or None
        Side of the cost slip; "A" is the better system.
    """

    name: str
    heading: str
    votes: CollectedVotes
    labels: pd.DataFrame
    slip: Literal["A", "B"] | None

    @property
    def strategies(self) -> dict[str, Strategy]:
        """Return the strategies of the published tables, by their printed names."""
        return {
            "7 Workers": Majority(7),
            "5 Workers": Majority(5),
            "Max 3 Workers": MaxThree(slip=self.slip),
            "One Worker": OneWorker(),
        }


def read_experiment(bench: Workbench, name: str) -> Experiment | None:
    """Read the labels of one experiment; None if its file is missing."""
    frame = bench.read(f"dynamic/{name}.csv", ["pair_id", "side", "winner"])
    if frame is None:
        return None
    heading, charged = EXPERIMENTS[name]
    # grouping sorts the pairs by their ids
    pairs = frame["pair_id"]
    for_better = (frame["winner"] == BETTER).groupby(pairs).agg(["sum", "size"])
    votes = CollectedVotes(for_better["sum"].to_numpy(), for_better["size"].to_numpy())
    return Experiment(name, heading, votes, frame, "A" if charged == BETTER else "B")


def no_file(name: str) -> str:
    return f"dynamic/{name}.csv is not in the data folder."
