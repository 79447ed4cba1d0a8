"""All submissions of a board as columns, for ranks and orders.

`Field` needs one query and has one array a column, whatever the number of systems.
`rows.py` fetches names, teams and metrics for the rows of one page.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from django.db.models import FilteredRelation, Q
from django.db.models.fields.json import KeyTransform
from django.http import QueryDict
from django.utils import timezone

from crowd.scales.base import all_scales
from leaderboard.designs.base import all_designs
from leaderboard.evaluation.models.board_fit import BoardFit
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.selectors.board_ratings import has_lapsed
from leaderboard.evaluation.selectors.ranked_scores import whole_share
from leaderboard.metric_runs.models import MetricResult
from leaderboard.metrics.base import all_metrics
from leaderboard.stats.bounds import normal_quantile
from leaderboard.stats.systems.ranks import ALPHA, rank_by_p
from leaderboard.submissions.models import CONTRASTIVE, Submission
from leaderboard.submissions.selectors import ON_BOARD, in_state, public
from leaderboard.tasks.config import Z_SCORES
from leaderboard.tasks.models import Task

# All pairs of more systems would take too long for a page.
_MANY = 500
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Place:
    pk: int
    private: bool
    scored: bool
    ranks: tuple[int, int] | None
    cluster: int | None


@dataclass(frozen=True)
class ManyRanks:
    """Ranks by scores, without clusters, if all pairs would take too long.

    Only those of the shown rows are made. Bonferroni's correction needs no order of the
    pairs and is slightly conservative.
    """

    # NaN without a rank
    mean: Floats
    error: Floats
    private: Bools

    @cached_property
    def _public(self) -> Ints:
        return np.flatnonzero(~np.isnan(self.mean) & ~self.private)

    def _limits(self, n: int) -> Floats:
        reach = normal_quantile(1 - ALPHA / (n * (n - 1) / 2))
        # squares on both sides of a comparison, which needs no roots then
        return (reach * self.error) ** 2

    def ranks(self, index: int) -> tuple[int, int]:
        n = len(self._public) + int(self.private[index])
        limits, gaps = self._limits(n), self.mean[index] - self.mean[self._public]
        apart = gaps * gaps > limits[self._public] + limits[index]
        n_above = int((apart & (gaps < 0)).sum())
        n_below = int(apart.sum()) - n_above
        return 1 + n_above, n - n_below

    @property
    def n_first(self) -> int:
        rows = self._public
        mean, limits = self.mean[rows], self._limits(len(rows))[rows]
        first, order = np.ones(len(rows), dtype=np.bool_), np.argsort(-mean)
        # below one that is better and has a smaller error, a system is above no others
        least = np.minimum.accumulate(limits[order])
        for i in order[np.diff(least, prepend=np.inf) < 0]:
            gaps = mean[i] - mean
            first &= (gaps <= 0) | (gaps * gaps <= limits + limits[i])
        return int(first.sum())


@dataclass(frozen=True)
class Field:
    """One board's submissions; mean NaN without a score, no ranks for partial ones."""

    pk: Ints
    simulated: Bools
    private: Bools
    mean: Floats
    low: Floats
    high: Floats
    # instances behind the score, 0 without one
    n: Ints
    # 0 without a score, or for a partial one
    first: Ints
    last: Ints
    cluster: Ints
    # scores that may change while exclusions are checked
    provisional: Bools
    # listed only
    contrastive: Bools
    ranked: Bools
    # ranks by the scores alone: these systems were not estimated together
    by_scores: bool = False
    many: ManyRanks | None = None

    def __len__(self) -> int:
        return len(self.pk)

    @property
    def scored(self) -> Bools:
        return ~np.isnan(self.mean)

    @property
    def partial(self) -> Bools:
        return self.scored & ~self.ranked & ~self.contrastive

    @property
    def provisional_apart(self) -> bool:
        return bool(self.provisional.any() and (self.ranked & ~self.provisional).any())

    @property
    def n_first(self) -> int:
        if self.many:
            return self.many.n_first
        return int(((self.first == 1) & ~self.private).sum())

    def place_of(self, pk: int) -> Place | None:
        found = np.flatnonzero(self.pk == pk)
        return self.place(int(found[0])) if len(found) else None

    def place(self, index: int) -> Place:
        first, last = int(self.first[index]), int(self.last[index])
        if self.many and self.ranked[index]:
            first, last = self.many.ranks(index)
        return Place(
            pk=int(self.pk[index]),
            private=bool(self.private[index]),
            scored=bool(self.scored[index]),
            ranks=(first, last) if first else None,
            cluster=int(self.cluster[index]) or None,
        )


