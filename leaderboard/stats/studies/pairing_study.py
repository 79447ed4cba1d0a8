"""How many labels are saved by asking first about the pairs that matter most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from leaderboard.stats.active.deciding import (
    AgainstTheField,
    Deciding,
    PairByPair,
    clusters_of,
)
from leaderboard.stats.active.propensities import CHOICES
from leaderboard.stats.active.replay import Pool, Run, replay, with_tastes
from leaderboard.stats.comparisons import Comparisons

Question = Literal["pair", "field"]
QUESTIONS: dict[Question, type[Deciding]] = {
    "pair": PairByPair,
    "field": AgainstTheField,
}
#: What suits each question.
SUITED: dict[Question, str] = {"pair": "soonest", "field": "busiest"}


@dataclass(frozen=True)
class Replays:
    """How a run is played: which question, how sure, how many labels, in which batches."""

    question: Question
    choice: str
    delta: float
    n_labels: int
    batch: int

    def play(self, pool: Pool, seed: int, choice: str = "") -> Run:
        """Play one run."""
        return replay(
            pool,
            QUESTIONS[self.question](pool.n_systems, delta=self.delta),
            CHOICES[choice or self.choice],
            n_labels=self.n_labels,
            batch=self.batch,
            seed=seed,
        )


@dataclass(frozen=True)
class Savings:
    """A choice of pairs against all labels asked uniformly, over many replays.

    Parameters
    ----------
    n_replays : int
    decided : float
        Pairs that all labels, asked uniformly, decided; mean over replays.
    decided_half, decided_all : float
        Pairs decided after half of the labels, and after all, with the choice.
    also : float
        Share of what the uniform run decided that the choice decided with half as many.
    contrary : int
        Pairs of all replays that the two runs decided in different directions.
    same_clusters : float
        Share of replays in which half of the labels gave the same clusters, or more.
    n_clusters : float
        Clusters of the uniform run.
    needed : float
        Labels until as many pairs were decided as in the uniform run, over those that it
        needed for them: median over replays, infinite if never in half of them.
    """

    n_replays: int
    decided: float
    decided_half: float
    decided_all: float
    also: float
    contrary: int
    same_clusters: float
    n_clusters: float
    needed: float


def savings(
    games: Comparisons,
    workers: npt.ArrayLike,
    how: Replays,
    *,
    n_replays: int,
    seed: int,
) -> Savings:
    """Replay real labels, asked uniformly and as is chosen.

    Parameters
    ----------
    games : Comparisons
        Labels; each pair's are drawn with replacement.
    workers : array_like, shape (m,)
        Who made each comparison.
    how : Replays
    n_replays : int
        At least 1.
    seed : int

    Returns
    -------
    Savings

    Examples
    --------
    >>> games = simulated_labels(3, 300, seed=1, spread=2)
    >>> how = Replays("pair", "soonest", 0.05, 300, 30)
    >>> savings(games, range(300), how, n_replays=2, seed=1).contrary
    0
    """
    pool = Pool(games, workers, seed=seed)
    rows = [_saved(pool, how, one) for one in _seeds(seed, n_replays)]
    table = np.array(rows, dtype=np.float64)
    half, every, decided, also, contrary, same, clusters, needed = table.T
    found = decided > 0
    return Savings(
        n_replays,
        float(decided.mean()),
        float(half.mean()),
        float(every.mean()),
        float(also[found].mean()) if found.any() else float("nan"),
        int(contrary.sum()),
        float(same.mean()),
        float(clusters.mean()),
        float(np.median(needed[found])) if found.any() else float("nan"),
    )


def _saved(pool: Pool, how: Replays, seed: int) -> tuple[float, ...]:
    all_labels = how.play(pool.again(seed), seed, "uniform")
    chosen = how.play(pool.again(seed + 1), seed + 1)
    reference, half = all_labels.better[-1], chosen.at(how.n_labels / 2)
    n_decided = int(reference.sum())
    last = chosen.better[-1]
    clusters, ours = clusters_of(reference), clusters_of(half)
    return (
        float(half.sum()),
        float(last.sum()),
        n_decided,
        float((half & reference).sum()) / max(n_decided, 1),
        float((last & reference.T).sum()),
        float(_refines(ours, clusters)),
        max(clusters),
        chosen.labels_until(n_decided) / all_labels.labels_until(n_decided),
    )


def _refines(ours: list[int], theirs: list[int]) -> bool:
    """Tell whether systems of different clusters of theirs are in different ones of ours."""
    one, other = np.array(ours), np.array(theirs)
    apart = other[:, None] < other[None, :]
    return bool((one[:, None] < one[None, :])[apart].all())


@dataclass(frozen=True)
class FalseDecisions:
    """Replays of equal systems in which anything was decided."""

    n_wrong: int
    n_replays: int

    @property
    def share(self) -> float:
        return self.n_wrong / self.n_replays

    @property
    def error(self) -> float:
        """Monte-Carlo standard error of the share."""
        return float(np.sqrt(self.share * (1 - self.share) / self.n_replays))


def false_decisions(
    games: Comparisons,
    workers: npt.ArrayLike,
    how: Replays,
    *,
    n_replays: int,
    seed: int,
    tastes: bool = False,
) -> FalseDecisions:
    """Replay labels as if all systems were equal.

    Parameters
    ----------
    games : Comparisons
    workers : array_like, shape (m,)
        Who made each comparison.
    how : Replays
    n_replays : int
        At least 1.
    seed : int
    tastes : bool
        Without, every label is for either side alike, and labels are independent of each
        other. With, systems change names worker by worker and each label is drawn once:
        the labels of a worker then have their taste in common.

    Returns
    -------
    FalseDecisions

    Examples
    --------
    >>> games = simulated_labels(3, 300, seed=1, spread=2)
    >>> how = Replays("pair", "soonest", 0.05, 300, 30)
    >>> false_decisions(games, range(300), how, n_replays=5, seed=1).share
    0.0
    """
    wrong = 0
    equals = Pool(games, workers, seed=seed, null=True)
    for one in _seeds(seed, n_replays):
        if tastes:
            named = with_tastes(games, workers, seed=one)
            pool = Pool(named, workers, seed=one, once=True)
        else:
            pool = equals.again(one)
        wrong += int(how.play(pool, one).better[-1].any())
    return FalseDecisions(wrong, n_replays)


def _seeds(seed: int, n: int) -> Iterator[int]:
    # far apart, as a run uses the next number, too
    yield from np.random.default_rng(seed).integers(0, 2**62, n).tolist()


def simulated_labels(
    n_systems: int, n_labels: int, *, seed: int, spread: float = 0.5, tie: float = 0.6
) -> Comparisons:
    """Draw labels of Bradley-Terry systems with ties, all pairs alike.

    Parameters
    ----------
    n_systems, n_labels : int
        At least 2, and 1.
    seed : int
    spread : float
        Standard deviation of the log-strengths, >= 0.
    tie : float
        Davidson's nu, >= 0: equals tie with probability nu / (2 + nu).

    Returns
    -------
    Comparisons

    Examples
    --------
    >>> simulated_labels(4, 100, seed=1).wins.shape
    (4, 4)
    """
    rng = np.random.default_rng(seed)
    strength = rng.normal(0, spread, n_systems)
    first = rng.integers(0, n_systems, n_labels)
    second = (first + rng.integers(1, n_systems, n_labels)) % n_systems
    half = (strength[first] - strength[second]) / 2
    weights = np.exp(half), np.exp(-half), np.full(n_labels, tie)
    total = sum(weights)
    draw = rng.random(n_labels) * total
    outcome = np.where(
        draw < weights[0], 1, np.where(draw < weights[0] + weights[1], -1, 0)
    )
    return Comparisons(
        first, second, outcome.astype(np.int64), n_systems, np.arange(n_labels)
    )
