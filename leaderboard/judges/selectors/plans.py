"""How money for one system is best split between people and a judge that has answered here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from django.db.models import Sum

from crowd.scales.find import all_scales
from leaderboard.designs.base import all_designs
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.precision import CONFIDENCE, board_variances
from leaderboard.evaluation.price import quote_single
from leaderboard.evaluation.selectors.anchors import anchor_of
from leaderboard.evaluation.selectors.system_ratings import system_ratings_of
from leaderboard.judges.definition import PAIRWISE
from leaderboard.judges.models import MICROCENTS, JudgeLicence, JudgeRun
from leaderboard.judges.selectors.licences import standing
from leaderboard.judges.selectors.requests import price
from leaderboard.judges.selectors.scores import scores_of
from leaderboard.judges.selectors.told import cents as dollars
from leaderboard.stats.bounds import normal_quantile
from leaderboard.stats.components import (
    Components,
    mean_variance,
    worst_case_components,
)
from leaderboard.stats.judges.money import Split, split_money
from leaderboard.stats.judges.with_people import judged_mean
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    import pandas as pd

# `judged_mean` learns nothing from fewer instances that people rated
_FEWEST = 20
_SEED = 0
_NOT_USABLE = (
    "No licence stands for it on this task and criterion: its scores may not stand "
    "beside people’s on the board, and the split is no offer."
)


@dataclass(frozen=True)
class Pilot:
    """What is known of a judge on a criterion from ratings that people gave so far.

    Parameters
    ----------
    explained : float
        Share of the variance between people's ratings of instances that it foretells.
    n_systems, n_instances : int
        Where both have answered; of the system with the most.
    simulated : bool
        Whether programs stood for people, as on demo tasks.
    """

    explained: float
    n_systems: int
    n_instances: int
    simulated: bool


@dataclass(frozen=True)
class Plan:
    """How a budget for one system is split; with why not, where it cannot be.

    Parameters
    ----------
    run : JudgeRun
    criterion : str
    budget_cents : int
    why_not : str
        Empty where there is a plan; else everything below is None.
    usable : bool
        Whether a licence stands for the judge on this criterion.
    pilot : Pilot, optional
    alone : int, optional
        Instances that people rate for the same money without a judge.
    split : Split, optional
    half_width_alone, half_width : float, optional
        Expected, of 95 % intervals, in the unit of scores; None for magnitudes.
    judge_cents : float, optional
        For one instance of one system.
    """

    run: JudgeRun
    criterion: str
    budget_cents: int
    why_not: str
    usable: bool
    pilot: Pilot | None = None
    alone: int | None = None
    split: Split | None = None
    half_width_alone: float | None = None
    half_width: float | None = None
    judge_cents: float | None = None

    @property
    def sentences(self) -> list[str]:
        """Say it all in words."""
        judge = f"{self.run.judge}, {self.run.judge.what},"
        head = (
            f"{judge} on {self.criterion}, {dollars(self.budget_cents)} for one system"
        )
        if self.pilot is None or self.split is None or self.alone is None:
            return [f"{head}: no plan, as {self.why_not}."]
        said = [
            f"{head}. People alone rate {self.alone:,} instances"
            f"{_within(self.half_width_alone)}.",
            self._with_judge(self.split),
            self._known_from(self.pilot),
        ]
        return said if self.usable else [*said, _NOT_USABLE]

    def _with_judge(self, split: Split) -> str:
        if not split.n_judge:
            return "The judge is not worth its money here: it should score none."
        cost = dollars(split.n_judge * (self.judge_cents or 0.0))
        return (
            f"With the judge, people rate {split.n_people:,} and it scores "
            f"{split.n_judge:,} for {cost}{_within(self.half_width)}."
        )

    def _known_from(self, pilot: Pilot) -> str:
        who = "simulated annotators" if pilot.simulated else "people"
        return (
            f"It foretells {100 * pilot.explained:.0f} % of the variation between instances "
            f"in ratings by {who}, measured on up to {pilot.n_instances:,} instances of "
            f"{pilot.n_systems:,} {'system' if pilot.n_systems == 1 else 'systems'}."
        )


def plans_of(task: Task, budget_cents: int | None = None) -> list[Plan]:
    """Plan with the newest finished run of each judge on a task; licensed ones first."""
    newest: dict[int, JudgeRun] = {}
    done = JudgeRun.objects.filter(task=task, state=JudgeRun.State.DONE)
    for run in done.select_related("judge", "task").order_by("pk"):
        newest[run.judge_id] = run
    found = [plan for run in newest.values() for plan in plans_by(run, budget_cents)]
    return sorted(found, key=lambda plan: not plan.usable)


def plans_by(run: JudgeRun, budget_cents: int | None = None) -> list[Plan]:
    """Split a budget for each criterion of a finished run.

    Parameters
    ----------
    run : JudgeRun
    budget_cents : int, optional
        For one system; as much as the task's own plan costs where none is said.
    """
    cents = _price(run.task) if budget_cents is None else budget_cents
    if run.state != JudgeRun.State.DONE:
        why = "the run is not over"
    elif run.judge.definition["mode"] == PAIRWISE:
        why = "it judged pairs, and plans are for scores of single outputs"
    elif run.task.imported:
        why = "people were asked elsewhere"
    else:
        ratings, simulated = _ratings(run)
        return [
            _plan(run, criterion, cents, ratings, simulated=simulated)
            for criterion in run.plan["criteria"]
        ]
    return [
        Plan(run, criterion, cents, why, usable=False)
        for criterion in run.plan["criteria"]
    ]


def _plan(
    run: JudgeRun,
    criterion: str,
    cents: int,
    ratings: pd.DataFrame,
    *,
    simulated: bool,
) -> Plan:
    task = run.task
    licence = standing(run.judge, task, criterion)
    usable = licence is not None and licence.state == JudgeLicence.State.LICENSED
    own = ratings[ratings["criterion"] == criterion]
    pilot = _pilot(run, criterion, own, simulated=simulated)
    if pilot is None:
        why = (
            f"there is no system of which people and the judge have both rated {_FEWEST} "
            "instances: let people rate that many first"
        )
        return Plan(run, criterion, cents, why, usable)
    each_cents = _price(task) / task.sample_size
    judge_cents = _judge_cents(run)
    try:
        if each_cents <= 0:
            raise ValueError
        split = split_money(
            cents,
            person_cost=each_cents,
            judge_cost=judge_cents,
            explained=pilot.explained,
            instances=task.n_instances,
        )
    except ValueError:
        why = f"people rate fewer than {_FEWEST} instances for that, or are not paid"
        return Plan(run, criterion, cents, why, usable)
    alone = min(int(cents / each_cents), task.n_instances)
    widths = _half_widths(task, criterion, alone, split)
    return Plan(
        *(run, criterion, cents, "", usable, pilot, alone, split),
        *(*widths, judge_cents),
    )


def _price(task: Task) -> int:
    anchor = anchor_of(task)
    return quote_single(task, n_anchor_items=anchor.n if anchor else 0).total_cents


def _ratings(run: JudgeRun) -> tuple[pd.DataFrame, bool]:
    """Give ratings of the run's systems: people's, or where there are none simulated ones."""
    asked = HumanEvaluation.objects.filter(submission__in=run.plan["submissions"])
    ratings = system_ratings_of([])
    for simulated in (False, True):
        pks = asked.filter(submission__simulated=simulated).order_by("pk")
        ratings = system_ratings_of(list(pks.values_list("pk", flat=True)))
        if len(ratings):
            return ratings, simulated
    return ratings, False


def _pilot(
    run: JudgeRun, criterion: str, ratings: pd.DataFrame, *, simulated: bool
) -> Pilot | None:
    """Measure what the judge foretells, system by system; None where too little is known."""
    human = run.task.human
    unit = all_designs()[human.design].unit(
        criterion, all_scales()[human.scale], asked=True
    )
    told, found = scores_of(run, criterion), []
    for submission, rows in ratings.groupby("submission", sort=True):
        scores = told.get(int(str(submission)), {})
        rows = rows[rows["instance"].isin(list(scores))]
        if rows["instance"].nunique() < _FEWEST or rows["worker"].nunique() < 2:
            continue
        places = sorted(scores)
        one = judged_mean(
            unit.averaged(rows["value"].to_numpy(float)),
            rows["worker"].to_numpy(),
            np.searchsorted(places, rows["instance"].to_numpy(int)),
            [scores[place] for place in places],
            seed=_SEED,
        )
        found.append((one.n_people, one.explained))
    if not found:
        return None
    n, explained = (np.array(column) for column in zip(*found, strict=True))
    share = float(np.clip(np.average(explained, weights=n), 0.0, 1.0))
    return Pilot(share, len(found), int(n.max()), simulated)


def _judge_cents(run: JudgeRun) -> float:
    """Give what the judge's answers about one output cost, by the tokens counted."""
    calls = run.calls.filter(probe="")
    n_outputs = calls.values("submission", "instance").distinct().count()
    used = calls.aggregate(
        n_in=Sum("answer__input_tokens"), n_out=Sum("answer__output_tokens")
    )
    n_in, n_out = used["n_in"] or 0, used["n_out"] or 0
    # an endpoint that counts nothing is believed to have charged what was set aside
    spent = price(run.judge, n_in, n_out) if n_in + n_out else run.microcents
    return spent / MICROCENTS / max(n_outputs, 1)


def _half_widths(
    task: Task, criterion: str, alone: int, split: Split
) -> tuple[float | None, float | None]:
    """Expect half-widths without the judge and with it.

    What workers share is no part of what a judge saves, and is there in both.
    """
    human = task.human
    unit = all_designs()[human.design].unit(
        criterion, all_scales()[human.scale], asked=True
    )
    if unit.logarithmic:
        return None, None
    found, _, n_days = board_variances(task, criterion)
    low, high = unit.bounds
    components = found or worst_case_components(low=low, high=high)
    each = human.ratings_per_instance
    shared = Components(0.0, 0.0, components.worker, components.day)

    def variance(n: int, ratio: float) -> float:
        workers = max(min(human.n_workers_wanted, n * each), 2)
        # the ratio is to all money spent on people
        own = (components.instance + components.residual / each) / alone
        return mean_variance(shared, n, each, workers, n_days) + ratio * own

    quantile = normal_quantile(CONFIDENCE)
    return (
        quantile * math.sqrt(variance(alone, 1.0)),
        quantile * math.sqrt(variance(split.n_people, split.variance_ratio)),
    )


def _within(half_width: float | None) -> str:
    return "" if half_width is None else f": ± {half_width:.1f} points expected"
