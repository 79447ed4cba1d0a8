"""How likely each instance of a task was to be judged, where they were not equally so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from leaderboard.evaluation.models.instance_choice import InstanceChoice
from leaderboard.tasks.config import PLAIN
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    import pandas as pd

WORDS = (
    "People judge instances on which judges (programs) disagree: they were drawn before "
    "anybody was asked, each with a known chance, and the same for every system."
)
COUNTED = (
    "Each instance counts by one over its chance, so that scores, comparisons and ranks "
    "are of all instances; what says how judgments vary, how workers agree or which "
    "metrics follow them is of the judged instances as they are."
)


def chosen_words(task: Task) -> str:
    """Say that instances were chosen and what follows; empty where all were equally likely."""
    # only these can be chosen: boards of others ask nothing
    if task.human.estimate != PLAIN or choice_of(task) is None:
        return ""
    return f"{WORDS} {COUNTED}"


def choice_of(task: Task) -> InstanceChoice | None:
    """Give the choice that stands for a task; None where all were equally likely."""
    return InstanceChoice.objects.filter(task=task, undone_at=None).first()


def told_of_choice(task: Task, *, shows_seed: bool) -> dict[str, Any] | None:
    """Tell whoever reads a release how instances were chosen; its seed once it may be."""
    choice = choice_of(task)
    if choice is None:
        return None
    judges = [run.judge.signature for run in choice.runs.order_by("pk")]
    return {
        "words": f"{WORDS} {COUNTED}",
        "judges": judges,
        "criterion": choice.criterion,
        "n": choice.n,
        "floor": choice.floor,
        "at": f"{choice.at:%Y-%m-%d}",
        "seed": str(choice.seed) if shows_seed else None,
    }


def chances_of(task: Task) -> dict[int, float]:
    """Give the chances by position; empty where all instances were equally likely."""
    rows = task.instances.exclude(propensity=None).order_by("position")
    listed = rows.values_list("position", "propensity")
    return {at: chance for at, chance in listed if chance is not None}


def with_chances(ratings: pd.DataFrame, chances: Mapping[int, float]) -> pd.DataFrame:
    """Add the `chance` of each rating's instance, where they differ."""
    return (
        ratings.assign(chance=ratings["instance"].map(chances)) if chances else ratings
    )
