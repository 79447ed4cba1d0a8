"""Scores with licensed judges' help, kept beside the plain ones."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import transaction
from django.db.models import Q

from genie.lib.interval import Interval
from genie.lib.seeds import seed_from
from leaderboard.designs.base import Unit
from leaderboard.evaluation.estimates import short
from leaderboard.evaluation.models.board_fit import JudgedEstimate, JudgeLicence
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.selectors.board_ratings import (
    board_ratings,
    current_fit,
    evaluations_of,
    units_of,
    weighed,
)
from leaderboard.judges.models import JudgeRun
from leaderboard.judges.selectors.licenses import licensed_rows
from leaderboard.judges.selectors.shown import (
    Help,
    Said,
    help_for,
    helped_scores,
    runs_of,
    said_by,
)
from leaderboard.stats.judges.with_people import JudgedMean, judged_mean
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    import pandas as pd

# Increased with each change of the estimation: all are then computed again.
VERSION = 2
_NO_SPREAD = 1e-12
# An empty row, so that nothing is computed before something has changed.
_NOTHING: dict[str, Any] = {
    **{"judges": [], "helped": {}, "plain": {}, "explained": 0.0},
    **{"labels_saved": 0.0, "n_people": 0, "n_judge": 0, "foretold": {}, "seed": 0},
}


def estimate_all() -> None:
    tasks = Task.objects.filter(
        Q(judge_runs__licences__isnull=False)
        | Q(submissions__judged_estimates__isnull=False)
    )
    for task in tasks.order_by("pk").distinct():
        estimate(task)


def estimate(task: Task) -> int:
    """Update outdated estimates, delete unlicensed ones; return how many were computed."""
    licenses = licensed_rows(task)
    board = _Board(task, licenses) if licenses else None
    stored = {
        (row.submission_id, row.criterion): row
        for row in JudgedEstimate.objects.filter(submission__task=task)
    }
    made, kept = [], set()
    for score in board.scores if board else []:
        key = score.submission_id, score.criterion
        row, inputs = stored.get(key), board.inputs_of(score) if board else ""
        if row is not None and row.inputs_sha256 == inputs:
            kept.add(key)
            continue
        fields = board.estimate(score) if board else {}
        made.append(
            JudgedEstimate(
                submission=score.submission,
                criterion=score.criterion,
                inputs_sha256=inputs,
                **fields,
            )
        )
    gone = [row.pk for key, row in stored.items() if key not in kept]
    with transaction.atomic():
        # one at a time: the task's row is the lock, and the later result counts
        Task.objects.select_for_update().get(pk=task.pk)
        new = {(row.submission_id, row.criterion) for row in made}
        rows = JudgedEstimate.objects.filter(submission__task=task)
        gone += [row.pk for row in rows if (row.submission_id, row.criterion) in new]
        JudgedEstimate.objects.filter(pk__in=gone).delete()
        JudgedEstimate.objects.bulk_create(made)
    return len(made)


@dataclass(frozen=True)
class _Board:
    task: Task
    licenses: list[JudgeLicence]

    @cached_property
    def scores(self) -> list[Score]:
        return helped_scores(self.task, {one.criterion for one in self.licenses})

    @cached_property
    def _runs(self) -> dict[int, list[JudgeRun]]:
        return runs_of(self.task, self.licenses)

    @cached_property
    def _weights(self) -> dict[str, float]:
        fit = current_fit(self.task)
        return dict(fit.weights) if fit else {}

    @cached_property
    def _units(self) -> dict[tuple[int, str], Unit]:
        return units_of(self.scores)

    @cached_property
    def _answers(self) -> dict[str, list[Said]]:
        said = defaultdict(list)
        for one in self.licenses:
            runs = self._runs.get(one.run.judge_id, [])
            said[one.criterion].append(said_by(one, runs))
        return said

    @cached_property
    def _ratings(self) -> pd.DataFrame:
        return weighed(board_ratings(evaluations_of(self.scores)), self._weights)

    def inputs_of(self, score: Score) -> str:
        own = [one for one in self.licenses if one.criterion == score.criterion]
        runs = [[run.pk for run in self._runs.get(o.run.judge_id, [])] for o in own]
        parts: list[Any] = [VERSION, score.submission_id, score.ratings_sha256]
        parts += [[one.run.judge_id for one in own], runs, self._weights]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def estimate(self, score: Score) -> dict[str, Any]:
        ratings = self._ratings
        own = ratings[
            (ratings["submission"] == score.submission_id)
            & (ratings["criterion"] == score.criterion)
        ]
        rated = {int(position) for position in own["instance"]}
        said = help_for(score.submission_id, rated, self._answers[score.criterion])
        if said is None:
            return {**_NOTHING, "n_people": len(rated)}
        unit = self._units[score.submission_id, score.criterion]
        seed = seed_from("judged", self.task.slug, score.criterion)
        try:
            found = self._mean(own, said, unit, seed)
        except ValueError:
            # one worker or one instance: there is no interval to compare with
            return {**_NOTHING, "n_people": len(rated)}
        if found.plain.half_width <= _NO_SPREAD:
            # identical ratings do not show their spread
            return {**_NOTHING, "n_people": len(rated)}
        return {**_fields(found, said, unit), "seed": seed}

    def _mean(self, own: pd.DataFrame, said: Help, unit: Unit, seed: int) -> JudgedMean:
        weight = own["weight"].to_numpy(float) if "weight" in own else None
        # zero weights are left out
        own = own if weight is None else own[weight > 0]
        return judged_mean(
            unit.to_averaged(own["value"].to_numpy(float)),
            own["worker"].to_numpy(),
            np.searchsorted(said.positions, own["instance"].to_numpy(np.int64)),
            said.scores,
            seed=seed,
            weights=None if weight is None else weight[weight > 0],
        )


def _fields(found: JudgedMean, said: Help, unit: Unit) -> dict[str, Any]:
    foretold = None if found.foretold is None else found.foretold.tolist()
    return {
        "judges": said.judges,
        "helped": _ends(found.helped, unit),
        "plain": _ends(found.plain, unit),
        "explained": short(found.explained),
        "labels_saved": short(found.labels_saved),
        "n_people": found.n_people,
        "n_judge": found.n_judge,
        "foretold": {}
        if foretold is None
        else {"positions": said.positions, "values": [short(x) for x in foretold]},
    }


def _ends(interval: Interval, unit: Unit) -> dict[str, float | None]:
    # no score is beyond the ends of its scale
    numbers = (interval.estimate, interval.low, interval.high)
    shown = unit.to_score(Interval(*np.clip(numbers, *unit.bounds).tolist()))
    return {
        "mean": short(shown.estimate),
        "low": short(shown.low),
        "high": short(shown.high),
    }
