"""What a run says of a draft before people are paid: instances and criteria, not systems."""

from __future__ import annotations

import numpy as np

from leaderboard.judges.definition import POINTWISE
from leaderboard.judges.models import JudgeRun
from leaderboard.judges.selectors.scores import answers_of
from leaderboard.stats.judges.pilot import Pilot, draft_pilot
from leaderboard.tasks.models import Instance

_MOST_NAMED = 10


def pilot_words(run: JudgeRun) -> list[str]:
    """Say of each criterion what to look at; by a program, and marked as that."""
    if run.judge.definition["mode"] != POINTWISE:
        return []
    answers = answers_of(run)
    ids = dict(
        Instance.objects.filter(task=run.task).values_list("position", "instance_id")
    )
    sentences = []
    # both orders beside a reference are one answer
    key = ["criterion", "submission", "instance", "sample"]
    answers = answers.groupby(key)["value"].mean().reset_index()
    for criterion, rows in answers.groupby("criterion", sort=True):
        systems = {pk: i for i, pk in enumerate(sorted(rows["submission"].unique()))}
        places = sorted(rows["instance"].unique())
        column = {at: i for i, at in enumerate(places)}
        scores = np.full(
            (len(systems), len(places), int(rows["sample"].max()) + 1), np.nan
        )
        scores[
            rows["submission"].map(systems),
            rows["instance"].map(column),
            rows["sample"],
        ] = rows["value"]
        names = [ids[at] for at in places]
        sentences.append(
            f"{criterion}, by {run.judge.what}: {_said(draft_pilot(scores), names)}"
        )
    return sentences


def _said(found: Pilot, names: list[str]) -> str:
    parts = [
        f"{what}: {len(chosen):,} ({_named(chosen, names)})"
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
    return f"{'; '.join(parts) or 'nothing stands out'}."


def _named(chosen: list[int], names: list[str]) -> str:
    more = ", …" if len(chosen) > _MOST_NAMED else ""
    return ", ".join(names[i] for i in chosen[:_MOST_NAMED]) + more
