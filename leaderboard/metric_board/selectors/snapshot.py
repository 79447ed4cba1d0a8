"""A stored metric board for its page and the API; nothing is computed here."""

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.conf import settings
from django.db.models import F

from leaderboard.evaluation.models.board_fit import JudgeLicence
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.selectors.ranked_scores import ranked
from leaderboard.metric_board.models import MetricBoard, OutsideMetric, OutsideScores
from leaderboard.metric_board.stats.snapshot import ENOUGH, FEWEST, FEWEST_RANKED
from leaderboard.metric_board.stats.williams import reached_by_chance
from leaderboard.metric_runs.models import MetricPiece, MetricResult, MetricRun
from leaderboard.metric_runs.selectors import (
    Chosen,
    chosen_of,
    metric_words,
    not_computed_here,
)
from leaderboard.metrics.base import all_metrics
from leaderboard.submissions.models import Submission
from leaderboard.submissions.selectors import is_published, public
from leaderboard.tasks.models import Task

# Whether judges have a license for a board's criterion, in words.
_WORDS: dict[str, str] = {
    JudgeLicence.State.LICENSED: "licensed",
    JudgeLicence.State.EXPIRED: "license expired",
}
NONE = "no license"


def license_words(metrics: Collection[int | None], criterion: str) -> dict[int, str]:
    """Return the license state of each metric that is a judge; others have none.

    A judge that was asked about a different criterion has no license for this one.
    """
    judges = OutsideMetric.objects.filter(
        pk__in=[pk for pk in metrics if pk], judged__isnull=False
    )
    rows = judges.values_list(
        "pk", "judged__criterion", "judged__run__judge", "judged__run__task"
    )
    decided = JudgeLicence.objects.filter(
        run__judge__in={judge for _, _, judge, _ in rows}, criterion=criterion
    )
    last = {
        (judge, task, criterion): state
        for judge, task, state in decided.order_by("pk").values_list(
            "run__judge", "run__task", "state"
        )
    }
    return {
        pk: _WORDS.get(last.get((judge, task, own), ""), NONE)
        for pk, own, judge, task in rows
    }


State = MetricBoard.State


@dataclass(frozen=True)
class Statistic:
    slug: str
    label: str
    # whole systems, or outputs of one instance
    level: str
    lowest: float
    sentence: str
    # the value of coin flips; None if it depends on how often people tie
    chance: float | None = None


STATISTICS = {
    statistic.slug: statistic
    for statistic in (
        Statistic(
            "soft-accuracy",
            "Soft pairwise accuracy",
            "system",
            0.0,
            "whether the metric is as confident in each difference between two "
            "systems as human ratings are",
            0.5,
        ),
        Statistic(
            "pairwise-accuracy",
            "Pairwise accuracy",
            "system",
            0.0,
            "the share of system pairs that the metric ranks as people do",
            0.5,
        ),
        Statistic(
            "pearson",
            "Pearson",
            "system",
            -1.0,
            "linear correlation of system scores",
            0.0,
        ),
        Statistic(
            "spearman",
            "Spearman",
            "system",
            -1.0,
            "correlation of the two rankings",
            0.0,
        ),
        Statistic(
            "kendall",
            "Kendall τ-b",
            "system",
            -1.0,
            "concordant minus discordant pairs of systems",
            0.0,
        ),
        Statistic(
            "calibrated",
            "Accuracy, ties calibrated",
            "instance",
            0.0,
            "the share of output pairs for the same instance that the metric "
            "ranks, or ties, as people do, with its tie threshold calibrated",
        ),
        Statistic(
            "acc-eq", "acc-eq", "instance", 0.0, "the same, without tie calibration"
        ),
        Statistic("tau-eq", "τ-eq", "instance", -1.0, "2 acc-eq − 1"),
        Statistic("tau-a", "τ-a", "instance", -1.0, "(C − D) / N", 0.0),
        Statistic(
            "tau-b",
            "τ-b",
            "instance",
            -1.0,
            "Kendall's τ with ties on either side",
            0.0,
        ),
        Statistic("tau-10", "τ-10", "instance", -1.0, "(C − D − Tm) / (C + D + Tm)"),
        Statistic("tau-13", "τ-13", "instance", -1.0, "(C − D) / (C + D)", 0.0),
        Statistic("tau-14", "τ-14", "instance", -1.0, "(C − D) / (C + D + Tm)"),
    )
}
# Statistics used to rank and test metrics, the preferred first.
RANKED = (
    "soft-accuracy",
    "pairwise-accuracy",
    "pearson",
    "spearman",
    "kendall",
    "calibrated",
)


