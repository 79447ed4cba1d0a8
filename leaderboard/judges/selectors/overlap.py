"""Outputs, or pairs of outputs, that both people and a judge have rated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db.models import QuerySet

from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.system_ratings import system_ratings_of
from leaderboard.judges.definition import PAIRWISE, digest
from leaderboard.judges.models import JudgeRun
from leaderboard.judges.selectors.facts import asked_as_now
from leaderboard.judges.selectors.scores import answers_of, scores_of
from leaderboard.stats.judges.alternative_annotator import FEWEST_INSTANCES
from leaderboard.stats.judges.licence import Labels

if TYPE_CHECKING:
    import pandas as pd

# a system, the one compared with it (0: none), and the position of the instance
Judged = tuple[int, int, int]
_AT = ["submission", "other", "instance"]
_LABELS = {0.0: "second", 0.5: "tie", 1.0: "first"}


@dataclass(frozen=True)
class Overlap:
    """People's ratings, or their choices between two outputs, one per row.

    `people` has `submission`, `other` (0: rated alone), `instance`, `worker` and
    `value`: a choice is 1 for `submission`, .5 on a tie, and each pair of systems has
    one fixed order.
    """

    people: pd.DataFrame
    pairs: bool
    words: str

    @property
    def n_people(self) -> int:
        return int(self.people["worker"].nunique())

    @property
    def score(self) -> str:
        return "accuracy" if self.pairs else "rmse"

    def by_person(self) -> dict[str, Labels]:
        means = self.people.groupby(["worker", *_AT])["value"].mean().reset_index()
        found: dict[str, dict[str, float | str]] = {}
        for worker, one, other, at, value in means.itertuples(index=False):
            found.setdefault(str(worker), {})[f"{one}/{other}/{at}"] = self._label(
                value
            )
        return dict(found)

    def labels(self, told: dict[Judged, float]) -> Labels:
        return {
            f"{one}/{other}/{at}": self._label(value)
            for (one, other, at), value in told.items()
        }

    def _label(self, value: float) -> float | str:
        return _LABELS[_side(value)] if self.pairs else float(value)


def overlap_of(run: JudgeRun, criterion: str) -> Overlap:
    """Collect people's ratings of the run's outputs, asked in the present way.

    Programs' answers are left out. For a judge of pairs these are people's own choices
    between the same two outputs, if 30 pairs have those of two people. Otherwise they
    are derived from ratings of both outputs.
    """
    about = HumanEvaluation.objects.filter(
        systems__submission__in=run.plan["submissions"], simulated=False
    )
    asked = asked_as_now(run.task, criterion, about)
    compared = HumanEvaluation.Strategy.COMPARISON
    joint = HumanEvaluation.Strategy.JOINT
    if run.judge.definition["mode"] != PAIRWISE:
        alone = _ratings(run, criterion, asked.exclude(strategy__in=[compared, joint]))
        return Overlap(
            alone.assign(other=0), False, "their ratings of the same outputs"
        )
    chosen = _pairs(_ratings(run, criterion, asked.filter(strategy=compared)), ["item"])
    direct = Overlap(chosen, True, "their choices between the same two outputs")
    if _n_shared(chosen) >= FEWEST_INSTANCES:
        return direct
    rated = _ratings(run, criterion, asked.exclude(strategy=compared))
    # a page that shows several systems has a separate scale
    page = rated["evaluation"].isin(asked.filter(strategy=joint).values_list("pk"))
    rated = rated.assign(page=rated["evaluation"].where(page, 0))
    turned = _each_once(_pairs(rated, ["page", "instance"]))
    if _n_shared(turned) <= _n_shared(chosen):
        return direct
    return Overlap(turned, True, "their ratings of both outputs, taken as choices")


def told_of(run: JudgeRun, criterion: str) -> dict[Judged, float]:
    """Return the samples' mean for each output or pair that the judge answered.

    For a pair: the preference for the system with the smaller key, only if both orders
    were answered.
    """
    if run.judge.definition["mode"] != PAIRWISE:
        scores = scores_of(run, criterion)
        return {(one, 0, at): x for one, row in scores.items() for at, x in row.items()}
    found: dict[Judged, list[float]] = {}
    for key, (ahead, behind) in both_orders(run, criterion).items():
        found[key] = [ahead, 1 - behind]
    return {key: float(np.mean(both)) for key, both in found.items()}


def both_orders(run: JudgeRun, criterion: str) -> dict[Judged, tuple[float, float]]:
    """Return preferences for the first output in both orders of a pair.

    If outputs are compared with a reference, that is the other one of the pair.
    """
    answers = answers_of(run)
    answers = answers[answers["criterion"] == criterion]
    if run.judge.definition["mode"] != PAIRWISE:
        placed = [
            {_key(key): float(value) for key, value in means.items()}
            for place in (0, 1)
            for means in [
                answers[answers["place"] == place].groupby(_AT)["value"].mean()
            ]
        ]
        shared = sorted(set(placed[0]) & set(placed[1]))
        return {key: (placed[0][key], 1 - placed[1][key]) for key in shared}
    means = answers.groupby(_AT)["value"].mean()
    first = {_key(key): float(value) for key, value in means.items()}
    return {
        (one, other, at): (value, first[other, one, at])
        for (one, other, at), value in first.items()
        if one < other and (other, one, at) in first
    }


def _key(found: Any) -> Judged:
    one, other, at = found
    return int(one), int(other), int(at)


def _side(value: float) -> float:
    return 0.5 + 0.5 * float(np.sign(value - 0.5))


def _ratings(
    run: JudgeRun, criterion: str, evaluations: QuerySet[HumanEvaluation]
) -> pd.DataFrame:
    ratings = system_ratings_of(sorted(set(evaluations.values_list("pk", flat=True))))
    mine = ratings["submission"].isin(run.plan["submissions"])
    ratings = ratings[mine & (ratings["criterion"] == criterion)]
    numbers = ("evaluation", "item", "submission", "instance", "worker")
    return ratings.astype(dict.fromkeys(numbers, int))


def _pairs(ratings: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    on = list(dict.fromkeys([*by, "instance", "worker"]))
    means = ratings.groupby([*on, "submission"])["value"].mean().reset_index()
    both = means.merge(means, on=on, suffixes=("", "_other"))
    both = both[both["submission"] < both["submission_other"]]
    value = 0.5 + 0.5 * np.sign(both["value"] - both["value_other"])
    return both.assign(other=both["submission_other"], value=value)[
        [*_AT, "worker", "value"]
    ]


def _each_once(pairs: pd.DataFrame) -> pd.DataFrame:
    """Keep disjoint pairs, so that no output counts twice; most raters first."""
    sizes = {_key(key): int(n) for key, n in pairs.groupby(_AT).size().items()}
    taken: set[tuple[int, int]] = set()
    kept = set()
    for pair in sorted(sizes, key=lambda pair: (-sizes[pair], digest([*pair]))):
        one, other, at = pair
        if not {(one, at), (other, at)} & taken:
            taken |= {(one, at), (other, at)}
            kept.add(pair)
    keys = zip(*(pairs[name] for name in _AT), strict=True)
    return pairs[np.array([key in kept for key in keys], dtype=bool)]


def _n_shared(pairs: pd.DataFrame) -> int:
    return int((pairs.groupby(_AT)["worker"].nunique() > 1).sum())
