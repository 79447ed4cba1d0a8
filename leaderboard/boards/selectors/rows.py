from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from django.db.models import Count, Exists, FilteredRelation, Max, OuterRef, Q, Subquery
from django.utils import timezone

from crowd.hits.models import Campaign
from crowd.hits.selectors import open_pages, stopped_words
from genie.lib.serving.caches import computed_once
from leaderboard.boards.selectors.columns import (
    ALL,
    BASELINES,
    DEFAULT,
    Field,
    Filter,
    Ints,
    Order,
    Place,
    arrange_rows,
    crowd_groups,
    current,
    field_of,
    main_criterion,
    matching_pks,
)
from leaderboard.boards.selectors.judged import Judged, judged_of
from leaderboard.boards.selectors.version import KEPT_FROM_ROWS, KEPT_SECONDS, State
from leaderboard.evaluation.models.board_fit import JudgedEstimate
from leaderboard.evaluation.models.human_evaluation import EvaluationCampaign, Score
from leaderboard.evaluation.result_columns import board_columns
from leaderboard.evaluation.selectors.board_ratings import current_fit
from leaderboard.evaluation.selectors.ranked_scores import (
    Partial,
    any_judged,
    is_whole,
    n_judged,
    partial_of,
)
from leaderboard.metric_runs.models import MetricResult
from leaderboard.stats.multiplicity import widening_factor
from leaderboard.submissions.models import Submission, shown_state
from leaderboard.submissions.selectors import public, team_ids
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


# A team's attempts on a task, and the correction of its best score for them.
SubmissionState = Submission.State
# An unusable file discloses no score, so it is no attempt.
_NO_ATTEMPT = Q(own_state__in=[SubmissionState.RECEIVED, SubmissionState.INVALID])
# The range of scores from 0 to 100.
_LEAST, _MOST = 0.0, 100.0
# A team, and whether its systems are rated by programs: these are counted separately.
Key = tuple[int, bool]


@dataclass(frozen=True)
class Attempts:
    """A team's attempts on a task, including private and withdrawn ones."""

    n: int
    # of these, how many have ever had a score
    n_rated: int
    # the best public score under the team's name: any other would disclose an anonymous
    # system
    best: float | None
    # the interval of the best of several, corrected for the choice
    low: float | None = None
    high: float | None = None

    def chosen(self, mean: float | None) -> bool:
        return self.n_rated > 1 and mean is not None and mean == self.best

    @property
    def is_best(self) -> bool:
        return self.low is not None


def attempts(task: Task, teams: Collection[int]) -> dict[Key, Attempts]:
    own = Score.objects.filter(submission=OuterRef("pk"))
    current = own.filter(superseded_at=None, criterion=main_criterion(task))
    named = Q(anonymous_until=None) | Q(anonymous_until__lte=timezone.localdate())
    rows = (
        Submission.objects.filter(task=task, team__in=teams)
        .alias(rated=Exists(own), mean=Subquery(current.values("mean")[:1]))
        .order_by()
        .values_list("team", "simulated")
        .annotate(
            n=Count("pk", filter=~_NO_ATTEMPT),
            n_rated=Count("pk", filter=Q(rated=True)),
            best=Max("mean", filter=public() & Q(published_at__isnull=False) & named),
        )
    )
    return {(team, simulated): Attempts(*found) for team, simulated, *found in rows}


def attempts_of(submission: Submission, score: Score | None) -> Attempts:
    team = submission.team_id
    found = attempts(submission.task, [team])[team, submission.simulated]
    if score is None or not found.chosen(score.mean):
        return found
    low, high = _correct_interval(score, found.n_rated)
    return replace(found, low=low, high=high)


def _correct_interval(score: Score, n: int) -> tuple[float, float]:
    factor = widening_factor(n)
    low = score.mean - factor * (score.mean - score.low)
    high = score.mean + factor * (score.high - score.mean)
    return (
        low if score.low < _LEAST else max(low, _LEAST),
        high if score.high > _MOST else min(high, _MOST),
    )


# States in which ratings may exist; before, the count is 0 without a query.
_ASKING = frozenset(
    {
        SubmissionState.ANNOTATING,
        SubmissionState.ANNOTATED,
        SubmissionState.SCORED,
        SubmissionState.PUBLISHED,
    }
)


@dataclass(frozen=True)
class TeamName:
    slug: str
    name: str


