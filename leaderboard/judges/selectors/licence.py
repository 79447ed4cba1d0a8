"""Whether people vouch for a judge on a task's criterion, by what both have said so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.system_ratings import system_ratings_of
from leaderboard.judges.definition import PAIRWISE
from leaderboard.judges.models import JudgeMetric, JudgeRun
from leaderboard.judges.selectors.scores import scores_of
from leaderboard.judges.selectors.told import progress
from leaderboard.metric_board.selectors.snapshot import STATISTICS, shown_board
from leaderboard.stats.blinding.style import FEATURES, style_of
from leaderboard.stats.judges.bias import text_effects
from leaderboard.stats.judges.findings import settle
from leaderboard.stats.judges.licence import Labels, Licence, Reason, judge_licence
from leaderboard.submissions.models.submission import Prediction

if TYPE_CHECKING:
    import pandas as pd

# what a crowd worker costs more than a judge (Calderon et al. 2025, section 3)
_EPSILON = 0.1
_SEED = 0
_READ = ("length", "lists and markup")
_ON_BOARD = ("soft-accuracy", "calibrated")


def licence_of(run: JudgeRun, criterion: str) -> Licence:
    """Say whether a judge is licensed for a criterion of its run's task, and why.

    An earlier run of the same judge is what drift is measured against; where the endpoint
    names another model than then, the licence has expired.
    """
    if run.judge.definition["mode"] == PAIRWISE:
        why = "it judged pairs; licences are for scores of single outputs"
        return Licence([Reason("people", False, why)], [])
    people = _people(run, criterion)
    told = scores_of(run, criterion)
    earlier = _earlier(run)
    rated = {
        str(pk): labels
        for pk, rows in people.groupby("worker")
        if (labels := _by_output(rows))
    }
    try:
        found = judge_licence(
            rated,
            _labels(told),
            score="rmse",
            epsilon=_EPSILON,
            seed=_SEED,
            before=_labels(scores_of(earlier, criterion)) if earlier else None,
            given_on=_answered_by(earlier) if earlier else None,
            facts=_answered_by(run),
        )
        biases = [_biases(people, told)]
    except ValueError as error:
        return Licence([Reason("people", False, str(error))], [])
    return Licence([*found.reasons, *biases, *_on_board(run, criterion)], found.moved)


def _people(run: JudgeRun, criterion: str) -> pd.DataFrame:
    """Give people's ratings of the systems of the run, programs' left out."""
    evaluations = HumanEvaluation.objects.filter(
        submission__in=run.plan["submissions"], submission__simulated=False
    )
    ratings = system_ratings_of(
        list(evaluations.order_by("pk").values_list("pk", flat=True))
    )
    ratings = ratings[ratings["criterion"] == criterion]
    return ratings.astype({"submission": int, "instance": int, "worker": int})


def _by_output(rows: pd.DataFrame) -> Labels:
    means = rows.groupby(["submission", "instance"])["value"].mean().reset_index()
    return {
        f"{one}/{at}": float(value) for one, at, value in means.itertuples(index=False)
    }


def _labels(told: dict[int, dict[int, float]]) -> Labels:
    return {
        f"{one}/{at}": value for one, row in told.items() for at, value in row.items()
    }


def _earlier(run: JudgeRun) -> JudgeRun | None:
    others = JudgeRun.objects.filter(
        judge=run.judge, task=run.task, state=JudgeRun.State.DONE, pk__lt=run.pk
    )
    return others.order_by("pk").first()


def _answered_by(run: JudgeRun) -> dict[str, str]:
    return {"model": ", ".join(progress(run)["models"])}


def _biases(people: pd.DataFrame, told: dict[int, dict[int, float]]) -> Reason:
    """Look for length and markup in the judge's scores beside people's."""
    texts = {
        (one, at): text
        for one, at, text in Prediction.objects.filter(submission__in=list(told))
        .order_by("pk")
        .values_list("submission", "instance__position", "text")
    }
    rated = {
        key: rows["value"].tolist()
        for key, rows in people.groupby(["submission", "instance"])
        if key in texts and key[1] in told.get(key[0], {})
    }
    widest = max((len(values) for values in rated.values()), default=1)
    ratings = [
        [*values, *[np.nan] * (widest - len(values))] for values in rated.values()
    ]
    surface = np.array([style_of(texts[key]) for key in rated])
    findings = settle(
        text_effects(
            [told[one][at] for one, at in rated],
            np.array(ratings),
            [one for one, _ in rated],
            [at for _, at in rated],
            {name: surface[:, FEATURES.index(name)] for name in _READ},
        )
    )
    words = "; ".join(one.verdict for one in findings) or "texts do not differ"
    return Reason("bias", not any(one.found for one in findings), words)


def _on_board(run: JudgeRun, criterion: str) -> list[Reason]:
    """Compare the judge with one person as a row of the metric board."""
    board: Any = shown_board(run.task, criterion)
    own = JudgeMetric.objects.filter(run=run, criterion=criterion).values_list(
        "metric", flat=True
    )
    line = (
        next((one for one in board.lines if one.outside_pk in own), None)
        if board.board
        else None
    )
    person = board.person if board.board else None
    if line is None or person is None:
        return [
            Reason("metric board", False, "no row of the judge beside a person's yet")
        ]
    reasons = []
    for name in _ON_BOARD:
        judge, beside = line.cells.get(name), person.cells.get(name)
        if judge is None or beside is None or judge.value is None or beside.low is None:
            words, holds = "not defined for judge and person", False
        else:
            words = (
                f"{judge.value:.3f}; a person {beside.value:.3f}, from {beside.low:.3f}"
            )
            holds = judge.value >= beside.low
        reasons.append(Reason(STATISTICS[name].label.lower(), holds, words))
    return reasons
