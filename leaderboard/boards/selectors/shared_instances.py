"""What people said of several systems, instance by instance, as one table."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from crowd.scales.base import all_scales
from genie.lib.serving.computed_once import computed_once
from leaderboard.boards.selectors.columns import Floats, field_of, main_criterion
from leaderboard.designs.base import all_designs
from leaderboard.designs.unit import Unit
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.evaluation.selectors.coverage import is_whole, whole_share
from leaderboard.evaluation.selectors.system_ratings import system_ratings_of
from leaderboard.submissions.models.submission import Submission
from leaderboard.submissions.selectors.visibility import public
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    import pandas as pd

# A system with fewer instances than this share of the best covered is left out: it
# would take the others' evidence away.
LEAST_SHARE = 0.5
_KEPT_SECONDS = 3600


@dataclass(frozen=True)
class System:
    """A system of the table, with its score as the board shows it."""

    pk: int
    name: str
    simulated: bool
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Shared:
    """Ratings that several systems have in common.

    Parameters
    ----------
    systems : tuple of System
        Best first.
    left_out : tuple of System
        Those with too few instances in common with the others, or a partial score.
    criteria : tuple of str
    values : ndarray, shape (instances, systems, criteria)
        In the unit in which scores are averaged.
    unit : Unit
    signature : str
        Changes with any of the scores.
    """

    systems: tuple[System, ...]
    left_out: tuple[System, ...]
    criteria: tuple[str, ...]
    values: Floats
    unit: Unit
    signature: str

    @property
    def n_instances(self) -> int:
        return len(self.values)


def ranked_pks(task: Task) -> list[int]:
    """Give the public scored submissions of a board, best first."""
    field = field_of(task, frozenset())
    order = np.lexsort((-field.pk, -field.mean))
    return [int(field.pk[i]) for i in order if field.ranked[i]]


def shared(task: Task, pks: Sequence[int], criteria: Sequence[str]) -> Shared:
    """Gather the ratings of these submissions in a number of queries that is fixed.

    What was gathered is kept until one of the scores changes.
    """
    scores = list(
        Score.objects.filter(
            public("submission__"),
            submission__in=pks,
            submission__task=task,
            superseded_at=None,
        )
        .order_by("pk")
        .values_list(
            "submission_id",
            "criterion",
            "mean",
            "low",
            "high",
            "n",
            "evaluation__n_instances",
            "evaluation__ranks_partial",
            "pk",
            "ratings_sha256",
        )
    )
    # scores are immutable rows: their keys and digests change whenever a rating does
    signature = (
        f"shared-{task.pk}-{_hash([row[-3:] for row in scores], criteria)}"
        f"-{whole_share()}"
    )

    def gather() -> Shared:
        systems = _systems(task, pks, scores)
        partial = {
            row[0]
            for row in scores
            if row[1] in criteria and not (row[7] or is_whole(*row[5:7]))
        }
        return _gather(task, systems, criteria, signature, partial)

    return computed_once(signature, gather, _KEPT_SECONDS)


def _hash(scores: list[tuple[Any, ...]], criteria: Sequence[str]) -> str:
    """Name a choice of scores and criteria in a few characters."""
    text = f"{sorted(scores)} {list(criteria)}"
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _systems(
    task: Task,
    pks: Sequence[int],
    scores: list[tuple[Any, ...]],
) -> list[System]:
    main = main_criterion(task)
    score_of = {row[0]: row[2:5] for row in scores if row[1] == main}
    named = {
        pk: (name, simulated)
        for pk, name, simulated in Submission.objects.filter(pk__in=pks).values_list(
            "pk", "system_name", "simulated"
        )
    }
    return [
        System(pk, *named[pk], *score_of[pk])
        for pk in pks
        if pk in named and pk in score_of
    ]


def _gather(
    task: Task,
    systems: list[System],
    criteria: Sequence[str],
    signature: str,
    partial: set[int],
) -> Shared:
    import pandas as pd

    scale = all_scales()[task.human.scale]
    unit = all_designs()[task.human.design].unit(criteria[0], scale, asked=True)
    evaluations = HumanEvaluation.objects.filter(
        submission__in=[system.pk for system in systems]
    )
    ratings = system_ratings_of(list(evaluations.values_list("pk", flat=True)))
    means = _means(ratings, unit, criteria)
    n_of = {
        system.pk: len(means[[(system.pk, name) for name in criteria]].dropna())
        if system.pk in means.columns.get_level_values(0)
        else 0
        for system in systems
    }
    enough = max(1, LEAST_SHARE * max(n_of.values(), default=0))
    inside = [s for s in systems if n_of[s.pk] >= enough and s.pk not in partial]
    columns = [(system.pk, name) for system in inside for name in criteria]
    # paired comparisons need every system on every instance that is left
    table = means[columns].dropna() if inside else pd.DataFrame()
    shape = (len(table), len(inside), len(criteria))
    return Shared(
        systems=tuple(inside),
        left_out=tuple(system for system in systems if system not in inside),
        criteria=tuple(criteria),
        values=table.to_numpy(np.float64).reshape(shape),
        unit=unit,
        signature=signature,
    )


def _means(ratings: pd.DataFrame, unit: Unit, criteria: Sequence[str]) -> pd.DataFrame:
    """Average over workers: instances down, (submission, criterion) across."""
    import pandas as pd

    ratings = ratings[ratings["criterion"].isin(criteria)]
    if ratings.empty:
        return pd.DataFrame(columns=pd.MultiIndex.from_tuples([], names=["s", "c"]))
    averaged = ratings.assign(value=unit.averaged(ratings["value"].to_numpy(float)))
    means = averaged.groupby(["instance", "submission", "criterion"])["value"].mean()
    table = means.unstack(["submission", "criterion"])
    columns = pd.MultiIndex.from_product(
        [table.columns.get_level_values(0).unique(), list(criteria)]
    )
    # missing criteria become columns of NaN, so that every system has the same block
    return table.reindex(columns=columns).sort_index()