class Human(SimpleNamespace):
    """A score; its attributes are the columns of `board_columns`.

    The ranking criterion's `inner` are the ends of its comparison interval.
    """

    @property
    def whole(self) -> bool:
        return is_whole(self.n, self.of)


@dataclass(frozen=True)
class Pending:
    n: int
    of: int
    # if staff stopped it: whom it still waits for
    stopped: str = ""


@dataclass(frozen=True)
class Row:
    pk: int
    system: str
    # None: anonymous to this viewer
    team: TeamName | None
    anonymous_until: date | None
    submitted_at: datetime
    state: str
    simulated: bool
    imported: bool
    private: bool
    rank_first: int | None
    rank_last: int | None
    cluster: int | None
    human: Human | None
    pending: Pending | None
    baseline: str = ""
    entry: str = ""
    # set if the score is from too few instances to be ranked by itself
    partial: Partial | None = None
    # the best of this many rated attempts of its team; None: not the best of several
    best_of: int | None = None
    # the scores of all criteria, including the ranking one
    criteria: dict[str, Human] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    # by criterion, if licensed judges help
    judged: dict[str, Judged] = field(default_factory=dict)

    @property
    def mark(self) -> str:
        return BASELINES.get(self.baseline) or self.entry


_FIELDS = (
    "pk",
    "system_name",
    "team_id",
    "team__slug",
    "team__name",
    "anonymous_until",
    "created_at",
    "own_state",
    "published_at",
    "human_evaluation__state",
    "simulated",
    "human_evaluation__n_instances",
    "first__campaign__state",
    "helped",
    "baseline",
    "entry",
)


def _state(data: Mapping[str, Any]) -> str:
    asked = data["human_evaluation__state"]
    return shown_state(data["own_state"], data["published_at"], asked)


def fetch_rows(
    task: Task,
    places: Sequence[Place],
    teams: frozenset[int],
    at: datetime | None = None,
) -> list[Row]:
    """Fetch rows in the given order, now or as of `at`, in eight queries at most."""
    pks = [place.pk for place in places]
    data_of = {
        row["pk"]: row
        for row in Submission.objects.filter(pk__in=pks)
        .annotate(
            first=FilteredRelation("campaigns", condition=Q(campaigns__position=0)),
            # most boards have none, and skip the query
            helped=Exists(JudgedEstimate.objects.filter(submission=OuterRef("pk"))),
        )
        .values(*_FIELDS)
    }
    scored = [place.pk for place in places if place.scored]
    being_judged = [
        place.pk
        for place in places
        if not place.scored and _state(data_of[place.pk]) in _ASKING
    ]
    scores = _scores(scored, at)
    metrics = _metrics(pks, at)
    # estimates are stored only for the present
    may_help = [pk for pk in scored if data_of[pk]["helped"]]
    helped = judged_of(task, may_help) if may_help and at is None else {}
    judged = n_judged(being_judged) if being_judged else {}
    stopped = _stopped_notes(
        [
            pk
            for pk in being_judged
            if data_of[pk]["first__campaign__state"] == Campaign.State.STOPPED
        ]
    )
    today = timezone.localdate()
    criterion = main_criterion(task)
    # stored with the ranks, for the present only
    fit = current_fit(task) if scored and at is None else None
    bars = fit.criteria.get(criterion, {}).get("bars", {}) if fit else {}
    for pk, own in scores.items():
        if criterion in own:
            mean = own[criterion].mean
            own[criterion].inner = bars.get(str(pk), (mean, mean))
    rows = [
        _row(
            task,
            place,
            data_of[place.pk],
            criteria=scores.get(place.pk, {}),
            main=criterion,
            metrics=metrics.get(place.pk, {}),
            judged=judged.get(place.pk, 0),
            stopped=stopped.get(place.pk, ""),
            helped=helped.get(place.pk, {}),
            # a team recognizes its own anonymous rows
            known=data_of[place.pk]["team_id"] in teams,
            today=today,
        )
        for place in places
    ]
    # later attempts of a team do not apply to a past board, and imported systems all
    # belong to the importer
    return rows if at is not None or task.imported else _with_best(task, rows, data_of)


def _with_best(
    task: Task, rows: list[Row], data_of: dict[int, dict[str, Any]]
) -> list[Row]:
    named = {row.pk: data_of[row.pk]["team_id"] for row in rows if row.team}
    tried = attempts(task, {*named.values()}) if named else {}
    return [
        replace(row, best_of=found.n_rated)
        if (found := tried.get((named.get(row.pk, 0), row.simulated)))
        and not row.private
        and found.chosen(row.human.mean if row.human else None)
        else row
        for row in rows
    ]


