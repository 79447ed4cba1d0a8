"""The evidence behind a board's scores and its limits, by criterion."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Count

from crowd.platforms.base import kind_of
from leaderboard.boards.selectors.columns import field_of, main_criterion
from leaderboard.boards.selectors.version import State, state
from leaderboard.evaluation.estimates import from_json
from leaderboard.evaluation.models.board_fit import BoardFit
from leaderboard.evaluation.models.human_evaluation import Score
from leaderboard.evaluation.price import quote_side_by_side
from leaderboard.evaluation.selectors.board_ratings import current_fit
from leaderboard.evaluation.services import platform_crowds
from leaderboard.stats.crowds import CrowdComparison
from leaderboard.stats.intervals import COVERS_INSTANCES
from leaderboard.stats.systems.estimates import (
    COVERS_CROWD,
    COVERS_THESE,
    FEW_WORKERS,
    Population,
    SystemEstimates,
)
from leaderboard.stats.systems.linking import LinkingConstant, Moved, classify_shift
from leaderboard.stats.systems.table import Variances
from leaderboard.submissions.selectors import public
from leaderboard.tasks.config import PLAIN
from leaderboard.tasks.models import Task


@dataclass(frozen=True)
class System:
    pk: int
    name: str
    simulated: bool
    mean: float


def ranked_pks(task: Task, now: State | None = None) -> list[int]:
    """Return the public scored submissions of a board, best first."""
    return (now or state(task)).compute_once(lambda: _rank(task), "ranked")


def _rank(task: Task) -> list[int]:
    field = field_of(task, frozenset())
    order = np.lexsort((-field.pk, -field.mean))
    ranked: list[int] = field.pk[order[field.ranked[order]]].tolist()
    return ranked


def covers_of(task: Task | None, shown: Iterable[str] = ()) -> str:
    """Describe what a board's intervals cover, or will cover; `shown` ones do."""
    if shown or task is None:
        return "; of other systems, ".join(shown) or COVERS_CROWD
    rows = Score.objects.filter(
        public("submission__"),
        submission__task=task,
        submission__published_at__isnull=False,
        criterion=main_criterion(task),
        superseded_at=None,
    )
    counted = rows.order_by().values("covers").annotate(n=Count("pk"))
    found = counted.order_by("-n", "covers").values_list("covers", flat=True)
    crowd = COVERS_THESE if task.human.population == Population.THESE else COVERS_CROWD
    expected = COVERS_INSTANCES if task.human.estimate == PLAIN else crowd
    return covers_of(None, found or [expected])


def systems(task: Task, pks: Sequence[int]) -> list[System]:
    """Return these systems in this order, without those that have no public score."""
    rows = Score.objects.filter(
        public("submission__"),
        submission__in=pks,
        submission__task=task,
        criterion=main_criterion(task),
        superseded_at=None,
    ).values_list(
        "submission_id", "submission__system_name", "submission__simulated", "mean"
    )
    found = {row[0]: System(*row) for row in rows}
    return [found[pk] for pk in pks if pk in found]


# Links between crowds, and the results of each platform's crowd.

# more than fit on one page of a joint evaluation
_TOGETHER = 8


@dataclass(frozen=True)
class Link(LinkingConstant):
    """A crowd's ratings of an anchor's outputs minus its earlier ratings.

    Numbers are in points of the score, or in percent if scores are ratios. `anchor` is
    None if that system is no longer public.
    """

    system: System
    anchor: System | None
    unit: str
    moved: str


@dataclass(frozen=True)
class Again:
    systems: list[System]
    cents: int
    query: str


def links_of(task: Task, stored: Sequence[Mapping[str, Any]]) -> list[Link]:
    wanted = [link[name] for link in stored for name in ("system", "anchor")]
    if not wanted:
        return []
    named = {one.pk: one for one in systems(task, list(dict.fromkeys(wanted)))}
    return [
        _link(named[link["system"]], named.get(link["anchor"]), link, task)
        for link in stored
        if link["system"] in named
    ]


def _link(
    system: System, anchor: System | None, stored: Mapping[str, Any], task: Task
) -> Link:
    numbers = {n: x for n, x in stored.items() if n not in ("system", "anchor")}
    verdict = classify_shift(stored["low"], stored["high"], task.human.anchor_tolerance)
    return Link(**numbers, system=system, anchor=anchor, moved=verdict.value)


def moved_crowds(task: Task, stored: Sequence[Mapping[str, Any]]) -> list[Link]:
    """Return links whose crowd has surely moved by more than the task's tolerance."""
    return [link for link in links_of(task, stored) if link.moved == Moved.YES]


