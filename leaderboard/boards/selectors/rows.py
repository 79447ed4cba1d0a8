from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from types import SimpleNamespace
from typing import Any

from django.db.models import Exists, FilteredRelation, OuterRef, Q
from django.utils import timezone

from crowd.hits.models import Campaign
from crowd.hits.selectors import open_pages, stopped_words
from leaderboard.boards.selectors.attempts import attempts
from leaderboard.boards.selectors.columns import Place, current, main_criterion
from leaderboard.boards.selectors.filtering import BASELINES
from leaderboard.boards.selectors.judged import Judged, judged_of
from leaderboard.evaluation.models.human_evaluation import EvaluationCampaign, Score
from leaderboard.evaluation.result_columns import board_columns
from leaderboard.evaluation.selectors.coverage import Partial, is_whole, partial_of
from leaderboard.evaluation.selectors.progress import n_judged
from leaderboard.judges.models import JudgedEstimate
from leaderboard.metric_runs.models import MetricResult
from leaderboard.submissions.models import Submission
from leaderboard.tasks.models import Task

State = Submission.State
# States in which ratings may exist; before, the count is 0 without a query.
_ASKING = frozenset({State.ANNOTATING, State.ANNOTATED, State.SCORED, State.PUBLISHED})


@dataclass(frozen=True)
class TeamName:
    slug: str
    name: str


class Human(SimpleNamespace):
    """A score; its attributes are the columns of `board_columns`."""

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
        return BASELINES.get(self.baseline, "")


_FIELDS = (
    "pk",
    "system_name",
    "team_id",
    "team__slug",
    "team__name",
    "anonymous_until",
    "created_at",
    "state",
    "simulated",
    "human_evaluation__n_instances",
    "first__campaign__state",
    "helped",
    "baseline",
)


def fetch_rows(
    task: Task,
    places: Sequence[Place],
    teams: frozenset[int],
    at: datetime | None = None,
) -> list[Row]:
    """Fetch rows in the given order, now or as of `at`, in seven queries at most."""
    pks = [place.pk for place in places]
    data_of = {
        row["pk"]: row
        for row in Submission.objects.filter(pk__in=pks)
        .annotate(
            first=_first_campaign(),
            # most boards have none, and skip the query
            helped=Exists(JudgedEstimate.objects.filter(submission=OuterRef("pk"))),
        )
        .values(*_FIELDS)
    }
    scored = [place.pk for place in places if place.scored]
    being_judged = [
        place.pk
        for place in places
        if not place.scored and data_of[place.pk]["state"] in _ASKING
    ]
    scores = _scores(scored, at)
    metrics = _metrics(pks, at)
    # estimates are stored only for the present
    may_help = [pk for pk in scored if data_of[pk]["helped"]]
    helped = judged_of(task, may_help) if may_help and at is None else {}
    judged = n_judged(being_judged) if being_judged else {}
    stopped = _stopped(
        [
            pk
            for pk in being_judged
            if data_of[pk]["first__campaign__state"] == Campaign.State.STOPPED
        ]
    )
    today = timezone.localdate()
    criterion = main_criterion(task)
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


def _stopped(pks: list[int]) -> dict[int, str]:
    if not pks:
        return {}
    links = EvaluationCampaign.objects.filter(evaluation__submission__in=pks)
    pairs = list(links.order_by().values_list("evaluation__submission", "campaign"))
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


def _first_campaign() -> FilteredRelation:
    first = Q(human_evaluation__campaigns__position=0)
    return FilteredRelation("human_evaluation__campaigns", condition=first)


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
        state=data["state"],
        simulated=data["simulated"],
        imported=task.imported,
        private=place.private,
        rank_first=place.ranks[0] if place.ranks else None,
        rank_last=place.ranks[1] if place.ranks else None,
        cluster=place.cluster,
        human=human,
        partial=partial_of(human.n, human.of, state) if human else None,
        baseline=data["baseline"],
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