def crowd_groups(task: Task) -> dict[str, int]:
    """Return the group of each ranked system, if crowds do not connect all of them."""
    rows = BoardFit.objects.filter(task=task, of=None, superseded_at=None)
    stored = KeyTransform("groups", KeyTransform(main_criterion(task), "evidence"))
    return rows.values_list(stored, flat=True).first() or {}


def score_range(task: Task) -> str:
    """Return the range of scores in words; empty for units without meaningful limits."""
    design = all_designs().get(task.human.design)
    scale = all_scales().get(task.human.scale)
    if design is None or scale is None or task.human.estimate == Z_SCORES:
        return ""
    unit = design.unit(main_criterion(task), scale, asked=True)
    return " from 0 to 100" if unit.percent and not unit.logarithmic else ""


def main_criterion(task: Task) -> str:
    """Return the criterion that ranks the board: the first one of the task."""
    return next(iter(task.human.criteria), "overall")


def field_of(task: Task, teams: frozenset[int], at: datetime | None = None) -> Field:
    """Read public rows and the teams' private ones in one query, now or as of `at`."""
    rows = _rows(task, teams, at)
    pk = np.array([row[0] for row in rows], dtype=np.int64)
    simulated = np.array([row[1] for row in rows], dtype=np.bool_)
    private = np.array([row[2] == "PRIVATE" for row in rows], dtype=np.bool_)
    published = np.array([row[3] for row in rows], dtype=np.bool_)
    mean, low, high = (_numbers(rows, column) for column in (4, 5, 6))
    # a score may exist before its publication; until then it is not ranked
    mean[~published] = np.nan
    n = np.nan_to_num(_numbers(rows, 7)).astype(np.int64)
    whole = n >= whole_share() * np.nan_to_num(_numbers(rows, 8))
    # a partial one is ranked if staff decided so, or until lost ratings are replaced
    whole |= np.array([row[12] or row[13] or False for row in rows], dtype=np.bool_)
    contrastive = np.array([row[-1] for row in rows], dtype=np.bool_)
    # a partial or contrastive one keeps its mean on the board and is not ranked
    ranked = whole & ~contrastive & ~np.isnan(mean)
    first, last, cluster = (
        np.where(ranked, np.nan_to_num(_numbers(rows, column)), 0).astype(np.int64)
        for column in (9, 10, 11)
    )
    open_ = ranked & ~private
    by_scores = (ranked & (first == 0)).any() or last[open_].max(
        initial=0
    ) != open_.sum()
    # the license of the judges' help has lapsed: people rank at once
    by_scores = by_scores or (at is None and has_lapsed(task))
    many = None
    if by_scores:
        # The systems have not been estimated together yet, so only scores rank them.
        scores = np.where(ranked, mean, np.nan)
        errors = (high - low) / (2 * normal_quantile(0.95))
        many = ManyRanks(scores, errors, private) if open_.sum() > _MANY else None
        first, last, cluster = (
            np.zeros((3, len(pk)), np.int64)
            if many
            else _by_scores(scores, errors, private)
        )
    provisional = np.array([_provisional(row, at) for row in rows], dtype=np.bool_)
    provisional &= ranked
    ranks = (first, last, cluster, provisional, contrastive, ranked, bool(by_scores))
    return Field(pk, simulated, private, mean, low, high, n, *ranks, many)


def current(path: str = "", at: datetime | None = None) -> Q:
    if at is None:
        return Q(**{f"{path}superseded_at": None})
    return Q(**{f"{path}created_at__lte": at}) & (
        Q(**{f"{path}superseded_at__gt": at}) | Q(**{f"{path}superseded_at": None})
    )