def _stopped_notes(pks: list[int]) -> dict[int, str]:
    if not pks:
        return {}
    links = EvaluationCampaign.objects.filter(submission__in=pks)
    pairs = list(links.order_by().values_list("submission", "campaign"))
    pages = open_pages([campaign for _, campaign in pairs])
    return {
        pk: stopped_words(
            [
                pages[campaign]
                for of, campaign in pairs
                if of == pk and campaign in pages
            ]
        )
        for pk in pks
    }


def _row(
    task: Task,
    place: Place,
    data: dict[str, Any],
    *,
    criteria: dict[str, Human],
    main: str,
    metrics: dict[str, float],
    judged: int,
    stopped: str,
    helped: dict[str, Judged],
    known: bool,
    today: date,
) -> Row:
    until: date | None = data["anonymous_until"]
    anonymous = until is not None and today < until
    n_planned = data["human_evaluation__n_instances"] or task.sample_size
    human = criteria.get(main) if place.scored else None
    # the campaign's state has the reason for a partial score: stopped, ended, or
    # running
    state = data["first__campaign__state"]
    return Row(
        pk=place.pk,
        system=data["system_name"],
        team=None
        if anonymous and not known
        else TeamName(data["team__slug"], data["team__name"]),
        anonymous_until=until if anonymous else None,
        submitted_at=data["created_at"],
        state=_state(data),
        simulated=data["simulated"],
        imported=task.imported,
        private=place.private,
        rank_first=place.ranks[0] if place.ranks else None,
        rank_last=place.ranks[1] if place.ranks else None,
        cluster=place.cluster,
        human=human,
        partial=partial_of(human.n, human.of, state) if human else None,
        baseline=data["baseline"],
        entry=data["entry"],
        pending=None
        if place.scored
        else Pending(min(judged, n_planned), n_planned, stopped),
        criteria=criteria,
        metrics=metrics,
        judged=helped,
    )


def _scores(pks: list[int], at: datetime | None) -> dict[int, dict[str, Human]]:
    scores: dict[int, dict[str, Human]] = defaultdict(dict)
    columns = board_columns()
    rows = Score.objects.filter(current(at=at), submission__in=pks).values_list(
        "submission_id",
        "evaluation__final_at",
        *(column.path or column.name for column in columns),
    )
    for pk, final_at, *values in rows:
        names = (column.name for column in columns)
        human = Human(**dict(zip(names, values, strict=True)))
        # of a past board: final since, but not yet then
        if at is not None and final_at is not None and at < final_at:
            human.provisional = True
        scores[pk][human.criterion] = human
    return scores


def _metrics(pks: list[int], at: datetime | None) -> dict[int, dict[str, float]]:
    # Old results are kept beside those of a newer version: the last one counts.
    metrics: dict[int, dict[str, float]] = defaultdict(dict)
    rows = MetricResult.objects.filter(submission__in=pks)
    if at is not None:
        rows = rows.filter(computed_at__lte=at)
    for pk, metric, value in rows.order_by("pk").values_list(
        "submission_id", "metric", "value"
    ):
        metrics[pk][metric] = value
    return metrics


# A task's board: the ranked systems and their uncertainty.
#
# Ranks need every score of the task, but a page needs only the details of the rows on it:
# the order is made from one narrow query, and rows are fetched on access. The number of
# queries does not depend on the number of submissions.


@dataclass(frozen=True)
class Extent:
    low: float
    high: float
    leader_low: float