@dataclass(frozen=True)
class Cell:
    """A statistic with its 95% interval; None if undefined."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Line:
    slug: str
    label: str
    arrow: str
    # set if the scores were uploaded
    outside_pk: int | None
    owner: str
    complete: bool
    n_systems: int
    cluster: int | None
    cells: dict[str, Cell]
    epsilon: float | None
    # a judge's current license state; empty for other metrics
    licence: str = ""


@dataclass(frozen=True)
class Person:
    n_raters: int
    # median per person
    n_outputs: float
    covers: str
    cells: dict[str, Cell]


@dataclass(frozen=True)
class Williams:
    better: str
    next: str
    p: float
    n: int


@dataclass(frozen=True)
class Unfinished:
    label: str
    state: str
    n_done: int = 0
    n_all: int = 0


@dataclass(frozen=True)
class Shown:
    # of the newest inputs: READY, WAITING, TOO_FEW, FAILED; empty without inputs
    state: str
    # the newest snapshot in which everything is still public
    board: MetricBoard | None
    lines: list[Line] = field(default_factory=list)
    by: str = ""

    @property
    def payload(self) -> dict[str, Any]:
        payload: dict[str, Any] = self.board.payload if self.board else {}
        return payload

    @property
    def n_systems(self) -> int:
        return len(self.payload.get("systems", ()))

    @property
    def too_few_to_rank(self) -> bool:
        return self.board is not None and self.n_systems < FEWEST_RANKED

    @property
    def why_not_ranked(self) -> str:
        """Return why so few systems are not ranked; empty if there are enough."""
        if not self.too_few_to_rank:
            return ""
        return (
            f"{self.n_systems} systems are too few to show which metric agrees better "
            "with people. Even an uninformative metric may agree by chance. These "
            "numbers describe only these systems. Ranks, clusters and tests between "
            f"metrics are shown for at least {FEWEST_RANKED} systems."
        )

    @property
    def caution(self) -> str:
        """Return how well an uninformative metric would do by chance; empty if poorly."""
        if not FEWEST <= self.n_systems < ENOUGH:
            return ""
        chance = reached_by_chance(self.n_systems)
        return (
            f"With {self.n_systems} systems, a metric that is unrelated to the human "
            f"scores reaches a Pearson correlation beyond ±{chance:.2f} in one of 20 "
            "cases, and the best of several metrics does so more often. Differences "
            "between metrics that are smaller than their intervals say little about "
            "other systems."
        )

    def decimals(self, level: str) -> int:
        if self.n_systems < FEWEST_RANKED:
            return 1 if level == "system" else 2
        return 2 if level == "system" and self.n_systems < ENOUGH else 3

    @property
    def rankings(self) -> dict[str, Any]:
        """Clusters and tests by statistic; empty with too few systems."""
        found: dict[str, Any] = self.payload["rankings"] if self.board else {}
        return found

    @property
    def person(self) -> Person | None:
        found = self.payload.get("person")
        if not found:
            return None
        cells = {
            name: Cell(cell["value"], cell["low"], cell["high"])
            for name, cell in [*found["system"].items(), *found["instance"].items()]
        }
        if all(cell.value is None for cell in cells.values()):
            return None
        return Person(found["n_raters"], found["n_outputs"], found["covers"], cells)

    @property
    def williams(self) -> Williams | None:
        ranking = self.rankings.get("pearson", {})
        rows = ranking.get("williams") or [[]]
        p = rows[0][1] if len(rows[0]) > 1 else None
        if p is None:
            return None
        better, other = ranking["order"][:2]
        return Williams(better, other, p, self.n_systems)

    @property
    def ranking(self) -> dict[str, Any] | None:
        return self.rankings.get(self.by)


def shown_board(task: Task, criterion: str, by: str = "") -> Shown:
    """Return the newest snapshot that may be shown, ranked by the statistic `by`."""
    boards = MetricBoard.objects.filter(task=task, criterion=criterion)
    newest = boards.order_by("-wanted_at", "-pk").first()
    if newest is None:
        return Shown(state="", board=None)
    ready = boards.filter(state=State.READY).order_by("-wanted_at", "-pk").first()
    # an older board is shown while a new one is computed, unless a system or metric on
    # it has been withdrawn
    if newest.state == State.TOO_FEW or (ready and not _still_public(ready)):
        ready = None
    state = newest.state
    if ready is None:
        # withdrawn items disappear at once; a job computes the board without them
        state = State.WAITING if state == State.READY else state
        return Shown(state=state, board=None)
    ranked = [name for name in RANKED if name in ready.payload["rankings"]]
    by = by if by in STATISTICS else (ranked or ["pairwise-accuracy"])[0]
    lines = _lines(ready.payload, by)
    words = license_words([line.outside_pk for line in lines], criterion)
    lines = [replace(x, licence=words.get(x.outside_pk or 0, "")) for x in lines]
    return Shown(state=state, board=ready, lines=lines, by=by)


def _still_public(board: MetricBoard) -> bool:
    pks = {system["pk"] for system in board.payload["systems"]}
    labels = board.payload["labels"].values()
    outside = {label["outside"] for label in labels if label["outside"]}
    systems = Submission.objects.filter(public(), is_published(), pk__in=pks)
    metrics = OutsideMetric.objects.filter(pk__in=outside, withdrawn_at=None)
    return systems.count() == len(pks) and metrics.exclude(
        published_at=None
    ).count() == len(outside)


def _lines(payload: dict[str, Any], by: str) -> list[Line]:
    ranking = payload["rankings"].get(by)
    cluster = (
        dict(zip(ranking["order"], ranking["ranks"], strict=True)) if ranking else {}
    )
    lines = [
        _line(
            payload["labels"][computed["slug"]], computed, cluster.get(computed["slug"])
        )
        for computed in payload["metrics"]
    ]
    # by name: readers would take a different order for a ranking
    if len(payload["systems"]) < FEWEST_RANKED:
        return sorted(lines, key=lambda x: x.label.casefold())
    index_of = {slug: n for n, slug in enumerate(cluster)}
    return sorted(
        lines,
        key=lambda x: (index_of.get(x.slug, len(index_of)), -_number(x.cells.get(by))),
    )


def _line(label: dict[str, Any], computed: dict[str, Any], cluster: int | None) -> Line:
    cells = {
        name: Cell(cell["value"], cell["low"], cell["high"])
        for name, cell in [*computed["system"].items(), *computed["instance"].items()]
    }
    return Line(
        slug=computed["slug"],
        label=label["label"],
        arrow="↑" if label["higher_is_better"] else "↓",
        outside_pk=label["outside"],
        owner=label["owner"],
        complete=computed["complete"],
        n_systems=computed["n_systems"],
        cluster=cluster,
        cells=cells,
        epsilon=computed["instance"].get("calibrated", {}).get("epsilon"),
    )


def _number(cell: Cell | None) -> float:
    return float("-inf") if cell is None or cell.value is None else cell.value


def under_way(task: Task) -> list[Unfinished]:
    unfinished = []
    runs = MetricRun.objects.filter(
        task=task, state__in=[MetricRun.State.RUNNING, MetricRun.State.STOPPED]
    )
    absent = not_computed_here(task)
    for run in runs.order_by("metric"):
        pieces = run.pieces.all()
        n_all = pieces.count()
        if n_all and run.metric not in absent:
            n_done = pieces.filter(state=MetricPiece.State.DONE).count()
            label = metric_words(run.metric).label
            unfinished.append(Unfinished(label, run.get_state_display(), n_done, n_all))
    words = [metric_words(slug) for slug in sorted(absent)]
    return [
        *unfinished,
        *(Unfinished(word.label, "not computed here") for word in words),
    ]


def outside_of(task: Task) -> Sequence[OutsideMetric]:
    rows = OutsideMetric.objects.filter(task=task, withdrawn_at=None)
    return list(
        rows.exclude(published_at=None).select_related("owner").order_by("name", "pk")
    )


# Inputs of a task's metric board: public, published, rated systems and their metrics.

# Increase it when the same inputs would give a different board.
BOARD_VERSION = "3"


@dataclass(frozen=True)
class BoardSystem:
    pk: int
    name: str
    simulated: bool
    score_pk: int
    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class BoardMetric:
    """A metric of the site or an outside metric, with the keys of its stored numbers."""

    slug: str
    label: str
    higher_is_better: bool
    # submission -> key of its MetricResult or OutsideScores
    rows: dict[int, int]
    outside_pk: int | None = None
    owner: str = ""


@dataclass(frozen=True)
class BoardInputs:
    """Everything that determines a board, by key; the numbers are read later."""

    criterion: str
    systems: list[BoardSystem]
    # left out: rated by programs, while people rated other systems
    n_simulated_left_out: int
    metrics: list[BoardMetric]

    @property
    def simulated(self) -> bool:
        return bool(self.systems) and all(s.simulated for s in self.systems)

    def sha256(self) -> str:
        # keys are enough: rows never change, and a new score is a new row
        parts: list[Any] = [BOARD_VERSION, settings.VERSION, self.criterion]
        parts.append([(s.pk, s.score_pk, s.name, s.simulated) for s in self.systems])
        parts.append(
            [
                (m.slug, m.label, m.higher_is_better, [*m.rows.items()])
                for m in self.metrics
            ]
        )
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def criteria_of(task: Task) -> list[str]:
    return list(task.human.criteria)


def board_inputs(task: Task, criterion: str) -> BoardInputs:
    judged = _rated_systems(task, criterion)
    by_people = [system for system in judged if not system.simulated]
    # one correlation never mixes people and programs; a board of programs alone is
    # labeled as such
    systems = by_people or judged
    return BoardInputs(
        criterion=criterion,
        systems=systems,
        n_simulated_left_out=len(judged) - len(systems),
        metrics=[*_own(task, systems), *_outside(task, systems)],
    )


def _rated_systems(task: Task, criterion: str) -> list[BoardSystem]:
    rows = (
        Score.objects.filter(
            public("submission__"),
            ranked(),
            is_published("submission__"),
            submission__task=task,
            evaluation=F("submission__human_evaluation"),
            criterion=criterion,
            superseded_at=None,
        )
        .order_by("submission_id")
        .values_list(
            "submission_id",
            "submission__system_name",
            "submission__simulated",
            "pk",
            "mean",
            "low",
            "high",
            "n",
        )
    )
    return [BoardSystem(*row) for row in rows]


def _own(task: Task, systems: Sequence[BoardSystem]) -> list[BoardMetric]:
    """Return the task's metrics with a known direction that are not being recomputed."""
    running = set(
        MetricRun.objects.filter(task=task, state=MetricRun.State.RUNNING).values_list(
            "metric", flat=True
        )
    )
    pks = [system.pk for system in systems]
    metrics = []
    for chosen in chosen_of(task):
        better = chosen.metric.higher_is_better
        # during a run, some systems have new numbers and others old ones
        if better is None or chosen.slug in running:
            continue
        rows = _rows(chosen, pks)
        if rows:
            metrics.append(BoardMetric(chosen.slug, chosen.metric.label, better, rows))
    return metrics


