"""How certain the order of two systems is, and how many ratings would decide it."""

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from genie.lib.serving.caches import computed_once
from leaderboard.boards.selectors.certainty import (
    System,
    ranked_pks,
    systems,
)
from leaderboard.boards.selectors.columns import crowd_groups, main_criterion
from leaderboard.boards.selectors.evidence import ratings_of
from leaderboard.boards.selectors.rows import Row, standings
from leaderboard.boards.selectors.version import state
from leaderboard.evaluation import price
from leaderboard.evaluation.estimates import Compared, estimate_board, from_json, read
from leaderboard.evaluation.models.board_fit import BoardFit
from leaderboard.evaluation.selectors.board_ratings import (
    board_ratings,
    board_scores,
    current_fit,
    evaluations_of,
    units_of,
    weighed,
)
from leaderboard.evaluation.selectors.system_ratings import evaluation_of
from leaderboard.stats.systems.estimates import Difference, Population, SystemEstimates
from leaderboard.stats.systems.ranks import ALPHA, Ranking
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import (
    Output,
    output,
    outputs_are_open,
    predictions_at,
    texts_at,
)
from leaderboard.tasks.config import RANK_SUMS
from leaderboard.tasks.models import Task

POWER = 0.8
_KEPT_SECONDS = 3600
# A plan tries up to this many times the workers, in steps of half a percent.
_MOST_TIMES, _STEPS = 1e8, 4_000


@dataclass(frozen=True)
class Pair:
    """Two systems, the better-looking one first.

    Parameters
    ----------
    p_above : float
        Probability that a is better than b, given these ratings and a flat prior.
    p_value : float
        The test behind the board's ranks: for simultaneous comparisons two-sided and
        adjusted for all pairs, for rank sums one-sided and of this pair alone.
    difference : float
        Of the scores, in points.
    more_ratings, more_workers, more_cents : int or None
        Ratings of both systems together and workers that are still missing for the
        board's test to find a difference as large as this one four times in five, and
        their cost; None if that cannot be planned (no difference was observed, or one
        worker rated), 0 only if the pair is significantly different already.
    more_instances : int
        Instances needed in all; 0 if more_ratings is None.
    comparable : bool
        Whether raters or anchors connect the two. Otherwise, differences between
        systems and between their raters are confounded.
    """

    a: System
    b: System
    p_above: float
    p_value: float
    difference: float
    more_ratings: int | None
    more_workers: int | None
    more_cents: int | None
    more_instances: int
    comparable: bool

    @property
    def apart(self) -> bool:
        return self.comparable and self.p_value <= ALPHA


@dataclass(frozen=True)
class Matrix:
    """All pairs of some systems: entry i, j of `p_above` is P(i > j)."""

    systems: tuple[System, ...]
    # ranked systems that the fit does not include
    left_out: tuple[System, ...]
    p_above: list[list[float]]
    pairs: list[Pair]
    n_ranked: int
    # the comparisons are about these raters, and cover this
    population: Population
    covers: str


def cents_of_rating(task: Task) -> float:
    """Return the cost of one more rating; it depends on the board's first system."""
    return state(task).compute_once(lambda: price.cents_per_rating(task), "cents")


def matrix(
    task: Task,
    pks: Sequence[int],
    *,
    cents_per_rating: float | None = None,
    population: Population | None = None,
) -> Matrix | None:
    """Compare these systems of the board; None if fewer than two are comparable.

    `population` is the task's own by default. A different one is estimated for the
    page, which takes as long as the board's fit, and cached.
    """
    asked = f"{[*pks]} {cents_per_rating} {population}"
    # None is not cached
    (found,) = state(task).compute_once(
        lambda: (_matrix(task, pks, cents_per_rating, population),), "matrix", asked
    )
    return found


def _matrix(
    task: Task,
    pks: Sequence[int],
    cents_per_rating: float | None,
    population: Population | None,
) -> Matrix | None:
    found = compare_systems(task, population)
    if found is None:
        return None
    shown, (fit, ranking) = systems(task, pks), found
    known = set(fit.systems)
    inside = [system for system in shown if str(system.pk) in known]
    if len(inside) < 2:
        return None
    return Matrix(
        tuple(inside),
        tuple(system for system in shown if system not in inside),
        [[_p_above(fit, a, b) if a != b else 0.5 for b in inside] for a in inside],
        _compare(task, fit, ranking, combinations(inside, 2), cents_per_rating),
        len(ranking.systems),
        fit.population,
        fit.covers,
    )