class Standings(Sequence[Row]):
    """The rows of a board in order; slices are fetched from the database each time."""

    def __init__(
        self,
        task: Task,
        field: Field,
        teams: frozenset[int],
        order: Order,
        *,
        chosen: Filter = ALL,
        at: datetime | None = None,
        apart: bool = False,
    ) -> None:
        # private rows have hypothetical ranks, so they are not counted among the ranked
        self.n_ranked = int((field.ranked & ~field.private).sum())
        self.n_first = field.n_first
        # evidence is of current ratings, and does not apply to a past board
        self.groups = crowd_groups(task) if at is None and self.n_ranked > 1 else {}
        if self.groups and order == DEFAULT:
            order = Order("system", "asc")
        self.task = task
        self.order = order
        self.at = at
        self._field = field
        self._teams = teams
        self.n_all = len(field)
        self.all_provisional = bool(
            field.ranked.any() and not (field.ranked & ~field.provisional).any()
        )
        self.provisional_apart = field.provisional_apart
        self.n_partial = int(field.partial.sum())
        self.n_pending = int((~field.scored).sum())
        # of the ranked systems: the least and the most instances behind a score
        judged = field.n[field.ranked]
        self.n_judged = (int(judged.min()), int(judged.max())) if len(judged) else None
        self.n_simulated = int(field.simulated.sum())
        self.n_rated_by_people = int((field.scored & ~field.simulated).sum())
        self.n_rated_by_programs = int((field.scored & field.simulated).sum())
        self.extent = None if self.groups else _extent(field)
        self._in_order = _filter_rows(
            task,
            field,
            arrange_rows(task, field, order, at, apart=apart),
            chosen,
            teams,
        )

    @property
    def all_simulated(self) -> bool:
        return self.n_simulated > 0 and self.n_simulated == self.n_all

    @property
    def ranks_made_again(self) -> bool:
        return self.at is not None and self._field.by_scores and self.n_ranked > 1

    def kept(self, now: State) -> tuple[Row, ...]:
        """Return all rows; those of a long public board are fetched once per version."""
        if self.at is not None or self._teams or self.n_all < KEPT_FROM_ROWS:
            return tuple(self)
        rows = computed_once(now.key("rows"), self._rows_of_all, KEPT_SECONDS)
        chosen = (int(pk) for pk in self._field.pk[self._in_order])
        # a system may have been published since the rows were fetched
        return tuple(rows[pk] for pk in chosen if pk in rows)

    def _rows_of_all(self) -> dict[int, Row]:
        places = [self._field.place(i) for i in range(self.n_all)]
        return {
            row.pk: row for row in fetch_rows(self.task, places, self._teams, self.at)
        }

    @property
    def nobody_asked(self) -> bool:
        """Check that there is no answer at all yet, not even one without a score."""
        scored = self.n_rated_by_people or self.n_rated_by_programs
        own = self._field.pk[self._field.private].tolist()
        shown = Submission.objects.filter(public() | Q(pk__in=own), task=self.task)
        return not scored and not any_judged(shown.order_by())

    def row_of(self, pk: int) -> Row | None:
        place = self._field.place_of(pk)
        if place is None:
            return None
        return fetch_rows(self.task, [place], self._teams, self.at)[0]

    def __len__(self) -> int:
        return len(self._in_order)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            places = [self._field.place(int(i)) for i in self._in_order[index]]
            return fetch_rows(self.task, places, self._teams, self.at)
        place = self._field.place(int(self._in_order[index]))
        return fetch_rows(self.task, [place], self._teams, self.at)[0]

    def __iter__(self) -> Iterator[Row]:
        return iter(self[:])


def standings(
    task: Task,
    viewer: AbstractBaseUser | AnonymousUser | None = None,
    order: Order = DEFAULT,
    *,
    chosen: Filter = ALL,
    at: datetime | None = None,
    teams: frozenset[int] | None = None,
    apart: bool = False,
) -> Standings:
    """Return the board as the viewer sees it, with their teams' private submissions.

    Private rows have hypothetical ranks; they do not affect others. A filter hides rows
    and changes no ranks. With `at`, the board is that of a moment, without submissions
    withdrawn since. `teams` are the viewer's, if they are known already. With `apart`,
    provisional rows are below those that are final.
    """
    if teams is None:
        teams = team_ids(viewer)
    return Standings(
        task, field_of(task, teams, at), teams, order, chosen=chosen, at=at, apart=apart
    )


def _filter_rows(
    task: Task, field: Field, indices: Ints, chosen: Filter, teams: frozenset[int]
) -> Ints:
    keep = np.ones(len(field), dtype=np.bool_)
    if chosen.scored:
        keep &= field.scored
    if chosen.kind:
        keep &= field.simulated == (chosen.kind == "simulated")
    pks = matching_pks(task, chosen, teams)
    if pks is not None:
        keep &= np.isin(field.pk, pks)
    return indices[keep[indices]]


def _extent(field: Field) -> Extent | None:
    scored, ranked = field.scored, field.ranked
    if not scored.any():
        return None
    # private rows do not lead, and partial ones only if there are no others
    choices = (ranked & ~field.private, ranked, scored)
    means = np.where(next(rows for rows in choices if rows.any()), field.mean, -np.inf)
    return Extent(
        low=float(field.low[scored].min()),
        high=float(field.high[scored].max()),
        leader_low=float(field.low[int(np.argmax(means))]),
    )