def again(task: Task, links: list[Link]) -> Again | None:
    if not links or not task.configuration.joint.criteria:
        return None
    both = [*(link.anchor for link in links), *(link.system for link in links)]
    together = list(dict.fromkeys(one for one in both if one is not None))[:_TOGETHER]
    if len(together) < 2:
        return None
    quote = quote_side_by_side(task.configuration.joint, task.sample_size, 1)
    query = "&".join(f"systems={one.pk}" for one in together)
    return Again(together, quote.total_cents, query)


@dataclass(frozen=True)
class TwoPools:
    criterion: str
    first: str
    second: str
    comparison: CrowdComparison

    @property
    def crowds(self) -> list[tuple[str, int, int, Variances]]:
        found, names = self.comparison, (self.first, self.second)
        parts = (found.n_ratings, found.n_workers, found.variances)
        return list(zip(names, *parts, strict=True))


def pools_of(task: Task) -> list[TwoPools]:
    # without the fit itself, which is large
    rows = BoardFit.objects.filter(task=task, of=None, superseded_at=None)
    stored = rows.values_list("evidence", flat=True).first() or {}
    main = main_criterion(task)
    found = [
        (criterion, one)
        for criterion in sorted(stored, key=lambda name: (name != main, name))
        for one in stored[criterion].get("crowds", ())
    ]
    pks = {int(one["system"]) for _, two in found for one in two["systems"]}
    names = _names(task, sorted(pks))
    return [_read(criterion, one, names) for criterion, one in found]


def _names(task: Task, pks: list[int]) -> dict[int, str]:
    names: dict[int, str] = {}
    for one in systems(task, pks):
        number = f" ({one.pk})" if one.name in names.values() else ""
        names[one.pk] = f"{one.name}{number}"
    return names


def _read(criterion: str, stored: dict[str, Any], names: dict[int, str]) -> TwoPools:
    first, second = (kind_of(name).title for name in stored["platforms"])
    comparison = platform_crowds.comparison_of(stored, names)
    return TwoPools(criterion, first, second, comparison)


# With fewer, variances of systems, or workers, are not reported.
FEW_SYSTEMS, FEWEST_WORKERS = 5, 5


@dataclass(frozen=True)
class Shares:
    """The sources of the variance of one rating, in percent.

    With few systems, `system` is None and the others are shares of the rest; `day` is
    None if days are not modeled.
    """

    system: int | None
    worker: int
    instance: int
    day: int | None
    rest: int


@dataclass(frozen=True)
class First:
    """How few ratings decide first place: without them `rival` leads."""

    leader: System
    rival: System
    n_ratings: int
    share: float


@dataclass(frozen=True)
class Agreement:
    """Workers' agreement on an output: Krippendorff's alpha with its 95% interval.

    `same` is the share of pairs of workers that gave the same answer, if the scale has
    few answers.
    """

    alpha: float
    low: float | None
    high: float | None
    level: str
    n_outputs: int
    same: float | None


@dataclass(frozen=True)
class Workers:
    """Differences of workers in leniency, see `leaderboard.evaluation.evidence`.

    `typical_gap` is in points; magnitudes have a `typical_factor` instead. Both are
    None with too few workers.
    """

    n_workers: int
    strict: int
    lenient: int
    typical_gap: float | None
    typical_factor: float | None
    rate: float


@dataclass(frozen=True)
class RankSums:
    """A system in WMT's tables: how many it beats, and its cluster's ranks."""

    system: System
    wins: int
    first: int
    last: int


@dataclass(frozen=True)
class Evidence:
    criterion: str
    question: str
    n_systems: int
    n_ratings: int
    shares: Shares | None
    workers: Workers
    agreement: Agreement | None
    first: First | None
    # empty unless the task's scores are z-scores
    wmt: list[RankSums]
    # links of systems whose campaigns had anchors
    links: list[Link]
    cannot_conclude: list[str]


def evidence_of(task: Task) -> list[Evidence]:
    return state(task).compute_once(lambda: _evidence_of(task), "evidence")


def _evidence_of(task: Task) -> list[Evidence]:
    fit = current_fit(task)
    if fit is None:
        return []
    names = [main_criterion(task), *task.human.criteria]
    return [
        _evidence(task, fit, name)
        for name in dict.fromkeys([*names, *fit.criteria])
        if name in fit.criteria and fit.evidence.get(name)
    ]


def evidence_beside_board(task: Task) -> Mapping[str, Any]:
    """Return the evidence shown on the board itself: `first` and `links`."""
    # without the fit itself, which is large
    rows = BoardFit.objects.filter(task=task, of=None, superseded_at=None)
    stored = rows.values_list("evidence", flat=True).first() or {}
    found: Mapping[str, Any] = stored.get(main_criterion(task), {})
    return found