class Pairs:
    """Pairs of the systems that a board's fit includes, in the order of the board.

    All of them, those with the `wanted` system, or the pair of two. Only the pairs of a
    slice are compared: 5,000 systems have 12.5 million.
    """

    def __init__(self, task: Task, wanted: Set[int]) -> None:
        self._task, self._found = task, compare_systems(task)
        known = set(self._found[0].systems) if self._found else set()
        pks = [pk for pk in ranked_pks(task) if str(pk) in known]
        self._pks = [pk for pk in pks if pk in wanted] if len(wanted) > 1 else pks
        self._with = [i for i, pk in enumerate(pks) if wanted == {pk}]
        n = len(self._pks)
        self._n = math.comb(n, 2) if len(wanted) != 1 else (n - 1) * len(self._with)

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, chosen: slice) -> list[Pair]:
        if self._found is None:
            return []
        places = [self._places(number) for number in range(len(self))[chosen]]
        pks = {self._pks[i] for both in places for i in both}
        named = {one.pk: one for one in systems(self._task, list(pks))}
        # a system may have been withdrawn since they were ranked
        both = [(named.get(self._pks[i]), named.get(self._pks[j])) for i, j in places]
        return _compare(self._task, *self._found, [(a, b) for a, b in both if a and b])

    def _places(self, number: int) -> tuple[int, int]:
        for i in self._with:
            return (number, i) if number < i else (i, number + 1)
        # counted from the last pair, the rows of the triangle have 1, 2, ... pairs
        left = self._n - 1 - number
        row = (math.isqrt(8 * left + 1) - 1) // 2
        n = len(self._pks)
        return n - 2 - row, n - 1 - left + math.comb(row + 1, 2)


def _compare(
    task: Task,
    fit: SystemEstimates,
    ranking: Ranking,
    both: Iterable[tuple[System, System]],
    cents_per_rating: float | None = None,
) -> list[Pair]:
    cents = cents_of_rating(task) if cents_per_rating is None else cents_per_rating
    groups = crowd_groups(task)
    # rank sums are one-sided and not corrected for the number of pairs
    level = (
        2 * ALPHA
        if task.human.ranks == RANK_SUMS
        else ALPHA / max(math.comb(len(ranking.systems), 2), 1)
    )
    return [
        _pair(
            fit,
            ranking,
            (a, b),
            cents,
            level,
            comparable=groups.get(str(a.pk)) == groups.get(str(b.pk)),
        )
        for a, b in both
    ]


def compare_systems(
    task: Task, population: Population | None = None
) -> tuple[SystemEstimates, Ranking] | None:
    fit = current_fit(task)
    stored = fit.criteria.get(main_criterion(task)) if fit else None
    if fit is None or stored is None:
        return None
    found = read(stored)
    if population not in (None, found.fit.population):
        found = computed_once(
            f"raters-{fit.pk}-{population}",
            lambda: _compare_for(task, fit, population),
            _KEPT_SECONDS,
        )
    return found.fit, found.ranking({str(pk) for pk in ranked_pks(task)})


def _compare_for(task: Task, fit: BoardFit, population: Population) -> Compared:
    main = main_criterion(task)
    scores = list(
        board_scores(task).filter(criterion=main).select_related("evaluation")
    )
    ratings = weighed(board_ratings(evaluations_of(scores)), fit.weights)
    return estimate_board(
        ratings[ratings["criterion"] == main],
        units_of(scores),
        (),
        headline=task.human.estimate,
        rule=task.human.ranks,
        population=population,
    ).compared[main]


def _p_above(fit: SystemEstimates, a: System, b: System) -> float:
    return fit.difference(str(a.pk), str(b.pk)).p_above


def _pair(
    fit: SystemEstimates,
    ranking: Ranking,
    both: tuple[System, System],
    cents: float,
    level: float,
    *,
    comparable: bool,
) -> Pair:
    a, b = both
    p_value = ranking.p_value(str(a.pk), str(b.pk))
    ratings, workers, instances = (
        (0, 0, 0) if p_value <= ALPHA else _plan_missing(fit, a, b, level)
    )
    return Pair(
        a=a,
        b=b,
        p_above=_p_above(fit, a, b),
        p_value=p_value,
        difference=a.mean - b.mean,
        more_ratings=ratings,
        more_workers=workers,
        more_cents=None if ratings is None else round(ratings * cents),
        more_instances=instances,
        comparable=comparable,
    )