def _rows(
    task: Task, teams: frozenset[int], at: datetime | None
) -> list[tuple[Any, ...]]:
    may_see = public()
    if teams:
        may_see |= Q(in_state(*ON_BOARD), visibility="PRIVATE", team_id__in=teams)
    score = FilteredRelation(
        "scores",
        condition=current("scores__", at)
        & Q(scores__criterion=main_criterion(task), scores__estimator=Score.MEAN),
    )
    # No dates: making 5,000 of them would cost more than everything else here.
    submissions = (
        Submission.objects.filter(may_see, task=task)
        .annotate(
            score=score,
            published=Q(published_at__isnull=False),
            contrastive=Q(entry=CONTRASTIVE),
        )
        .order_by("pk")
    )
    if at is not None:
        submissions = submissions.filter(published_at__lte=at)
    return list(
        submissions.values_list(
            "pk",
            "simulated",
            "visibility",
            "published",
            "score__mean",
            "score__low",
            "score__high",
            "score__n",
            "human_evaluation__n_instances",
            "score__rank_first",
            "score__rank_last",
            "score__cluster",
            "human_evaluation__ranks_partial",
            "score__provisional",
            *([] if at is None else ["human_evaluation__final_at"]),
            "contrastive",
        )
    )


def _provisional(row: tuple[Any, ...], at: datetime | None) -> bool:
    # of a past board: final since, but not yet then
    return row[13] is True or (at is not None and row[14] is not None and at < row[14])


def _numbers(rows: list[tuple[Any, ...]], column: int) -> Floats:
    return np.array([row[column] for row in rows], dtype=np.float64)


def _by_scores(mean: Floats, errors: Floats, private: Bools) -> tuple[Ints, Ints, Ints]:
    """Rank as if no worker had rated two systems.

    These ranks last until the board's systems are estimated together. Private rows get
    their hypothetical ranks and do not affect others.
    """
    first, last, cluster = (np.zeros(len(mean), dtype=np.int64) for _ in range(3))
    scored = ~np.isnan(mean)
    public_rows = np.flatnonzero(scored & ~private)
    _place(public_rows, public_rows, mean, errors, (first, last, cluster))
    for index in np.flatnonzero(scored & private):
        beside = np.append(public_rows, index)
        _place(beside, [int(index)], mean, errors, (first, last, cluster))
    return first, last, cluster


def _place(
    rows: Ints,
    wanted: Sequence[int] | Ints,
    mean: Floats,
    errors: Floats,
    into: tuple[Ints, Ints, Ints],
) -> None:
    from scipy import special

    gaps = np.abs(mean[rows][:, None] - mean[rows][None, :])
    both = np.hypot(errors[rows][:, None], errors[rows][None, :])
    ratios = np.full_like(gaps, np.inf)
    np.divide(gaps, both, out=ratios, where=both > 0)
    p_values = np.where(gaps > 0, special.erfc(ratios / 2**0.5), 1.0)
    ranking = rank_by_p([str(row) for row in rows], mean[rows], p_values)
    for row in wanted:
        ranks = ranking.rank_of(str(row))
        into[0][row], into[1][row] = ranks.first, ranks.last
        into[2][row] = ranking.cluster_of(str(row))


# Orders of a board's rows; only those listed here can be requested.
Direction = Literal["asc", "desc"]


@dataclass(frozen=True)
class Order:
    key: str
    direction: Direction

    @property
    def reverse(self) -> bool:
        return self.direction == "desc"


DEFAULT = Order("human", "desc")
_DIRECTIONS: dict[str, Direction] = {"asc": "asc", "desc": "desc"}
_FIRST: dict[str, Direction] = {"human": "desc", "system": "asc", "date": "desc"}


def metrics_of(task: Task) -> list[str]:
    return [slug for slug in task.configuration.metrics.use if slug in all_metrics()]


def sort_keys(task: Task) -> list[str]:
    return [*_FIRST, *metrics_of(task)]


def first_direction(key: str) -> Direction:
    if key in _FIRST:
        return _FIRST[key]
    return "asc" if all_metrics()[key].higher_is_better is False else "desc"


def order_from(task: Task, sort: str | None, direction: str | None) -> Order:
    """Read an order from an address; unknown values give the default."""
    if sort is None or sort not in sort_keys(task):
        return DEFAULT
    return Order(sort, _DIRECTIONS.get(direction or "") or first_direction(sort))


def arrange_rows(
    task: Task,
    field: Field,
    order: Order,
    at: datetime | None = None,
    *,
    apart: bool = False,
) -> Ints:
    """Return the rows in order; those without a value come last, the newest first.

    By score, partial and contrastive ones are separate: below all ranked rows, above those that wait;
    with `apart`, provisional ones come between both, unless all are provisional.
    """
    values = _values(task, field, order.key, at)
    directed = -values if order.reverse else values
    # lexsort sorts by its last key first: group, then value, then the newest
    group = np.isnan(values) * 3
    if order.key == "human":
        group = group + (field.partial | field.contrastive) * 2
        group += field.provisional if apart and field.provisional_apart else 0
    if order.key == "human" and task.configuration.judges.rank:
        # the scores are people's, and ranks may use judges' help: these come first
        places = np.where(field.ranked, field.first + field.last, 0)
        places = places if order.reverse else -places
        return np.lexsort((-field.pk, directed, places, group))
    return np.lexsort((-field.pk, directed, group))