def _evidence(task: Task, fit: BoardFit, criterion: str) -> Evidence:
    estimates, stored = from_json(fit.criteria[criterion]), fit.evidence[criterion]
    workers = Workers(**stored["workers"])
    enough = workers.n_workers >= FEWEST_WORKERS
    if not enough:
        workers = Workers(workers.n_workers, 0, 0, None, None, workers.rate)
    agreement = stored["agreement"] and Agreement(**stored["agreement"])
    return Evidence(
        criterion=criterion,
        question=task.human.criteria.get(criterion, ""),
        n_systems=len(estimates.systems),
        n_ratings=int(estimates.n.sum()),
        shares=shares_of(estimates) if enough else None,
        workers=workers,
        agreement=agreement,
        first=first_place(task, stored),
        wmt=[] if stored.get("groups") else _wmt(task, stored),
        links=links_of(task, stored.get("links") or []),
        cannot_conclude=[
            *_of_few_systems(task, criterion, len(estimates.systems)),
            *_of_few_workers(estimates, workers.n_workers),
            *_of_no_agreement(agreement),
            *([] if stored["first_searched"] else [_NOT_SEARCHED]),
        ],
    )


_NOT_SEARCHED = (
    "There are too many ratings to search for those that decide first place."
)


def shares_of(estimates: SystemEstimates) -> Shares | None:
    found = estimates.variances
    few = len(estimates.systems) < FEW_SYSTEMS
    system = 0.0 if few else _between_systems(estimates)
    total = system + found.total
    if total <= 0:
        return None
    parts = [system, found.worker, found.instance, found.day, found.residual]
    of_system, worker, instance, day, rest = _round_to_hundred(parts, total)
    return Shares(
        None if few else of_system,
        worker,
        instance,
        day if estimates.day_freedom else None,
        rest,
    )


def _between_systems(estimates: SystemEstimates) -> float:
    """Return the variance of systems' true means: observed minus error variance."""
    errors = estimates.variance[np.triu_indices(len(estimates.systems), 1)] / 2
    known = np.isfinite(errors)
    noise = float(errors[known].mean()) if known.any() else math.inf
    return max(float(estimates.means.var(ddof=1)) - noise, 0.0)


def _round_to_hundred(parts: list[float], total: float) -> list[int]:
    exact = [100 * part / total for part in parts]
    whole = [math.floor(one) for one in exact]
    order = sorted(range(len(parts)), key=lambda i: whole[i] - exact[i])
    for i in order[: 100 - sum(whole)]:
        whole[i] += 1
    return whole


# If systems are not comparable, none can be called the first.
def first_place(task: Task, stored: Mapping[str, Any]) -> First | None:
    found = stored.get("first")
    if found is None or stored.get("groups"):
        return None
    pair = systems(task, [found["leader"], found["rival"]])
    if len(pair) < 2:
        return None  # one of them is no longer public
    leader, rival = pair
    return First(leader, rival, found["n_ratings"], found["share"])


def _wmt(task: Task, stored: Mapping[str, Any]) -> list[RankSums]:
    lines = stored["wmt"]
    named = {one.pk: one for one in systems(task, [line["system"] for line in lines])}
    return [
        RankSums(named[line["system"]], line["wins"], line["first"], line["last"])
        for line in lines
        if line["system"] in named
    ]


def _of_few_systems(task: Task, criterion: str, n: int) -> list[str]:
    said = []
    if n < 2:
        said.append("Only one system has been rated, so there is no comparison.")
    elif n < FEW_SYSTEMS:
        said.append(
            f"Only {n} systems have been rated. How much systems differ in general, or "
            "whether a metric ranks them as people do, cannot be concluded from so few."
        )
    if n > 1 and criterion == main_criterion(task):
        said += _of_sharedfirst_place(task)
    return said


def _of_sharedfirst_place(task: Task) -> list[str]:
    n = field_of(task, frozenset()).n_first
    if n < 2:
        return []
    return [f"No single system is clearly the best: {n} systems are tied for first."]


def _of_few_workers(estimates: SystemEstimates, n_workers: int) -> list[str]:
    if not n_workers:
        return [
            "Raters not recorded. Intervals and ranks cover instances only. Different "
            "raters might disagree."
        ]
    if n_workers < FEWEST_WORKERS:
        return [
            f"Only {n_workers} rater{'s' * (n_workers != 1)} rated these systems. "
            "That is too few to estimate how much raters differ. Different raters "
            "might disagree."
        ]
    fewest = float(estimates.effective_workers.min())
    if fewest >= FEW_WORKERS:
        return []
    return [
        f"At least one system has only {fewest:.1f} effective raters. Different "
        "raters might disagree, and the share of the variance due to raters is a "
        "rough estimate."
    ]


def _of_no_agreement(agreement: Agreement | None) -> list[str]:
    if agreement is not None:
        return []
    return [
        "Agreement between raters cannot be measured, because each output was rated "
        "by one rater or all ratings are equal."
    ]
