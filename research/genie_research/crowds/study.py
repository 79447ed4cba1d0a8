"""The error of published scores with careless crowds, against honest ratings alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from genie_research.crowds.campaign import CrowdPlan, deserved_means, draw_campaign
from genie_research.crowds.kinds import Kind
from leaderboard.stats.systems.estimates import estimate_systems
from leaderboard.table_stats.report import Sheet
from quality.counts import Floats
from quality.detection.services.assess_pool import rating_weights
from quality.detection.stats.assess import (
    AssessOptions,
    Ratings,
    assess_workers,
    excluded_by,
)
from quality.detection.stats.workers.answers import NO_YES

THRESHOLD = 0.99


@dataclass
class Study:
    """Results of all campaigns of one plan.

    Attributes
    ----------
    rows : list
        Of each campaign: mean squared error of scores as published, of honest ratings
        alone and without cleaning, coverage, honest weight kept, alarm, and explained
        share.
    by_kind : dict
        Of each worker: weight, whether excluded without a person.
    """

    plan: CrowdPlan
    rows: list[list[float]] = field(default_factory=list)
    by_kind: dict[str, list[tuple[float, bool]]] = field(default_factory=dict)


def study_crowd(
    plan: CrowdPlan,
    *,
    n_campaigns: int,
    seed: int,
    honest: Mapping[str, Kind],
    bad: Mapping[str, Kind],
) -> Study:
    """Run campaigns; the first ones of a longer study are those of a shorter one."""
    study, truth = Study(plan), deserved_means(honest)
    for number in range(n_campaigns):
        rng = np.random.default_rng([seed, number])
        campaign = draw_campaign(plan, rng, honest, bad)
        ratings, own = campaign.ratings, campaign.ratings.worker
        options = AssessOptions(guesses=NO_YES)
        found = assess_workers(
            plan.n_workers, campaign.tests, ratings, options=options, seed=0
        )
        out = excluded_by(found.p_careless, THRESHOLD) & found.surely
        weight = np.where(out[own], 0, rating_weights(own, found.p_rating))
        kept = campaign.honest[own]
        error, covered = _score(ratings, weight, truth)
        study.rows.append(
            [
                error,
                _score(ratings, 1.0 * kept, truth)[0],
                _score(ratings, np.ones(len(own)), truth)[0],
                covered,
                float(weight[kept].mean()),
                float(found.alarm),
                found.explained.estimate,
            ]
        )
        means = np.bincount(own, weight) / np.bincount(own)
        for kind, mean, excluded in zip(campaign.kinds, means, out, strict=True):
            study.by_kind.setdefault(kind, []).append((float(mean), bool(excluded)))
    return study


def _score(
    ratings: Ratings, weight: npt.NDArray[np.floating[Any]], truth: Floats
) -> tuple[float, float]:
    """Return the mean squared error of scores and the share of intervals that cover."""
    from scipy import special

    rows = weight > 0
    columns = (ratings.system, ratings.worker, ratings.instance)
    found = estimate_systems(
        100 * ratings.value[rows],
        *(column[rows] for column in columns),
        weights=weight[rows],
    )
    off = found.means - truth[[int(name) for name in found.systems]]
    freedom = np.nan_to_num(np.diag(found.freedom), nan=1.0)
    reach = special.stdtrit(freedom, 0.975) * np.sqrt(np.diag(found.variance))
    return float((off**2).mean()), float((np.abs(off) <= reach).mean())


def target_sheet(studies: list[Study]) -> Sheet:
    rows = tuple(_target_row(study) for study in studies)
    header = (
        "workers", "answers", "bad %", "weak %", "error ratio", "no cleaning",
        "not worse %", "honest kept %", "coverage %", "alarm %", "explained %",
    )  # fmt: skip
    notes = (
        "Root mean squared error of the scores that would be published, over that of "
        "the honest workers' ratings alone, with its 95% bootstrap interval over "
        "campaigns; the same without cleaning; campaigns in which cleaning is not worse.",
    )
    sizes = " or ".join(sorted({str(len(study.rows)) for study in studies}))
    return Sheet(f"Careless crowds, {sizes} campaigns a row", header, rows, notes)


def _target_row(study: Study) -> tuple[str, ...]:
    plan, table = study.plan, np.array(study.rows)
    drawn = np.random.default_rng(0).integers(0, len(table), (2_000, len(table)))
    error, alone = (table[drawn, column].mean(axis=1) for column in range(2))
    low, high = np.quantile(np.sqrt(error / alone), [0.025, 0.975])
    mean = table.mean(axis=0)
    return (
        f"{plan.n_workers}",
        f"{plan.answers}",
        f"{100 * plan.bad:.0f}",
        f"{100 * plan.weak:.0f}",
        f"{(mean[0] / mean[1]) ** 0.5:.2f} [{low:.2f}, {high:.2f}]",
        f"{(mean[2] / mean[1]) ** 0.5:.2f}",
        f"{100 * (table[:, 0] <= table[:, 2] + 1e-9).mean():.0f}",
        f"{100 * mean[4]:.1f}",
        f"{100 * mean[3]:.1f}",
        f"{100 * mean[5]:.0f}",
        f"{100 * mean[6]:.0f}",
    )


def kinds_sheet(studies: list[Study]) -> Sheet:
    names = sorted({kind for study in studies for kind in study.by_kind})
    rows = []
    for name in names:
        of_kind = [one for study in studies for one in study.by_kind.get(name, ())]
        weights = [_mean_weight(study, name) for study in studies]
        excluded = sum(out for _, out in of_kind)
        rows.append((name, *weights, f"{excluded} of {len(of_kind)}"))
    plans = [f"{100 * one.plan.bad:.0f}%, {one.plan.answers}" for one in studies]
    header = ("kind", *plans, "excluded")
    notes = ("Mean weight in percent, by share of bad workers and answers of each.",)
    return Sheet("Kinds of workers", header, tuple(rows), notes)


def _mean_weight(study: Study, kind: str) -> str:
    own = [weight for weight, _ in study.by_kind.get(kind, ())]
    return f"{100 * sum(own) / len(own):.0f}" if own else "–"
