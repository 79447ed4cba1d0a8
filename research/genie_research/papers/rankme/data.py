"""RankME's published judgments, as tables of outputs and of judgements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from genie.lib.errors import GenieError
from genie_research.papers.table import Workbench
from leaderboard.stats.magnitude import log_magnitudes

if TYPE_CHECKING:
    import pandas as pd

METHODS = {"likert": "Likert", "plainme": "plain ME", "rankme": "RankME"}
CRITERIA = ("naturalness", "quality", "informativeness")
SYSTEMS = ("slug2slug", "tgen", "sheffield")

Setup = Literal[1, 2]
Floats = npt.NDArray[np.float64]


def path_of(setup: Setup, method: str, criterion: str) -> str:
    """Return the file that holds the judgments: one for all criteria, or one each."""
    end = "" if setup == 1 else f"_{criterion}"
    return f"rankme/setup{setup}_{method}{end}.csv"


def read_judgments(
    bench: Workbench, setup: Setup, method: str, criterion: str
) -> pd.DataFrame | None:
    """Read judgments of one criterion; None if the file is missing."""
    columns = ["judgement", "mr_id", "system", criterion]
    return bench.read(path_of(setup, method, criterion), columns)


def no_file(setup: Setup, method: str, criterion: str) -> str:
    return f"{path_of(setup, method, criterion)} is not in the data folder."


def output_scores(frame: pd.DataFrame, method: str, criterion: str) -> pd.Series[float]:
    """Return one score per output: the mean, on logarithms for magnitudes."""
    return (
        _scale(frame, method, criterion)
        .groupby([frame["mr_id"], frame["system"]])
        .mean()
    )


def first_judgments(
    frame: pd.DataFrame, method: str, criterion: str, *, raw: bool = False, k: int = 3
) -> Floats:
    """Return a row per output, with its first k judgments in the order of the file."""
    values = frame[criterion] if raw else _scale(frame, method, criterion)
    by_output = [frame["mr_id"], frame["system"]]
    nth = frame.groupby(by_output).cumcount()
    few = nth < k
    table = values[few].groupby([*(key[few] for key in by_output), nth[few]]).first()
    wide = table.unstack().to_numpy(dtype=np.float64)
    if wide.shape[1] < k or np.isnan(wide).any():
        raise GenieError(
            f"Some outputs have fewer than {k} judgments of {criterion} ({method}).",
            code="too-few-judgments",
        )
    return wide


def judgement_table(frame: pd.DataFrame, criterion: str) -> Floats:
    """Return a row per meaning representation and judgement, a column per system."""
    counted = frame.assign(nth=frame.groupby(["mr_id", "system"]).cumcount())
    wide = counted.set_index(["mr_id", "nth", "system"])[criterion].unstack()
    return wide[list(SYSTEMS)].dropna().to_numpy(dtype=np.float64)


def triples(frame: pd.DataFrame, criterion: str) -> Floats:
    """Return a row per judgement that saw all systems side by side."""
    wide = frame.set_index(["judgement", "system"])[criterion].unstack()
    return wide[list(SYSTEMS)].dropna().to_numpy(dtype=np.float64)


def _scale(frame: pd.DataFrame, method: str, criterion: str) -> pd.Series[float]:
    import pandas as pd

    values = frame[criterion].astype(float)
    if method == "likert":
        return values
    return pd.Series(log_magnitudes(values.to_numpy()), index=values.index)
