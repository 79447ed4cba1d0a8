"""How far judges, or one judge's repeats, disagree on each instance of a task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from genie.lib.errors import GenieError
from leaderboard.judges.models import JudgeRun
from leaderboard.judges.selectors.scores import answers_of
from leaderboard.stats.judges.choosing import disagreement
from leaderboard.stats.resampling import Floats

if TYPE_CHECKING:
    import pandas as pd

# of the task's instances; the others count as the mean of these
_ENOUGH = 0.9


def doubts_of(runs: Sequence[JudgeRun], criterion: str) -> tuple[Floats, list[int]]:
    """Average disagreement over the systems that all runs scored.

    Returns
    -------
    doubts : ndarray, shape (instances,)
        By position; standard deviations of standardised scores, 0 or more.
    systems : list of int
        Submissions whose outputs were looked at.

    Raises
    ------
    GenieError
        ``no-choice`` where fewer than nine in ten instances were scored by all.
    """
    table = _side_by_side(runs, criterion).dropna()
    task = runs[0].task
    n = table.index.get_level_values("instance").nunique()
    if n < max(_ENOUGH * task.n_instances, 2):
        raise GenieError(
            f"Instances cannot be chosen: {n:,} of {task.n_instances:,} instances have "
            f"scores of all judges; {_ENOUGH:.0%} are needed. Let the runs ask about all.",
            code="no-choice",
        )
    own = table.assign(doubt=disagreement(table.to_numpy(float)))["doubt"]
    by_instance = own.groupby("instance").mean()
    doubts = np.full(task.n_instances, float(by_instance.mean()))
    doubts[by_instance.index.to_numpy(int)] = by_instance.to_numpy(float)
    systems = table.index.get_level_values("submission").unique().tolist()
    return doubts, sorted(int(pk) for pk in systems)


def _side_by_side(runs: Sequence[JudgeRun], criterion: str) -> pd.DataFrame:
    """Give a row an output and a column a judge, or a repeat of the only one."""
    import pandas as pd

    columns = []
    for run in runs:
        answers = answers_of(run)
        answers = answers[answers["criterion"] == criterion]
        by = ["submission", "instance"]
        if len(runs) == 1:
            return answers.pivot_table(index=by, columns="sample", values="value")
        columns.append(answers.groupby(by)["value"].mean().rename(run.pk))
    return pd.concat(columns, axis=1)