def _plan_missing(
    fit: SystemEstimates, a: System, b: System, level: float
) -> tuple[int | None, int | None, int]:
    """Plan the missing ratings and workers for a true difference as large as observed.

    With k times the workers, each doing as much as now, the standard error shrinks by
    the root of k, and the test has k times the degrees of freedom. The result is at
    least one worker more, because the present data did not separate the two. These
    raters would rate k times the instances instead.
    """
    from scipy.special import stdtrit

    found = fit.difference(str(a.pk), str(b.pk))
    places = [fit.systems.index(str(system.pk)) for system in (a, b)]
    if not found.estimate or math.isnan(found.standard_error * found.freedom):
        return None, None, 0
    these = fit.population == Population.THESE
    n_workers = max(int(fit.n_workers[place]) for place in places)
    n_drawn = fit.n_instances if these else n_workers
    times = np.geomspace(1 + 1 / n_drawn, _MOST_TIMES, _STEPS)

    def is_enough(step: int) -> bool:
        # two-sided quantile of the test plus that of the power
        freedom = min(found.freedom * times[step], _MOST_TIMES)
        needed = stdtrit(freedom, 1 - level / 2) + stdtrit(freedom, POWER)
        error = found.standard_error / math.sqrt(times[step])
        return bool(needed * error <= abs(found.estimate))

    # more workers are never worse, so that a search by halves finds the least
    step = bisect_left(range(_STEPS), True, key=is_enough)
    if step == _STEPS:
        return None, None, 0
    least = float(times[step])
    n = [int(fit.n[place]) for place in places]
    return (
        math.ceil((least - 1) * sum(n)),
        0 if these else math.ceil((least - 1) * n_workers - 1e-9),
        math.ceil(least * max(n)),
    )


# Comparison of two systems of a board: the difference, and outputs that show it.

# Number of outputs shown.
N_OUTPUTS = 5


@dataclass(frozen=True)
class Two:
    """Two scored systems, the better-looking one first.

    `pair` is None if the board's comparisons do not include both; `difference` is of
    this pair by itself.
    """

    a: Row
    b: Row
    pair: Pair | None
    difference: Difference | None


@dataclass(frozen=True)
class Apart:
    output: Output
    other: str
    rating: float
    other_rating: float


def read_two(typed: Sequence[str]) -> tuple[int, int] | None:
    """Read which two systems were selected; None for a different number."""
    # longer than any key, which a database would refuse
    keys = {int(text) for text in typed if text.isdecimal() and len(text) < 19}
    if len(keys) != 2 or len(typed) != len(keys):
        return None
    first, second = sorted(keys)
    return first, second


def two_of(task: Task, pks: tuple[int, int]) -> Two | None:
    """Compare two public systems; None if one of them has no score."""
    board = standings(task)
    rows = [row for pk in pks if (row := board.row_of(pk)) and row.human]
    if len(rows) < 2:
        return None
    a, b = sorted(rows, key=lambda row: (-row.human.mean if row.human else 0, row.pk))
    found = matrix(task, [a.pk, b.pk])
    pair = found.pairs[0] if found else None
    return Two(a, b, pair, _difference(task, a.pk, b.pk))


def _difference(task: Task, a: int, b: int) -> Difference | None:
    fit = current_fit(task)
    stored = fit.criteria.get(main_criterion(task)) if fit else None
    shown = stored and from_json(stored)
    if not shown or not {str(a), str(b)} <= set(shown.systems):
        return None
    return shown.difference(str(a), str(b))


def apart_most(two: Two) -> list[Apart] | None:
    """Return the outputs whose ratings differ most; None if their texts are not available."""
    submissions = Submission.objects.select_related("task", "human_evaluation__task")
    of = {row.pk: row for row in submissions.filter(pk__in=(two.a.pk, two.b.pk))}
    a, b = of[two.a.pk], of[two.b.pk]
    evaluations = evaluation_of(a), evaluation_of(b)
    if not (outputs_are_open(a) and outputs_are_open(b)) or None in evaluations:
        return None
    ours, theirs = (ratings_of(one) for one in evaluations if one)
    both = {p for p in ours if p in theirs and ours[p] != theirs[p]}
    shared = both & _positions(a) & _positions(b)
    positions = sorted(shared, key=lambda p: (-abs(ours[p] - theirs[p]), p))[:N_OUTPUTS]
    if both and not positions:
        return None
    texts = texts_at(b, positions)
    return [
        Apart(output(a, one), texts[p], ours[p], theirs[p])
        for one, p in zip(predictions_at(a, positions), positions, strict=True)
    ]


def _positions(submission: Submission) -> set[int]:
    return set(submission.predictions.values_list("instance__position", flat=True))