def _values(task: Task, field: Field, key: str, at: datetime | None) -> Floats:
    if key == "human":
        return field.mean
    submissions = Submission.objects.filter(task=task)
    if key == "system":
        names = sorted(
            submissions.order_by().values_list("system_name", "pk"),
            # sorted here because databases collate names differently
            key=lambda row: (row[0].casefold(), row[0]),
        )
        value_of = {pk: float(index) for index, (_, pk) in enumerate(names)}
    elif key == "date":
        by_date = submissions.order_by("created_at", "pk").values_list("pk", flat=True)
        value_of = {pk: float(index) for index, pk in enumerate(by_date)}
    else:
        results = MetricResult.objects.filter(submission__task=task, metric=key)
        if at is not None:
            results = results.filter(computed_at__lte=at)
        # the newest result of a metric counts
        value_of = dict(results.order_by("pk").values_list("submission_id", "value"))
    return np.array([value_of.get(int(pk), np.nan) for pk in field.pk])


# Filters of a board's rows; ranks stay those of the whole board.
Kind = Literal["", "people", "simulated"]
# `none` selects ordinary systems
NO_BASELINE = "none"
BASELINES: dict[str, str] = {
    Submission.Baseline.REFERENCE.value: "human reference",
    Submission.Baseline.BASELINE.value: "baseline",
    NO_BASELINE: "no baseline",
}


@dataclass(frozen=True)
class Filter:
    # part of a system's or a team's name
    text: str = ""
    # a team's slug
    team: str = ""
    kind: Kind = ""
    since: date | None = None
    until: date | None = None
    # only rows with a score from people
    scored: bool = False
    # a kind of baseline, or none
    baseline: str = ""

    @property
    def by_row(self) -> bool:
        """Whether rows have to be looked up in the database."""
        return bool(self.text or self.team or self.since or self.until or self.baseline)

    def __bool__(self) -> bool:
        return self != Filter()


ALL = Filter()
_KINDS: dict[str, Kind] = {"people": "people", "simulated": "simulated"}
_LONGEST = 100


def read_filter(parameters: QueryDict) -> Filter:
    """Read a filter from an address; unknown values are ignored."""
    baseline = parameters.get("baseline", "")
    return Filter(
        text=parameters.get("q", "").replace("\0", "").strip()[:_LONGEST],
        team=parameters.get("team", "").replace("\0", "").strip()[:_LONGEST],
        kind=_KINDS.get(parameters.get("kind", ""), ""),
        since=_day(parameters.get("since", "")),
        until=_day(parameters.get("until", "")),
        scored=parameters.get("scored") == "1",
        baseline=baseline if baseline in BASELINES else "",
    )


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def matching_pks(task: Task, chosen: Filter, teams: frozenset[int]) -> list[int] | None:
    """Return matching rows; None if all match. Anonymous teams' names never match."""
    if not chosen.by_row:
        return None
    # a search must not disclose the team of an anonymous system, not even by a missing
    # row
    named = Q(anonymous_until=None) | Q(anonymous_until__lte=timezone.localdate())
    if teams:
        named |= Q(team__in=teams)
    rows = Submission.objects.filter(task=task)
    if chosen.text:
        # PostgreSQL refuses NUL in a text, and an address can contain one
        text = chosen.text.replace("\x00", "")
        rows = rows.filter(
            Q(system_name__icontains=text) | named & Q(team__name__icontains=text)
        )
    if chosen.team:
        rows = rows.filter(named, team__slug=chosen.team.replace("\x00", ""))
    if chosen.since:
        rows = rows.filter(created_at__date__gte=chosen.since)
    if chosen.until:
        rows = rows.filter(created_at__date__lte=chosen.until)
    if chosen.baseline:
        kind = "" if chosen.baseline == NO_BASELINE else chosen.baseline
        rows = rows.filter(baseline=kind)
    return list(rows.order_by().values_list("pk", flat=True))
