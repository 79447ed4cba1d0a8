"""What a run says of a draft before people are paid: instances and criteria, not systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from leaderboard.judges.definition import JOINT, PAIRWISE
from leaderboard.judges.models import JudgeRun
from leaderboard.judges.selectors.scores import answers_of, both_sides
from leaderboard.judges.selectors.sheets import items_of
from leaderboard.stats.judges.pilot import Pilot, draft_pilot, order_decides
from leaderboard.tasks.models import Instance

if TYPE_CHECKING:
    import pandas as pd

_MOST_NAMED = 10


@dataclass(frozen=True)
class OnCriterion:
    """What a judge's answers to one criterion show.

    Parameters
    ----------
    criterion : str
    places : list of int
        Positions of the instances that it answered about, which `found` counts from 0.
    scores : array, shape (s, m)
        Means over repeats, and of pairs over opponents and orders; NaN where there is none.
    systems : list of int
        Submissions, or systems of a draft, in the order of the rows.
    found : Pilot
    order : float
        Share of pairs in which the place of an output decided; NaN for single outputs.
    """

    criterion: str
    places: list[int]
    scores: npt.NDArray[np.float64]
    systems: list[int]
    found: Pilot
    order: float

    def at(self, chosen: Sequence[int]) -> list[int]:
        """Give the positions of instances that `found` counts."""
        return [self.places[i] for i in chosen]


def on_criteria(run: JudgeRun) -> list[OnCriterion]:
    """Look at a run's answers, criterion by criterion, in the order of the task."""
    if run.judge.definition["mode"] == JOINT:
        return []
    answers = answers_of(run)
    groups = dict(list(answers.groupby("criterion", sort=False)))
    pairs = run.judge.definition["mode"] == PAIRWISE
    return [
        _on_criterion(name, groups[name], pairs=pairs)
        for name in run.plan["criteria"]
        if name in groups
    ]


def _on_criterion(name: str, answers: pd.DataFrame, *, pairs: bool) -> OnCriterion:
    keys = ["submission", "instance", "sample"]
    rows = both_sides(answers).groupby(keys)["value"].mean().reset_index()
    systems = sorted(map(int, rows["submission"].unique()))
    places = sorted(map(int, rows["instance"].unique()))
    told = np.full((len(systems), len(places), int(rows["sample"].max()) + 1), np.nan)
    told[
        np.searchsorted(systems, rows["submission"]),
        np.searchsorted(places, rows["instance"]),
        rows["sample"],
    ] = rows["value"]
    known = np.isfinite(told)
    n = known.sum(axis=2)
    means = np.where(known, told, 0).sum(axis=2) / np.where(n, n, np.nan)
    found, order = draft_pilot(told), float("nan")
    if pairs:  # what one wins another loses: nothing is the lowest for all
        silent = sorted([*found.lowest, *found.silent])
        found, order = replace(found, lowest=[], silent=silent), _order(answers)
    return OnCriterion(name, places, means, systems, found, order)


def _order(answers: pd.DataFrame) -> float:
    one = answers[answers["submission"] < answers["other"]]
    keys = ["instance", "submission", "other", "sample"]
    turned = answers.rename(columns={"submission": "other", "other": "submission"})
    both = one.merge(turned, on=keys, suffixes=("", "_turned"))
    return order_decides(both["value"], both["value_turned"])


def pilot_words(run: JudgeRun) -> list[str]:
    """Say of each criterion what to look at; by a program, and marked as that."""
    ids = _ids(run)
    return [
        f"{one.criterion}, by {run.judge.what}: {_said(one, ids)}"
        for one in on_criteria(run)
    ]


def _ids(run: JudgeRun) -> dict[int, str]:
    if run.sheet is not None:
        return {at: item.instance_id for at, item in items_of(run.sheet).items()}
    rows: Any = Instance.objects.filter(task=run.task)
    return dict(rows.values_list("position", "instance_id"))


def _said(one: OnCriterion, ids: dict[int, str]) -> str:
    found = one.found
    parts = [
        f"{what}: {len(chosen):,} ({_named(one.at(chosen), ids)})"
        for what, chosen in (
            ("lowest score for all systems", found.lowest),
            ("same score for all systems", found.silent),
            ("systems differ most as elsewhere", found.telling),
        )
        if chosen
    ]
    if np.isfinite(found.repeats):
        warning = ": unclear to this judge" if found.unclear else ""
        parts.append(f"{100 * found.repeats:.0f} % of variation is repeats'{warning}")
    if np.isfinite(one.order):
        parts.append(f"in {100 * one.order:.0f} % of pairs the order decides")
    return f"{'; '.join(parts) or 'nothing stands out'}."


def _named(places: list[int], ids: dict[int, str]) -> str:
    more = ", …" if len(places) > _MOST_NAMED else ""
    # a sheet whose draft is gone has no names any more
    named = [ids.get(at, f"item {at + 1}") for at in places[:_MOST_NAMED]]
    return ", ".join(named) + more