def _rows(chosen: Chosen, pks: Sequence[int]) -> dict[int, int]:
    results = MetricResult.objects.filter(submission__in=pks, metric=chosen.slug)
    if not chosen.absent:
        results = results.filter(identity=chosen.identity)
    return dict(results.order_by("pk").values_list("submission_id", "pk"))


def _outside(task: Task, systems: Sequence[BoardSystem]) -> list[BoardMetric]:
    published = (
        OutsideMetric.objects.filter(task=task, withdrawn_at=None)
        .exclude(published_at=None)
        .select_related("owner")
        .order_by("pk")
    )
    pks = [system.pk for system in systems]
    metrics = []
    for metric in published:
        scores = OutsideScores.objects.filter(metric=metric, submission__in=pks)
        rows = dict(scores.order_by("pk").values_list("submission_id", "pk"))
        owner = metric.owner.get_username()
        if rows:
            metrics.append(
                BoardMetric(
                    metric.slug,
                    metric.name,
                    metric.higher_is_better,
                    rows,
                    outside_pk=metric.pk,
                    owner=owner,
                )
            )
    return metrics


def left_out(task: Task) -> list[str]:
    """Return the task's metrics for which neither high nor low is better."""
    known = all_metrics()
    used = [s for s in task.configuration.metrics.use if s in known]
    return [known[s].label for s in used if known[s].higher_is_better is None]
