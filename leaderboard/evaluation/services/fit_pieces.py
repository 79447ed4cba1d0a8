"""A board's fit in pieces, stored until it is complete: any process continues there.

Each criterion's estimates are a piece, its evidence another, and so is each comparison
of two platforms.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import cached_property, partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeVar

from django.utils import timezone

from genie.lib.queue.pieces import Kept, Later
from genie.lib.seeds import seed_from
from leaderboard.evaluation.estimates import (
    Estimate,
    Standing,
    as_json,
    estimate_board,
    headline_of,
    serialize_ranking,
)
from leaderboard.evaluation.evidence import board_evidence
from leaderboard.evaluation.models.board_fit import FitPiece
from leaderboard.evaluation.models.human_evaluation import (
    AnchorItem,
    HumanEvaluation,
    Score,
)
from leaderboard.evaluation.result_columns import fit_columns
from leaderboard.evaluation.selectors.board_ratings import (
    board_ratings,
    board_scores,
    evaluations_of,
    forecasts_of,
    ranking_rows,
    units_of,
    weighed,
)
from leaderboard.evaluation.selectors.ranked_scores import anchor_ratings, is_ranked
from leaderboard.evaluation.services import platform_crowds
from leaderboard.stats.judges.together import Forecast
from leaderboard.submissions.models import Submission
from leaderboard.tasks.models import Task
from quality.bans.models import Ban
from quality.bans.selectors import soft_weights

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
# After this time the rest is left to the next job, so that others get their turn.
PIECE_SECONDS = 20.0
# Workers' weights are stored with the pieces, and not older than this.
_KEPT = timedelta(days=1)


@dataclass(frozen=True)
class Refit:
    task: Task
    of: int | None
    inputs_sha256: str
    criteria: dict[str, Any]
    standings: dict[tuple[int, str], Standing]
    weights: dict[str, float]
    evidence: dict[str, dict[str, Any]]


class _Pieces(Kept):
    def __init__(
        self, task: Task, of: Submission | None, inputs: str, *, in_time: bool
    ) -> None:
        super().__init__()
        self._row = {"task": task, "of": of.pk if of else 0, "inputs_sha256": inputs}
        self._until = time.monotonic() + PIECE_SECONDS if in_time else None
        self._n_done = 0
        rows = FitPiece.objects.filter(**self._row)
        rows.filter(created_at__lt=timezone.now() - _KEPT).delete()
        self.kept = dict(rows.values_list("name", "result"))

    def once(self, name: str, find: Callable[[], T]) -> T:
        late = self._until is not None and time.monotonic() > self._until
        if late and self._n_done and name not in self.kept:
            raise Later
        return super().once(name, find)

    def save(self, name: str) -> None:
        # if two processes compute the same piece, the first result counts for both
        row, _ = FitPiece.objects.get_or_create(
            **self._row, name=name, defaults={"result": self.kept[name]}
        )
        self.kept[name] = row.result
        self._n_done += 1


class _Board:
    def __init__(
        self,
        task: Task,
        scores: Sequence[Score],
        weights: Mapping[str, float],
        *,
        but: int = 0,
    ) -> None:
        self.task, self.scores, self._weights = task, scores, weights
        self._but = but
        self.units = units_of(scores)
        self.seed = estimates_seed(task)

    @cached_property
    def _ratings(self) -> pd.DataFrame:
        rows = board_ratings(self._evaluations, also=self._but)
        if not Ban.in_force.filter(worker=self._but, pool=self.task.slug).exists():
            rows = rows[rows["worker"] != self._but]
        return weighed(rows, self._weights)

    @cached_property
    def _anchors(self) -> pd.DataFrame | None:
        import pandas as pd

        rows = AnchorItem.objects.filter(evaluation__in=self._evaluations)
        linked = set(rows.values_list("evaluation", flat=True))
        parts = [
            anchor_ratings(one).assign(campaign=one.system)
            for one in self._evaluations
            if one.pk in linked
        ]
        return weighed(pd.concat(parts), self._weights) if parts else None

    @cached_property
    def _evaluations(self) -> list[HumanEvaluation]:
        return evaluations_of(self.scores)

    @cached_property
    def _forecasts(self) -> dict[str, dict[str, Forecast]]:
        systems = {score.submission_id for score in self.scores}
        return forecasts_of(ranking_rows(self.task, systems))

    @cached_property
    def _by_platform(self) -> pd.DataFrame:
        return platform_crowds.ratings_by_platform(self.scores)

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        return list(combinations(platform_crowds.platforms_of(self.task), 2))

    def estimates(self, criterion: str, *, evidence: bool) -> dict[str, Any] | None:
        task, ratings = self.task, _criterion_ratings(self._ratings, criterion)
        ranked, headline = ranked_systems(self.scores), task.human.estimate
        found = estimate_board(
            ratings,
            self.units,
            ranked,
            headline=headline,
            rule=task.human.ranks,
            seed=self.seed,
            forecasts=self._forecasts,
            population=task.human.population,
            anchors=self._anchors,
        )
        if criterion not in found.fits:
            return None
        fit = found.fits[criterion]
        beside: dict[str, Any] = {}
        if evidence:
            beside = board_evidence(
                ratings, self.units, ranked, found.fits, headline=headline
            )[criterion]
        return {
            "fit": as_json(fit)
            | serialize_ranking(found.compared[criterion], fit)
            | {"bars": found.bars[criterion]},
            "standings": [
                {"system": pk, **asdict(one), **one.columns}
                for (pk, _), one in found.standings.items()
            ],
            "evidence": beside
            | {"groups": _several(found.compared[criterion].groups or {}, ranked)},
        }

    def crowds(self, criterion: str, pair: tuple[str, str]) -> dict[str, Any] | None:
        ratings = _criterion_ratings(self._by_platform, criterion)
        seed = seed_from("two crowds", self.task.slug, criterion)
        return platform_crowds.compare_platforms(ratings, self.units, pair, seed=seed)


def _several(groups: Mapping[str, int], ranked: Collection[int]) -> dict[str, int]:
    own = {pk: groups[str(pk)] for pk in sorted(ranked) if str(pk) in groups}
    return {str(pk): n for pk, n in own.items()} if len({*own.values()}) > 1 else {}


def _criterion_ratings(ratings: pd.DataFrame, criterion: str) -> pd.DataFrame:
    return ratings[ratings["criterion"] == criterion]


def compute_fit(
    task: Task, of: Submission | None, inputs: str, *, in_time: bool = False
) -> Refit:
    """Compute the fit; with `in_time`, raise Later if pieces are left in the end."""
    pieces = _Pieces(task, of, inputs, in_time=in_time)
    scores = list(board_scores(task, of).select_related("evaluation", "submission"))
    weights = pieces.once("weights", partial(soft_weights, task.slug))
    board = _Board(task, scores, weights)
    refit = Refit(task, of.pk if of else None, inputs, {}, {}, weights, {})
    for criterion in sorted({score.criterion for score in scores}):
        estimate = partial(board.estimates, criterion, evidence=of is None)
        found = pieces.once(f"estimates {criterion}", estimate)
        if found is None:
            continue
        refit.criteria[criterion] = found["fit"]
        for row in found["standings"]:
            refit.standings[row["system"], criterion] = Standing(
                {name: Estimate(**one) for name, one in row["estimates"].items()},
                row["ranks"] and tuple(row["ranks"]),
                row["cluster"],
                {name: row.get(name) for name in fit_columns(None)},
            )
        if of is None:
            refit.evidence[criterion] = _beside(pieces, board, criterion, found)
    return refit


def board_without(task: Task, worker: int) -> list[tuple[Any, ...]]:
    """Return scores with means and ranks without a worker, or with an excluded one."""
    scores = list(board_scores(task).select_related("evaluation", "submission"))
    board = _Board(task, scores, soft_weights(task.slug), but=worker)
    found = {}
    for criterion in {score.criterion for score in scores}:
        fit = board.estimates(criterion, evidence=False) or {"standings": []}
        for row in fit["standings"]:
            shown = row["estimates"][headline_of(row["estimates"], task.human.estimate)]
            found[row["system"], criterion] = shown["mean"], row["ranks"]
    return [
        (one, *found.get((one.submission_id, one.criterion), (None, None)))
        for one in scores
    ]


def _beside(
    pieces: _Pieces, board: _Board, criterion: str, found: Mapping[str, Any]
) -> dict[str, Any]:
    crowds = [
        pieces.once(
            f"crowds {criterion} {' '.join(pair)}",
            partial(board.crowds, criterion, pair),
        )
        for pair in board.pairs
    ]
    return {
        **found["evidence"],
        "links": _links(board.scores, criterion),
        "crowds": [one for one in crowds if one is not None],
    }


def _links(scores: Sequence[Score], criterion: str) -> list[dict[str, Any]]:
    linked = [one for one in scores if one.criterion == criterion and one.link]
    linked.sort(key=lambda one: -one.submission_id)
    return [{"system": one.submission_id, **one.link} for one in linked if one.link]


def estimates_seed(task: Task) -> int:
    """Return a seed from the task's name, so that draws can be repeated."""
    return seed_from("estimates", task.slug)


def ranked_systems(scores: Sequence[Score]) -> set[int]:
    return {
        score.submission_id
        for score in scores
        if is_ranked(
            score.n,
            score.evaluation.n_instances,
            ranks_partial=score.evaluation.ranks_partial,
            provisional=score.provisional,
            entry=score.submission.entry,
        )
    }


def forget(task: Task, of: Submission | None) -> None:
    FitPiece.objects.filter(task=task, of=of.pk if of else 0).delete()
